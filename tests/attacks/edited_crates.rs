//! A vendored crate with a back door, whose VERSION contains the hash of the edited crate.

use crate::{guarded, whole_project};
use kubewright::render::{header, vendor};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Writes the crate's current hash to its VERSION, as if `release` had written it.
fn vouch(folder: &Path, release: &str) {
    let texts: BTreeMap<String, String> = crate::everything(folder)
        .into_iter()
        .filter(|(path, _)| !path.ends_with('/') && path != "VERSION")
        .map(|(path, bytes)| (path, String::from_utf8(bytes).unwrap()))
        .collect();
    fs::write(
        folder.join("VERSION"),
        format!("# {}\n", header::line(release, &vendor::hash(&texts))),
    )
    .unwrap();
}

#[test]
fn an_edited_crate_with_a_new_hash_in_version_is_reported() {
    let dir = whole_project();
    let (path, runtime) = (dir.path(), dir.path().join("crates/runtime"));
    // Nothing is edited yet: the hash is the one that `init` wrote.
    let version = fs::read(runtime.join("VERSION")).unwrap();
    vouch(&runtime, env!("CARGO_PKG_VERSION"));
    assert_eq!(fs::read(runtime.join("VERSION")).unwrap(), version);
    let doctor = || guarded(path, &["doctor"]).succeeds().stdout;
    assert!(!doctor().contains("crates/runtime"), "{}", doctor());

    let lib = runtime.join("src/lib.rs");
    fs::write(&lib, fs::read_to_string(&lib).unwrap() + "// a back door\n").unwrap();
    vouch(&runtime, env!("CARGO_PKG_VERSION"));
    assert!(
        doctor().contains("warning  project   edited by hand: `crates/runtime`"),
        "{}",
        doctor()
    );
    let plan = guarded(path, &["plan"]).succeeds().stdout;
    assert!(
        plan.lines()
            .any(|line| line.starts_with("crates/runtime ") && line.contains("edited")),
        "{plan}"
    );

    // VERSION names a release that this binary cannot check.
    vouch(&runtime, "0.1.999");
    let printed = doctor();
    assert!(
        printed.contains("warning  project   only the release that wrote it can check `crates/runtime` of 0.1.999"),
        "{printed}"
    );
}
