//! The fields of metadata that are the server's.

use serde_json::{Value, json};

use super::{generate, of, of_mut, set, text};
use crate::strategy::NameRule;

/// Takes away what clients may not choose for a new object.
pub fn wipe(object: &mut Value) {
    let metadata = of_mut(object);
    for field in [
        "creationTimestamp",
        "uid",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
    ] {
        metadata.remove(field);
    }
}

/// Sets uid and creation time of a new object, and a name that follows `rule` if the object has only a `generateName`. `now`
/// is RFC 3339.
pub fn fill(object: &mut Value, rule: NameRule, now: &str) {
    let prefix = text(object, "generateName").to_owned();
    if !prefix.is_empty() && text(object, "name").is_empty() {
        let name = match rule {
            NameRule::Address => prefix,
            _ => generate::name(&prefix),
        };
        set(object, "name", Some(json!(name)));
    }
    set(object, "uid", Some(json!(generate::uid())));
    set(object, "creationTimestamp", Some(json!(now)));
}

/// At an update: what the client left out, and what it cannot change anyway, is as it was.
pub fn keep(new: &mut Value, old: &Value) {
    if text(new, "uid").is_empty() {
        set(new, "uid", of(old).get("uid").cloned());
    }
    if let Some(time) = of(old).get("creationTimestamp") {
        set(new, "creationTimestamp", Some(time.clone()));
    }
    if let Some(time) = of(old).get("deletionTimestamp") {
        set(new, "deletionTimestamp", Some(time.clone()));
    }
    if let Some(period) = of(old).get("deletionGracePeriodSeconds")
        && !of(new).contains_key("deletionGracePeriodSeconds")
    {
        set(new, "deletionGracePeriodSeconds", Some(period.clone()));
    }
}

/// Counts one generation more, where generations are counted.
pub fn next_generation(object: &mut Value) {
    if let Some(generation) = super::number(object, "generation").filter(|it| *it > 0) {
        set(object, "generation", Some(json!(generation.saturating_add(1))));
    }
}
