//! Events of both groups.

use super::format::{qualified, subdomain};
use crate::kinds::at::{At, Faults, quoted};

/// What the older rules say: for Events with an `eventTime`, and for those without.
struct Names {
    object: &'static str,
    controller: &'static str,
    note: &'static str,
    /// How errors call the controller.
    shown: &'static str,
}

const CORE: Names = Names {
    object: "involvedObject",
    controller: "reportingComponent",
    note: "message",
    shown: "reportingComponent",
};
const NEW: Names = Names {
    object: "regarding",
    controller: "reportingController",
    note: "note",
    shown: "reportingController",
};

/// A core Event.
pub(in crate::kinds) fn event(at: &At<'_>, faults: &mut Faults) {
    either(at, &CORE, faults);
}

/// An updated core Event.
pub(in crate::kinds) fn event_update(at: &At<'_>, faults: &mut Faults) {
    either(at, &CORE, faults);
}

/// The longest action, reason and name of an instance.
const LONGEST: usize = 128;

fn either(at: &At<'_>, names: &Names, faults: &mut Faults) {
    let namespace = at.at("metadata.namespace").str();
    let of_object = at.get(names.object).get("namespace").called("involvedObject.namespace");
    let mismatch = "does not match event.namespace";
    let shown = quoted(of_object.str());
    if !at.get("eventTime").is_set() {
        let fits = match of_object.str() {
            "" => matches!(namespace, "" | "default"),
            other => other == namespace,
        };
        if !fits {
            faults.invalid_as(&of_object, &shown, mismatch);
        }
    } else {
        if of_object.str().is_empty() && !matches!(namespace, "default" | "kube-system") {
            faults.invalid_as(&of_object, &shown, mismatch);
        }
        reported(at, names, faults);
    }
    let place = at.at("metadata.namespace").called("namespace");
    for sentence in subdomain(namespace) {
        faults.invalid_as(&place, &quoted(namespace), &sentence);
    }
}

fn reported(at: &At<'_>, names: &Names, faults: &mut Faults) {
    let controller = at.get(names.controller).called(names.shown);
    if controller.str().is_empty() {
        faults.required(&controller, "");
    }
    for sentence in qualified(controller.str()) {
        faults.invalid_as(&controller, &quoted(controller.str()), &sentence);
    }
    for name in ["reportingInstance", "action", "reason"] {
        let at = at.get(name);
        if at.str().is_empty() {
            faults.required(&at, "");
        }
        if at.str().len() > LONGEST {
            faults.invalid_as(&at, "\"\"", &format!("can have at most {LONGEST} characters"));
        }
    }
    let note = at.get(names.note).called("message");
    if note.str().len() > 1024 {
        faults.invalid_as(&note, "\"\"", "can have at most 1024 characters");
    }
}

/// An Event of events.k8s.io.
pub(in crate::kinds) fn new_event(at: &At<'_>, faults: &mut Faults) {
    either(at, &NEW, faults);
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

fn series(at: &At<'_>, faults: &mut Faults) {
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

/// What may not change, under the names of this group and those that errors have.
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

/// A changed Event of events.k8s.io.
pub(in crate::kinds) fn new_event_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    either(new, &NEW, faults);
    if new.get("series").value != old.get("series").value {
        series(new, faults);
    }
    for (name, shown) in FIXED {
        faults.immutable(&new.get(name).called(shown), &old.get(name));
    }
}
