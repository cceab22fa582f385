//! Finalizers of any object.

use crate::cause::{Cause, Path};
use crate::labels;
use serde_json::Value;

/// Set by a deletion that orphans the dependents; the garbage collector removes it.
pub const ORPHAN: &str = "orphan";
/// Set by a deletion that waits for the dependents; the garbage collector removes it.
pub const FOREGROUND: &str = "foregroundDeletion";

/// The errors in the finalizers of an object.
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
