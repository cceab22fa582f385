//! A version that stands in several files is the same in each.

use super::{maps::read, repository};
use std::collections::BTreeSet;
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

/// A program of others that generated files or workflows name, and its version.
type Pin = (String, String);

/// The pins in a line of a workflow, a Dockerfile or a devcontainer.
fn pins(line: &str) -> Vec<Pin> {
    let pair = |text: &str, between: char| {
        let (name, version) = text.rsplit_once(between)?;
        Some((name.to_owned(), version.trim().to_owned()))
    };
    let line = line.trim().trim_start_matches("- ");
    let installed = line.split("cargo install --locked ").nth(1).and_then(|rest| {
        let (name, version) = rest.split_once(" --version ")?;
        Some((name.to_owned(), version.to_owned())).filter(|_| !version.contains('$'))
    });
    // `CARGO_DENY: "0.20.2"`, which a later line installs.
    let variable = line
        .split_once(": ")
        .filter(|(name, version)| name.starts_with("CARGO_") && version.contains('.'))
        .map(|(name, version)| {
            (
                name.to_lowercase().replace('_', "-"),
                version.trim_matches('"').to_owned(),
            )
        });
    let action = line.strip_prefix("uses: ").and_then(|used| pair(used, '@'));
    let base = line.strip_prefix("FROM ").and_then(|from| {
        let image = from.split(' ').find(|word| !word.starts_with("--"))?;
        pair(image, ':')
    });
    let quoted = line
        .split('"')
        .filter(|text| text.starts_with("rust:") || text.starts_with("ghcr.io/"))
        .filter_map(|text| pair(text, ':'));
    [installed, variable, action, base]
        .into_iter()
        .flatten()
        .chain(quoted)
        .collect()
}

#[test]
fn workflows_and_images_use_the_versions_of_one_list() {
    let root = repository();
    let paths = [
        ".github/workflows",
        "templates/project/.github/workflows",
        "templates/project/.devcontainer",
    ]
    .map(|folder| files(&root.join(folder)))
    .concat();
    let used: BTreeSet<Pin> = paths
        .into_iter()
        .chain(["releases/Dockerfile", "templates/project/Dockerfile.tera"].map(|file| root.join(file)))
        .flat_map(|path| {
            fs::read_to_string(path)
                .unwrap()
                .lines()
                .flat_map(pins)
                .collect::<Vec<_>>()
        })
        .collect();
    let listed: BTreeSet<Pin> = read("tests/pins.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let (name, version) = line.split_once(' ').expect("a name and a version");
            (name.to_owned(), version.to_owned())
        })
        .collect();
    assert_eq!(used, listed, "tests/pins.txt lists other versions than the files have");
    let names: BTreeSet<_> = listed.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), listed.len(), "one version of each");
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
