//! Finalizers: their names, and those that the garbage collector works on.

use kubewright_schema::{Cause, cause::Path, go};
use serde_json::Value;

use super::key;

/// Set by a deletion that leaves the dependents alone; the garbage collector takes it away.
pub const ORPHAN: &str = "orphan";
/// Set by a deletion that waits for the dependents; the garbage collector takes it away.
pub const FOREGROUND: &str = "foregroundDeletion";

/// What is wrong with the finalizers of any object.
pub fn validate(finalizers: &[&str], path: &Path) -> Vec<Cause> {
    let faults = |name: &&str| {
        key::qualified(name)
            .iter()
            .map(|it| path.invalid(*name, it))
            .collect::<Vec<_>>()
    };
    let mut causes: Vec<Cause> = finalizers.iter().flat_map(faults).collect();
    if finalizers.contains(&ORPHAN) && finalizers.contains(&FOREGROUND) {
        let rule = format!("finalizer {ORPHAN} and {FOREGROUND} cannot be both set");
        let shown: Vec<Value> = finalizers.iter().map(|it| Value::from(*it)).collect();
        causes.push(path.invalid(shown, &rule));
    }
    causes
}

/// What is wrong with the names of finalizers of most built-in kinds: those without a domain are Kubernetes' own.
pub fn standard(finalizers: &[&str], path: &Path) -> Vec<Cause> {
    let is_standard = |name: &str| name.contains('/') || ["kubernetes", ORPHAN, FOREGROUND].contains(&name);
    let strange = finalizers.iter().enumerate().filter(|(_, name)| !is_standard(name));
    let rule = "name is neither a standard finalizer name nor is it fully qualified";
    strange
        .map(|(index, name)| path.index(index).invalid(*name, rule))
        .collect()
}

/// An object that is being deleted gets no new finalizers.
pub fn no_new(new: &[&str], old: &[&str], path: &Path) -> Vec<Cause> {
    let mut added: Vec<&str> = new.iter().filter(|it| !old.contains(it)).copied().collect();
    added.sort_unstable();
    added.dedup();
    if added.is_empty() {
        return Vec::new();
    }
    let shown: Vec<String> = added.into_iter().map(go::quote).collect();
    vec![path.forbidden(&format!(
        "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
        shown.join(", ")
    ))]
}
