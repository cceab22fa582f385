//! Events of `events.k8s.io/v1`: the Events of the core group with other field names. They are stored in the core
//! group's form.

use serde_json::{Value, json};

use crate::{
    kinds::{
        event::{self, Names},
        faults::Faults,
        internal::{in_go, in_go_or_null},
        kind::{BuiltInKind, Selectable},
        located::Located,
    },
    strategy::{Deletion, Internal, Put, Rules, Storage},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            deletion: Deletion {
                leaves_dependents: true,
                ..Deletion::default()
            },
            put: Put::CREATES,
            storage: Storage {
                name: Some("/events"),
                is_uncached: true,
                verbatim_after: None,
                ..Storage::default()
            },
            internal: Internal {
                go_package: Some("core"),
                ..Internal::default()
            },
            ..Rules::default()
        },
        validate,
        validate_update,
        to_stored: to_core,
        from_stored: from_core,
        selectable: SELECTABLE,
        cells: event::cells,
        ..BuiltInKind::default()
    }
}

const SELECTABLE: &[Selectable] = &[
    Selectable::new("reason", "/reason"),
    Selectable::new("type", "/type"),
    Selectable::new("regarding.kind", "/regarding/kind"),
    Selectable::new("regarding.namespace", "/regarding/namespace"),
    Selectable::new("regarding.name", "/regarding/name"),
    Selectable::new("regarding.uid", "/regarding/uid"),
    Selectable::new("regarding.apiVersion", "/regarding/apiVersion"),
    Selectable::new("regarding.resourceVersion", "/regarding/resourceVersion"),
    Selectable::new("regarding.fieldPath", "/regarding/fieldPath"),
    Selectable::new("reportingController", "/reportingController"),
];

const NAMES: Names = Names {
    object: "regarding",
    controller: "reportingController",
    note: "note",
    shown: "reportingController",
};

/// Validates an Event of events.k8s.io.
fn validate(at: &Located<'_>, faults: &mut Faults) {
    event::validate(at, &NAMES, faults);
    series(at, faults);
    if !at.get("eventTime").is_set() {
        faults.required(&at.get("eventTime"), "");
    }
    let r#type = at.get("type");
    if !matches!(r#type.str(), "Normal" | "Warning") {
        faults.invalid_as(&r#type, "\"\"", &format!("has invalid value: {}", r#type.str()));
    }
    for (name, shown) in [
        ("deprecatedFirstTimestamp", "firstTimestamp"),
        ("deprecatedLastTimestamp", "lastTimestamp"),
    ] {
        if at.get(name).is_set() {
            faults.invalid_as(&at.get(name).called(shown), "\"\"", "needs to be unset");
        }
    }
    if at.get("deprecatedCount").int() != 0 {
        faults.invalid_as(&at.get("deprecatedCount").called("count"), "\"\"", "needs to be unset");
    }
    let source = at.get("deprecatedSource");
    if !source.get("component").str().is_empty() || !source.get("host").str().is_empty() {
        faults.invalid_as(&source.called("source"), "\"\"", "needs to be unset");
    }
}

fn series(at: &Located<'_>, faults: &mut Faults) {
    let series = at.get("series");
    if !series.is_set() {
        return;
    }
    if series.get("count").int() < 2 {
        faults.invalid_as(&series.get("count"), "\"\"", "should be at least 2");
    }
    if !series.get("lastObservedTime").is_set() {
        faults.required(&series.get("lastObservedTime"), "");
    }
}

/// The immutable fields, by their names in this group and in errors.
const FIXED: [(&str, &str); 14] = [
    ("regarding", "involvedObject"),
    ("reason", "reason"),
    ("note", "message"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
    ("reason", "reason"),
    ("type", "type"),
    ("eventTime", "eventTime"),
    ("action", "action"),
    ("related", "related"),
    ("reportingController", "reportingController"),
    ("reportingInstance", "reportingInstance"),
];

/// Validates an update of an Event of events.k8s.io.
fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    event::validate(new, &NAMES, faults);
    if new.get("series").value != old.get("series").value {
        series(new, faults);
    }
    for (name, shown) in FIXED {
        let (now, was) = (new.get(name).called(shown), old.get(name));
        let sentence = "field is immutable";
        match name {
            _ if now.is_like(&was) => {}
            "regarding" => faults.invalid_as(&now, &in_go("core.v1.ObjectReference", now.value), sentence),
            "related" => faults.invalid_as(&now, &in_go_or_null("core.v1.ObjectReference", &now), sentence),
            "deprecatedSource" => faults.invalid_as(&now, &in_go("core.v1.EventSource", now.value), sentence),
            _ if was.value.is_string() && !now.is_set() && !name.ends_with("Time") && !name.ends_with("Timestamp") => {
                faults.invalid_as(&now, "\"\"", sentence);
            }
            _ => faults.invalid(&now, sentence),
        }
    }
}

/// Field names in events.k8s.io and in the core group.
const CORE_NAMES: [(&str, &str); 7] = [
    ("regarding", "involvedObject"),
    ("note", "message"),
    ("reportingController", "reportingComponent"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
];

fn to_core(object: &mut Value) {
    rename(object, "v1", |(new, old)| (new, old));
    // The core kind always encodes these two.
    if let Some(fields) = object.as_object_mut() {
        for name in ["reportingComponent", "reportingInstance"] {
            fields.entry(name).or_insert_with(|| json!(""));
        }
    }
}

fn from_core(object: &mut Value) {
    rename(object, "events.k8s.io/v1", |(new, old)| (old, new));
    if let Some(fields) = object.as_object_mut() {
        for name in ["reportingController", "reportingInstance"] {
            if fields.get(name).and_then(Value::as_str) == Some("") {
                fields.remove(name);
            }
        }
    }
}

fn rename(
    object: &mut Value,
    version: &str,
    direction: fn((&'static str, &'static str)) -> (&'static str, &'static str),
) {
    let Some(fields) = object.as_object_mut() else { return };
    fields.insert("apiVersion".to_owned(), json!(version));
    for (from, to) in CORE_NAMES.map(direction) {
        if let Some(value) = fields.remove(from) {
            fields.insert(to.to_owned(), value);
        }
    }
}
