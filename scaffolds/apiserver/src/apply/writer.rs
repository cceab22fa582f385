//! The entry points: [`apply`] and [`update`].

use std::sync::LazyLock;

use kubewright_machinery::{go, names};
use kubewright_schema::typed::{Duplicates, Element, Schema, describe, validate};
use serde_json::Value;

use super::{
    ancient,
    error::Error,
    last_applied,
    managed::{self, Managed, Manager},
    set::Set,
    updater::{Claim, Updater},
    zero,
};

/// Manager names are truncated to this many bytes.
const MAX_MANAGER: usize = 128;
/// The manager of the fields that existed before the first apply to an object without entries.
const BEFORE_FIRST_APPLY: &str = "before-first-apply";

/// The parameters of a write.
#[derive(Clone, Copy)]
pub struct Writer<'a> {
    /// `fieldManager` of the request or what `manager_of` makes of the user agent; empty is `unknown`.
    pub manager: &'a str,
    /// The version of the request, for example `apps/v1`.
    pub api_version: &'a str,
    /// The kind of the object.
    pub kind: &'a str,
    /// For example `status`; empty for the object itself.
    pub subresource: &'a str,
    /// The time, RFC 3339 in UTC to the second: `2026-01-02T03:04:05Z`.
    pub now: &'a str,
    /// The fields that this endpoint resets, as paths with dots: `status` for the object of a kind that has a status
    /// subresource; `metadata` and `spec` for the status of a custom kind.
    pub reset: &'a [&'a str],
    /// The schema of the kind in this version.
    pub schema: &'a Schema,
    /// The schemas of its other versions, for entries in those versions. Entries in a version without a schema are dropped for built-in kinds. For custom kinds they are an
    /// error: an update drops all entries, and an apply is refused.
    pub versions: &'a dyn Fn(&str) -> Option<&'a Schema>,
    /// Brings an object to another version of a custom kind. `None` if versions differ only by their schemas.
    pub convert: Option<&'a Convert<'a>>,
}

/// Brings an object to a version, or says why it cannot.
pub type Convert<'a> = dyn Fn(&Value, &str) -> Result<Value, String> + 'a;

/// The manager's name for a request without `fieldManager`: the user agent up to the first slash, without characters
/// that cannot be printed, at most 128 bytes.
pub fn manager_of(user_agent: &str) -> String {
    let mut out = String::new();
    for it in user_agent
        .split('/')
        .next()
        .unwrap_or_default()
        .chars()
        .filter(|it| go::printable(*it))
    {
        if out.len() + it.len_utf8() > MAX_MANAGER {
            break;
        }
        out.push(it);
    }
    out
}

/// The result of applying `applied` to `live`, or of creating it: the new object with its managedFields, not yet
/// decoded or defaulted. An apply that changes nothing returns `live`, whose managedFields differ only by entries that
/// the writer gains or loses.
///
/// # Errors
/// [`Error::Conflict`] without `force`, when other managers own fields with other values. [`Error::BadRequest`] when
/// `applied` is of another kind or has managedFields. [`Error::Internal`] when it does not match the schema.
pub fn apply(live: Option<&Value>, applied: &Value, force: bool, writer: &Writer<'_>) -> Result<Value, Error> {
    check_type(applied, writer)?;
    let nothing = serde_json::json!({"apiVersion": writer.api_version, "kind": writer.kind});
    let live = live.unwrap_or(&nothing);
    let mut managed = managed::decode(managed::entries(live).map_or(&[], Vec::as_slice))
        .map_err(|it| Error::Internal(format!("failed to decode managed fields: {it}")))?;
    if managed.owners.is_empty() {
        managed = writer.before_first_apply(live)?;
    }
    let mut object = match writer.apply(live, applied, managed.clone(), force) {
        Err(Error::Conflict(conflicts)) if writer.manager == last_applied::KUBECTL => {
            match last_applied::without_allowed(writer.schema, live, conflicts) {
                Some(conflict) => return Err(conflict),
                None => writer.apply(live, applied, managed, true)?,
            }
        }
        other => other?,
    };
    if writer.manager == last_applied::KUBECTL {
        last_applied::follow(&mut object, applied);
    }
    Ok(object)
}

