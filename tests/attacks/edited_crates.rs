//! A vendored crate with a back door, whose manifest contains the hash of the edited crate.

use crate::{guarded, whole_project};
use kubewright::render::{header, vendor};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Writes the crate's current hash to its manifest, as if `release` had written it.
fn vouch(folder: &Path, release: &str) {
    let mut texts: BTreeMap<String, String> = crate::everything(folder)
        .into_iter()
        .filter(|(path, _)| !path.ends_with('/'))
        .map(|(path, bytes)| (path, String::from_utf8(bytes).unwrap()))
        .collect();
    let (_, manifest) = vendor::stamped(&texts["Cargo.toml"]).unwrap();
    let manifest = manifest.to_owned();
    texts.insert("Cargo.toml".to_owned(), manifest.clone());
    let line = header::line(release, &vendor::hash(&texts));
    fs::write(folder.join("Cargo.toml"), format!("# {line}\n{manifest}")).unwrap();
}

#[test]
fn an_edited_crate_with_a_new_hash_in_its_manifest_is_reported() {
    let dir = whole_project();
    let (path, runtime) = (dir.path(), dir.path().join("crates/runtime"));
    // Nothing is edited yet: the hash is the one that `init` wrote.
    let manifest = fs::read(runtime.join("Cargo.toml")).unwrap();
    vouch(&runtime, env!("CARGO_PKG_VERSION"));
    assert_eq!(fs::read(runtime.join("Cargo.toml")).unwrap(), manifest);
    let doctor = || guarded(path, &["doctor"]).succeeds().stdout;
    assert!(!doctor().contains("crates/runtime"), "{}", doctor());

    let archive = runtime.join("source.tar");
    let source = fs::read_to_string(&archive).unwrap();
    fs::write(&archive, source.replacen("fn ", "fn\t", 1)).unwrap();
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

    // The manifest names a release that this binary cannot check.
    vouch(&runtime, "0.1.999");
    let printed = doctor();
    assert!(
        printed.contains("warning  project   only the release that wrote it can check `crates/runtime` of 0.1.999"),
        "{printed}"
    );
}
