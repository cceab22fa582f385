//! Permission to write policies and bindings: users must be able to read the named parameters.

use std::fmt::Write;

use kubewright_machinery::Cause;
use serde_json::Value;

use super::super::{Attributes, Objects};
use crate::{
    authorize,
    policies::{ParameterKind, PolicyKind},
    state::Core,
    status::{Status, Subject},
    store::Key,
    user::User,
};

/// Upstream's storage checks this at the end of validation.
///
/// # Errors
/// 422 if the user may not read the parameters.
pub(in crate::admission) fn admit(
    core: &Core,
    attributes: &Attributes<'_>,
    objects: &Objects<'_>,
) -> Result<(), Status> {
    let call = attributes.call;
    let Some(new) = objects.new.as_deref().filter(|_| call.subresource.is_empty()) else {
        return Ok(());
    };
    if call.user.is_master() {
        return Ok(());
    }
    let stored = call.resource.store_name();
    let is_policy = |kind: &PolicyKind| stored == kind.policies();
    let is_binding = |kind: &PolicyKind| stored == kind.bindings();
    let (field, why) = if PolicyKind::ALL.iter().any(is_policy) {
        ("spec.paramKind", of_policy(core, &call.user, new, objects.old))
    } else if let Some(kind) = PolicyKind::ALL.into_iter().find(is_binding) {
        ("spec.paramRef", of_binding(core, &call.user, new, kind))
    } else {
        return Ok(());
    };
    let Some(why) = why else { return Ok(()) };
    let cause = Cause {
        reason: "FieldValueForbidden",
        field: field.to_owned(),
        message: format!("Forbidden: {why}"),
    };
    let kind = Subject::new(&call.resource.group, &call.resource.names.kind);
    Err(Status::invalid(kind, objects.name(), &[cause]))
}

/// The permission that the user needs: for everything, unless the kind of the parameters is known.
struct Needed {
    asked: authorize::Attributes,
    is_resolved: bool,
}

impl Needed {
    fn new(core: &Core, verb: &str, kind: Option<&ParameterKind>) -> Self {
        let snapshot = core.catalogue.snapshot();
        let resource = kind.and_then(|it| snapshot.kind(&it.group, &it.version, &it.kind));
        let any = || "*".to_owned();
        Self {
            asked: authorize::Attributes {
                is_resource: true,
                verb: verb.to_owned(),
                group: kind.map_or_else(any, |kind| kind.group.clone()),
                resource: resource.map_or_else(any, |it| it.names.plural.clone()),
                ..authorize::Attributes::default()
            },
            is_resolved: resource.is_some(),
        }
    }
}

fn of_policy(core: &Core, user: &User, new: &Value, old: Option<&Value>) -> Option<String> {
    let kind = &new["spec"]["paramKind"];
    if kind.is_null() || old.is_some_and(|old| old["spec"]["paramKind"] == *kind) {
        return None;
    }
    let mut needed = Needed::new(core, "get", Some(&ParameterKind::read(kind)));
    (needed.asked.name, needed.asked.namespace) = ("*".to_owned(), "*".to_owned());
    let text = |field: &str| kind[field].as_str().unwrap_or_default();
    (!core.authorizer.decide(&core.store, user, &needed.asked).allowed).then(|| {
        format!(
            "user {} must have \"get\" permission on all objects of the referenced paramKind (kind={}, apiVersion={})",
            in_go(user),
            text("kind"),
            text("apiVersion")
        )
    })
}

fn of_binding(core: &Core, user: &User, new: &Value, kind: PolicyKind) -> Option<String> {
    let reference = &new["spec"]["paramRef"];
    if reference.is_null() {
        return None;
    }
    let text = |field: &str| reference[field].as_str().unwrap_or_default().to_owned();
    let name = new["spec"]["policyName"].as_str().unwrap_or_default();
    let record = core.store.get(&Key::new(kind.policies(), "", name));
    let policy: Option<Value> = record.and_then(|it| it.read().ok());
    let named = policy.as_ref().map(|policy| &policy["spec"]["paramKind"]);
    let parsed = named.filter(|kind| !kind.is_null()).map(ParameterKind::read);
    let verb = if text("name").is_empty() { "list" } else { "get" };
    let mut needed = Needed::new(core, verb, parsed.as_ref());
    (needed.asked.name, needed.asked.namespace) = (text("name"), text("namespace"));
    if core.authorizer.decide(&core.store, user, &needed.asked).allowed {
        return None;
    }
    let user = in_go(user);
    let all = format!("user {user} does not have \"{verb}\" permission for all groups, versions and resources");
    Some(match (policy.is_some(), &parsed, needed.is_resolved) {
        (false, ..) => format!("unable to get policy {name} to determine minimum required permissions and {all}"),
        (true, Some(named), false) => {
            let version = match named.group.as_str() {
                "" => named.version.clone(),
                group => format!("{group}/{}", named.version),
            };
            let kind = &named.kind;
            format!(
                "unable to resolve paramKind &{{{version} {kind}}} to determine minimum required permissions and {all}"
            )
        }
        // Upstream confuses the two in its message.
        _ if kind == PolicyKind::Mutating => {
            format!("user {verb} does not have \"{user}\" permission on the object referenced by paramRef")
        }
        _ => format!("user {user} does not have \"{verb}\" permission on the object referenced by paramRef"),
    })
}

/// A user as Go prints a pointer to one.
fn in_go(user: &User) -> String {
    let mut extra = String::new();
    for (key, values) in &user.extra {
        let space = if extra.is_empty() { "" } else { " " };
        _ = write!(extra, "{space}{key}:[{}]", values.join(" "));
    }
    format!(
        "&{{{} {} [{}] map[{extra}]}}",
        user.name,
        user.uid,
        user.groups.join(" ")
    )
}
