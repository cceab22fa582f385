//! Finalizers: what built-in kinds ask of them besides, and those that the garbage collector works on.

pub use kubewright_machinery::object_meta::finalizers::{FOREGROUND, ORPHAN};
use kubewright_machinery::{Cause, cause::Path, go};

/// The errors in the names of finalizers of most built-in kinds: names without a domain are Kubernetes' own.
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
