//! The golden projects in `tests/golden`. All but `one` are kept as differences from it.

use super::{Tree, tree};
use std::fs;
use std::path::{Path, PathBuf};

/// The case that is kept whole.
pub const BASE: &str = "one";

/// What a case has of its own.
pub fn folder(case: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(case)
}

/// The names of all cases.
pub fn cases() -> Vec<String> {
    let entries = fs::read_dir(folder("")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut cases: Vec<_> = names
        .filter_map(|name| Some(name.strip_suffix(".commands")?.to_owned()))
        .collect();
    cases.sort();
    cases
}

/// The files of the base that a case lacks.
pub fn without(case: &str) -> Vec<String> {
    let list = fs::read_to_string(folder(case).with_extension("without")).unwrap_or_default();
    list.lines().map(str::to_owned).collect()
}

/// All files of a case.
pub fn whole(case: &str) -> Tree {
    let mut files = tree(&folder(BASE));
    if case != BASE {
        let without = without(case);
        files.retain(|path, _| !derived(path) && !without.contains(path));
        files.extend(tree(&folder(case)));
    }
    files
}

/// Files that `make manifests` writes. Each case has its own.
pub fn derived(path: &str) -> bool {
    path == "config/rbac/role.yaml"
        || path.starts_with("config/webhook/")
        || path.starts_with("config/policy/")
        || (path.starts_with("config/crd/bases/") && !path.ends_with("kustomization.yaml"))
}
