//! Finalizers of any object.

use crate::cause::{Cause, Path};
use crate::labels;
use serde_json::Value;

/// Set by a deletion that leaves the dependents alone; the garbage collector takes it away.
pub const ORPHAN: &str = "orphan";
/// Set by a deletion that waits for the dependents; the garbage collector takes it away.
pub const FOREGROUND: &str = "foregroundDeletion";

/// What is wrong with the finalizers of an object.
pub fn check(finalizers: &[&str], path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    for name in finalizers {
        causes.extend(labels::key(name).iter().map(|fault| path.invalid(*name, fault)));
    }
    if finalizers.contains(&ORPHAN) && finalizers.contains(&FOREGROUND) {
        let rule = format!("finalizer {ORPHAN} and {FOREGROUND} cannot be both set");
        let shown: Vec<Value> = finalizers.iter().map(|name| Value::from(*name)).collect();
        causes.push(path.invalid(shown, &rule));
    }
    causes
}