/// Updates the managedFields of an object that is created (`live` is `None`) or changed from `live` to `new` by
/// anything but an apply. Entries in `new` replace the stored ones if the write is to the object itself (not a
/// subresource) and they are well-formed. A list with one empty entry clears managedFields, and so does an empty list
/// for a built-in kind (the real server drops empty metadata of custom objects when it decodes them).
pub fn update(live: Option<&Value>, new: &mut Value, writer: &Writer<'_>) {
    let managed = writer.entries(live, new);
    managed::remove_entries(new);
    if live.is_some() && managed.owners.is_empty() {
        return;
    }
    let zero;
    let live = match live {
        Some(live) => live,
        None => {
            zero = zero::zero(writer.schema, new);
            &zero
        }
    };
    let who = Manager::updating(writer.name(), writer.api_version, writer.subresource);
    // Like the real server, keeps the stored entries rather than refusing a write whose objects cannot be compared.
    match writer.update(live, new, managed, &who) {
        Ok(mut managed) => {
            ancient::cap(&mut managed);
            managed::write(new, &managed);
        }
        Err(_) => {
            if let Some(entries) = live.get("metadata").and_then(|it| it.get("managedFields")) {
                new["metadata"]["managedFields"] = entries.clone();
            }
        }
    }
}

/// Checks the type of a configuration.
///
/// # Errors
/// [`Error::BadRequest`], as for [`apply`].
pub fn check_type(applied: &Value, writer: &Writer<'_>) -> Result<(), Error> {
    let text = |key| applied.get(key).and_then(Value::as_str).unwrap_or_default();
    if (text("apiVersion"), text("kind")) != (writer.api_version, writer.kind) {
        // Upstream's message contains neither of both if the `apiVersion` cannot be parsed.
        let [version, name] = match names::is_malformed_group_version(text("apiVersion")) {
            true => ["", ""],
            false => ["apiVersion", "kind"].map(text),
        };
        let found = kind(version, name);
        return Err(Error::BadRequest(format!("invalid object type: {found}")));
    }
    if managed::entries(applied).is_some() {
        return Err(Error::BadRequest("metadata.managedFields must be nil".to_owned()));
    }
    Ok(())
}

/// `apps/v1, Kind=Deployment`, `/v1, Kind=ConfigMap`.
pub(super) fn kind(api_version: &str, kind: &str) -> String {
    let slash = if api_version.contains('/') { "" } else { "/" };
    format!("{slash}{api_version}, Kind={kind}")
}

impl<'a> Writer<'a> {
    fn name(&self) -> &str {
        if self.manager.is_empty() {
            "unknown"
        } else {
            self.manager
        }
    }

    /// The entries from which a write starts: the client's, if it sends any, else the stored ones.
    fn entries(&self, live: Option<&Value>, new: &Value) -> Managed {
        let there = || {
            live.and_then(managed::entries)
                .and_then(|it| managed::decode(it).ok())
                .unwrap_or_default()
        };
        if !self.subresource.is_empty() {
            return there();
        }
        if managed::asks_for_reset(new) {
            return Managed::default();
        }
        let sent = managed::entries(new).and_then(|it| managed::decode(it).ok());
        sent.filter(|it| !it.owners.is_empty()).unwrap_or_else(there)
    }

