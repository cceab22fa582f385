//! Pages about the whole repository are correct: they list its crates, and the Rust version that it needs.

use crate::repository;
use std::fs;
use std::path::{Path, PathBuf};

/// Pages that name the required Rust version.
const INSTALLING: [&str; 4] = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/src/guide/install.md",
    "templates/project/README.md.tera",
];

pub(super) fn read(path: impl AsRef<Path>) -> String {
    let path = repository().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The value of `key = "…"` in a manifest.
fn value<'a>(manifest: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = manifest
        .lines()
        .filter_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='));
    lines.next().map(|value| value.trim().trim_matches('"'))
}

/// The versions in a text of the form `Rust 1.2`.
fn versions(text: &str) -> Vec<String> {
    let named = text.split("Rust ").skip(1);
    let numbers = named.map(|after| {
        after
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == '.')
            .collect::<String>()
    });
    let numbers = numbers.map(|number| number.trim_end_matches('.').to_owned());
    numbers.filter(|number| number.contains('.')).collect()
}

/// The folders of `scaffolds`.
fn scaffolds() -> Vec<PathBuf> {
    let entries = fs::read_dir(repository().join("scaffolds"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries.filter(|path| path.join("Cargo.toml").exists()).collect()
}

#[test]
fn every_page_and_manifest_names_the_same_rust() {
    let manifest = read("Cargo.toml");
    let needed = value(&manifest, "rust-version").unwrap();
    for page in INSTALLING {
        let named = versions(&read(page));
        assert!(
            !named.is_empty() && named.iter().all(|version| version == needed),
            "{page}: {named:?}, not {needed}"
        );
    }
    let manifests = scaffolds().into_iter().map(|folder| folder.join("Cargo.toml"));
    for path in manifests.chain([repository().join("templates/project/Cargo.toml.tera")]) {
        assert_eq!(value(&read(&path), "rust-version"), Some(needed), "{}", path.display());
    }
}

#[test]
fn the_pages_about_crates_name_all_of_them() {
    for folder in scaffolds() {
        let manifest = read(folder.join("Cargo.toml"));
        let (name, folder) = (
            value(&manifest, "name").unwrap(),
            folder.file_name().unwrap().to_str().unwrap(),
        );
        for (page, text) in [
            ("docs/src/contributing/releasing.md", format!("`{name}`")),
            ("README.md", format!("crates/{folder}")),
            ("CONTRIBUTING.md", format!("`scaffolds/{folder}`")),
        ] {
            assert!(read(page).contains(&text), "{page} does not name {text}");
        }
    }
}

#[test]
fn another_version_is_found() {
    assert_eq!(
        versions("needs Rust 1.91 or newer, not Rust 1.89. In Rust, and Rust 2"),
        ["1.91", "1.89"]
    );
    assert_eq!(
        value("[package]\nrust-version = \"1.91\"\n", "rust-version"),
        Some("1.91")
    );
    assert_eq!(value("rust-version.workspace = true\n", "rust-version"), None);
}
