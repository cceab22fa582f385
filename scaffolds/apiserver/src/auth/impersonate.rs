//! Impersonation: `Impersonate-User` and the related headers. Since 1.36 there are two ways to allow it: the older verb
//! `impersonate`, and verbs that also name the kind of the impersonated user and the verb of the request.

use std::collections::BTreeMap;

use http::HeaderMap;
use percent_encoding::percent_decode_str;

use super::service_account;
use crate::{
    authorize::{Attributes, Authorizer},
    status::Status,
    store::Store,
    user::{ANONYMOUS, AUTHENTICATED, MASTERS, UNAUTHENTICATED, User},
};

const USER: &str = "impersonate-user";
const UID: &str = "impersonate-uid";
const GROUP: &str = "impersonate-group";
const EXTRA: &str = "impersonate-extra-";
const AUTHENTICATION: &str = "authentication.k8s.io";
const NODE: &str = "system:node:";
/// From this many groups or extras on, the right to impersonate all of them is checked first.
const MANY: usize = 4;

/// The user who impersonates, and the authorizer that decides.
pub struct Requestor<'a> {
    /// Knows rights.
    pub authorizer: &'a Authorizer,
    /// From which roles.
    pub store: &'a Store,
    /// The user of the request.
    pub user: &'a User,
}

/// A way to allow impersonation; the newer one with the kind of the impersonated user.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Constrained(&'static str),
    Legacy,
}

/// Whom the headers of a request name instead of its sender; `None` where they name nobody.
///
/// # Errors
/// 403 for who may not do that; 400 for headers that name no user.
pub fn impersonate(requestor: &Requestor, headers: &HeaderMap, asked: &Attributes) -> Result<Option<User>, Status> {
    let Some(wanted) = wanted(headers)? else {
        return Ok(None);
    };
    let mut first = None;
    for mode in modes(&wanted) {
        match requestor.become_user(mode, &wanted, asked) {
            Ok(impersonated) => return Ok(Some(impersonated)),
            Err(status) => _ = first.get_or_insert(status),
        }
    }
    Err(first.unwrap_or_else(Status::unauthorized))
}

/// The user in the headers, without the groups that every user has.
fn wanted(headers: &HeaderMap) -> Result<Option<User>, Status> {
    let texts = |name: &str| -> Vec<String> {
        let values = headers.get_all(name).iter();
        values
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .collect()
    };
    let one = |name: &str| texts(name).into_iter().next().unwrap_or_default();
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in headers.keys() {
        let Some(key) = name.as_str().strip_prefix(EXTRA) else {
            continue;
        };
        let key = percent_decode_str(key).decode_utf8_lossy().into_owned();
        extra.entry(key).or_default().extend(texts(name.as_str()));
    }
    let wanted = User {
        name: one(USER),
        uid: one(UID),
        groups: texts(GROUP),
        extra,
    };
    match (wanted.name.is_empty(), wanted == User::default()) {
        (false, _) => Ok(Some(wanted)),
        (true, true) => Ok(None),
        (true, false) => Err(Status::bad_request(format!(
            "requested {} without impersonating a user name",
            go_struct(&wanted)
        ))),
    }
}

/// The ways to allow it, in the order in which they are tried.
fn modes(wanted: &User) -> impl Iterator<Item = Mode> {
    let by_name_alone = wanted.uid.is_empty() && wanted.groups.is_empty() && wanted.extra.is_empty();
    let constrained = match (wanted.name.strip_prefix(NODE), service_account::split(&wanted.name)) {
        (Some(name), _) if !name.is_empty() => by_name_alone.then_some("arbitrary-node"),
        (_, Some(_)) => by_name_alone.then_some("serviceaccount"),
        _ => Some("user-info"),
    };
    constrained.map(Mode::Constrained).into_iter().chain([Mode::Legacy])
}