    fn before_first_apply(&self, live: &Value) -> Result<Managed, Error> {
        let mut object = live.clone();
        managed::remove_entries(&mut object);
        let who = Manager::updating(BEFORE_FIRST_APPLY, self.api_version, self.subresource);
        let managed = self.update(&zero::zero(self.schema, &object), &object, Managed::default(), &who);
        managed.map_err(|error| match error {
            Error::Internal(why) => match why.strip_prefix("failed to create new object ").and_then(|it| it.split_once("): ")) {
                Some((name, why)) => Error::Internal(format!(
                    "failed to create manager for existing fields: failed to convert new object {name}) to smd typed: {why}"
                )),
                None => Error::Internal(why),
            },
            other => other,
        })
    }

    /// Adds the fields that `who` changed to those that it owned before in the same version.
    fn update(&self, live: &Value, new: &Value, managed: Managed, who: &Manager) -> Result<Managed, Error> {
        self.fits("new object", new, Duplicates::Allowed)?;
        self.fits("live object", live, Duplicates::Allowed)?;
        let this = Manager::default();
        let mut owners = self.updater().update(live, new, managed.owners, &this)?;
        let mut times = managed.times;
        if let Some(mut owned) = owners.remove(&this) {
            owned.set = owned.set.difference(&NEVER_OWNED);
            if !owned.set.is_empty() {
                if let Some(before) = owners.remove(who) {
                    owned.set = owned.set.union(&before.set);
                }
                owners.insert(who.clone(), owned);
                times.insert(who.clone(), self.now.to_owned());
            }
        }
        Ok(Managed { owners, times })
    }

    fn apply(&self, live: &Value, applied: &Value, managed: Managed, force: bool) -> Result<Value, Error> {
        self.fits("typed patch object", applied, Duplicates::Refused)?;
        self.fits("typed live object", live, Duplicates::Allowed)?;
        let who = Manager::applying(self.name(), self.subresource);
        let claim = Claim { manager: &who, force };
        let (object, mut owners) = self.updater().apply(live, applied, managed.owners, claim)?;
        if let Some(owned) = owners.get_mut(&who) {
            owned.set = owned.set.difference(&NEVER_OWNED);
            if owned.set.is_empty() {
                owners.remove(&who);
            }
        }
        let mut times = managed.times;
        if object.is_some() {
            times.insert(who, self.now.to_owned());
        }
        let mut object = object.unwrap_or_else(|| live.clone());
        managed::write(&mut object, &Managed { owners, times });
        Ok(object)
    }

    fn updater(&self) -> Updater<'a> {
        let mut reset = Set::default();
        for path in self.reset {
            reset.insert(&path.split('.').map(Element::field).collect::<Vec<_>>());
        }
        // Upstream, only the main endpoint of a custom kind ignores the reset fields of other versions.
        let own_only = !self.schema.structs && self.subresource.is_empty();
        let reset_elsewhere = if own_only { Set::default() } else { reset.clone() };
        let Self {
            schema,
            api_version,
            kind,
            versions,
            convert,
            ..
        } = *self;
        Updater {
            schema,
            api_version,
            kind,
            versions,
            convert,
            reset,
            reset_elsewhere,
        }
    }

    fn fits(&self, what: &str, object: &Value, duplicates: Duplicates) -> Result<(), Error> {
        let problems = validate(self.schema, object, duplicates);
        if problems.is_empty() {
            return Ok(());
        }
        let metadata = |key| {
            object
                .get("metadata")
                .and_then(|it| it.get(key))
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let name = format!(
            "{}/{}; {}",
            metadata("namespace"),
            metadata("name"),
            kind(self.api_version, self.kind)
        );
        Err(Error::Internal(format!(
            "failed to create {what} ({name}): {}",
            describe(&problems)
        )))
    }
}

/// Fields that no entry contains.
static NEVER_OWNED: LazyLock<Set> = LazyLock::new(|| {
    let metadata = [
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    ];
    let below = metadata.map(|it| ["metadata", it]);
    let above = [["apiVersion"], ["kind"], ["metadata"]];
    Set::of(
        above
            .iter()
            .map(<[_; 1]>::as_slice)
            .chain(below.iter().map(<[_; 2]>::as_slice)),
    )
});
