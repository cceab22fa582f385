//! Events, of both groups.

use serde_json::{Value, json};

use crate::kinds::{
    faults::{Faults, quoted},
    format::{qualified, subdomain},
    located::Located,
    row,
};

/// The names of fields in a group.
pub(in crate::kinds) struct Names {
    pub object: &'static str,
    pub controller: &'static str,
    pub note: &'static str,
    /// The name of the controller field in errors.
    pub shown: &'static str,
}

/// The maximum length of the action, the reason and the instance's name.
const LONGEST: usize = 128;

pub(in crate::kinds) fn validate(at: &Located<'_>, names: &Names, faults: &mut Faults) {
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

fn reported(at: &Located<'_>, names: &Names, faults: &mut Faults) {
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

/// The cells of an Event of either group: a field with two names is looked up under both.
pub(in crate::kinds) fn cells(row: &row::Row<'_>) -> Vec<Value> {
    let either = |new: &str, old: &str| {
        let at = row.get(new);
        if at.is_set() { at } else { row.get(old) }
    };
    let since = |at: &Located<'_>| row::since(at, row.now);
    let (first, last) = (
        either("deprecatedFirstTimestamp", "firstTimestamp"),
        either("deprecatedLastTimestamp", "lastTimestamp"),
    );
    let first = if first.is_set() {
        since(&first)
    } else {
        row.since("eventTime")
    };
    let mut last = if last.is_set() { since(&last) } else { first.clone() };
    let mut count = either("deprecatedCount", "count").int().max(1);
    let series = row.get("series");
    if series.is_set() {
        last = since(&series.get("lastObservedTime"));
        count = series.get("count").int();
    }
    let object = either("regarding", "involvedObject");
    let (kind, name) = (object.get("kind").str().to_lowercase(), object.get("name").str());
    let target = if name.is_empty() {
        kind
    } else {
        format!("{kind}/{name}")
    };
    let source = either("deprecatedSource", "source");
    let first_of = |at: Located<'_>, other: Located<'_>| {
        if at.str().is_empty() {
            other.str().to_owned()
        } else {
            at.str().to_owned()
        }
    };
    let component = first_of(
        source.get("component"),
        either("reportingController", "reportingComponent"),
    );
    let instance = first_of(source.get("host"), row.get("reportingInstance"));
    let source = if instance.is_empty() {
        component
    } else {
        format!("{component}, {instance}")
    };
    vec![
        json!(last),
        row.text("type"),
        row.text("reason"),
        json!(target),
        json!(object.get("fieldPath").str()),
        json!(source),
        json!(either("note", "message").str().trim()),
        json!(first),
        json!(count),
        row.name(),
    ]
}