impl Requestor<'_> {
    fn become_user(&self, mode: Mode, wanted: &User, asked: &Attributes) -> Result<User, Status> {
        if let Mode::Constrained(kind) = mode {
            self.check(&Attributes {
                verb: format!("impersonate-on:{kind}:{}", asked.verb),
                ..asked.clone()
            })?;
        }
        let mut user = wanted.clone();
        self.check_name(mode, &mut user)?;
        if !wanted.uid.is_empty() {
            self.check(&mode.asks(AUTHENTICATION, "uids", &wanted.uid))?;
        }
        self.check_groups(mode, &wanted.groups)?;
        self.check_extra(mode, &wanted.extra)?;
        if user.name == ANONYMOUS {
            user.join(UNAUTHENTICATED);
        } else if !user.is_in(UNAUTHENTICATED) {
            user.join(AUTHENTICATED);
        }
        Ok(user)
    }

    fn check_name(&self, mode: Mode, user: &mut User) -> Result<(), Status> {
        let mut asks = mode.asks(mode.group(), "users", &user.name);
        if mode != Mode::Legacy
            && let Some(node) = user.name.strip_prefix(NODE)
        {
            asks = mode.asks(mode.group(), "nodes", node);
            user.groups = vec!["system:nodes".to_owned()];
        }
        if let Some((namespace, name)) = service_account::split(&user.name) {
            asks = mode.asks(mode.group(), "serviceaccounts", name);
            namespace.clone_into(&mut asks.namespace);
            if user.groups.is_empty() {
                user.groups = service_account::groups(namespace).into();
            }
        }
        self.check(&asks)
    }

    fn check_groups(&self, mode: Mode, groups: &[String]) -> Result<(), Status> {
        let of = |name: &str| mode.asks(mode.group(), "groups", name);
        if mode != Mode::Legacy {
            let never = |name: &str, why: &str| Err(of(name).forbidden(self.user, why));
            if groups.iter().any(String::is_empty) {
                return never("", "impersonating the empty string group is not allowed");
            }
            if groups.iter().any(|group| group == MASTERS) {
                return never(MASTERS, "impersonating the system:masters group is not allowed");
            }
            if groups.len() >= MANY && self.check(&of("*")).is_ok() {
                return Ok(());
            }
        }
        groups.iter().try_for_each(|group| self.check(&of(group)))
    }

    fn check_extra(&self, mode: Mode, extra: &BTreeMap<String, Vec<String>>) -> Result<(), Status> {
        let of = |key: &str, value: &str| Attributes {
            subresource: key.to_owned(),
            ..mode.asks(AUTHENTICATION, "userextras", value)
        };
        let count: usize = extra.values().map(Vec::len).sum();
        if mode != Mode::Legacy {
            if extra.values().flatten().any(String::is_empty) {
                let why = "impersonating the empty string value in extra is not allowed";
                return Err(of("", "").forbidden(self.user, why));
            }
            if count >= MANY && self.check(&of("*", "*")).is_ok() {
                return Ok(());
            }
        }
        let mut all = extra
            .iter()
            .flat_map(|(key, values)| values.iter().map(move |value| (key, value)));
        all.try_for_each(|(key, value)| self.check(&of(key, value)))
    }

    fn check(&self, asked: &Attributes) -> Result<(), Status> {
        let decision = self.authorizer.decide(self.store, self.user, asked);
        match decision.allowed {
            true => Ok(()),
            false => Err(asked.forbidden(self.user, &decision.reason)),
        }
    }
}

impl Mode {
    fn asks(self, group: &str, resource: &str, name: &str) -> Attributes {
        Attributes {
            is_resource: true,
            verb: match self {
                Self::Constrained(kind) => format!("impersonate:{kind}"),
                Self::Legacy => "impersonate".to_owned(),
            },
            group: group.to_owned(),
            resource: resource.to_owned(),
            name: name.to_owned(),
            ..Attributes::default()
        }
    }

    /// The API group of users, groups and service accounts.
    fn group(self) -> &'static str {
        match self {
            Self::Constrained(_) => AUTHENTICATION,
            Self::Legacy => "",
        }
    }
}

/// A user in Go's notation of its struct.
fn go_struct(user: &User) -> String {
    let quote = kubewright_machinery::go::quote;
    let texts = |list: &[String]| list.iter().map(|it| quote(it)).collect::<Vec<_>>().join(", ");
    let groups = match user.groups.as_slice() {
        [] => "[]string(nil)".to_owned(),
        some => format!("[]string{{{}}}", texts(some)),
    };
    let extra = match user.extra.is_empty() {
        true => "map[string][]string(nil)".to_owned(),
        false => {
            let each = user.extra.iter();
            let each = each.map(|(key, values)| format!("{}:[]string{{{}}}", quote(key), texts(values)));
            format!("map[string][]string{{{}}}", each.collect::<Vec<_>>().join(", "))
        }
    };
    format!(
        "&user.DefaultInfo{{Name:\"\", UID:{}, Groups:{groups}, Extra:{extra}}}",
        quote(&user.uid)
    )
}
