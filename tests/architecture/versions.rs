//! A version that stands in several files is the same in each.

use super::{maps::read, repository};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The release of a peer in `tests/peers.env`, with its `v`.
fn peer(name: &str) -> String {
    let peers = read("tests/peers.env");
    let line = peers
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    line.unwrap_or_else(|| panic!("tests/peers.env has no {name}"))
        .to_owned()
}

/// `v4.16.0` without its `v` and its last number.
fn minor(version: &str) -> &str {
    version
        .trim_start_matches('v')
        .rsplit_once('.')
        .expect("three numbers")
        .0
}

#[test]
fn pages_and_modules_name_the_peers_that_are_compared() {
    let kubebuilder = peer("KUBEBUILDER");
    let tools = peer("CONTROLLER_TOOLS");
    for (file, text) in [
        (
            "benches/peers/controller-runtime/go.mod",
            format!("sigs.k8s.io/controller-runtime {}", peer("CONTROLLER_RUNTIME")),
        ),
        (
            "docs/src/reference/markers.md",
            format!("controller-gen (v{})", minor(&tools)),
        ),
        (
            "docs/src/guide/from-kubebuilder.md",
            format!("controller-gen.kubebuilder.io/version: {tools}"),
        ),
        ("README.md", format!("| kubebuilder {} |", minor(&kubebuilder))),
        (
            "docs/src/reference/kubebuilder.md",
            format!("kubebuilder {}", minor(&kubebuilder)),
        ),
        (
            "tests/inputs/kubebuilder.txt",
            format!("kubebuilder {}", minor(&kubebuilder)),
        ),
    ] {
        assert!(read(file).contains(&text), "{file} does not contain `{text}`");
    }
}

/// The files of a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect()
}

#[test]
fn workflows_use_one_version_of_each_action() {
    let root = repository();
    let mut pinned = BTreeMap::new();
    for path in [".github/workflows", "templates/project/.github/workflows"]
        .map(|folder| files(&root.join(folder)))
        .concat()
    {
        for line in fs::read_to_string(&path).unwrap().lines() {
            let Some((_, used)) = line.split_once("uses: ") else {
                continue;
            };
            let Some((action, version)) = used.split_once('@') else {
                continue;
            };
            let (first, other) = pinned
                .entry(action.to_owned())
                .or_insert((version.to_owned(), path.clone()));
            assert_eq!(first, version, "{action} in {} and {}", other.display(), path.display());
        }
    }
    assert!(pinned.contains_key("actions/checkout"), "{pinned:?}");
}

#[test]
fn builds_in_workflows_and_images_use_one_rust() {
    let named: Vec<_> = [
        (".github/workflows/ci.yml", "RUST: \""),
        (".github/workflows/release.yml", "RUST: \""),
        ("templates/project/.github/workflows/ci.yml.tera", "RUST: \""),
        ("templates/project/.github/workflows/release.yml.tera", "RUST: \""),
        ("templates/project/.devcontainer/devcontainer.json.tera", "rust:"),
        ("templates/project/Dockerfile.tera", "rust:"),
    ]
    .map(|(file, before)| {
        let text = read(file);
        let (_, version) = text
            .split_once(before)
            .unwrap_or_else(|| panic!("{file} names no Rust"));
        version
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == '.')
            .collect::<String>()
    })
    .into();
    assert!(named.iter().all(|version| *version == named[0]), "{named:?}");
}
