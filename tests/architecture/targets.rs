//! Libraries and programs that `cargo test` leaves out, so that it does not link one more program for nothing, have no tests.

use super::{repository, source::files_of};
use std::fs;
use toml_edit::{DocumentMut, Item, Table};

/// Whether a target has `key = false`.
fn leaves_out(target: &Table, key: &str) -> bool {
    target.get(key).and_then(Item::as_bool) == Some(false)
}

/// Whether a file belongs to a program: the one file that its manifest names, or those below `bin/NAME`.
fn is_of_program(program: &Table, file: &str) -> bool {
    let text = |key: &str| program.get(key).and_then(Item::as_str).unwrap_or_default();
    let name = text("name");
    match text("path").strip_prefix("src/") {
        Some(path) => file == path,
        None => file == format!("bin/{name}.rs") || file.starts_with(&format!("bin/{name}/")),
    }
}

/// The files with tests that do not run, of a package with this manifest.
fn idle<'a>(manifest: &str, files: impl IntoIterator<Item = (&'a String, &'a String)>) -> Vec<String> {
    let manifest: DocumentMut = manifest.parse().unwrap();
    let lib = manifest.get("lib").and_then(Item::as_table);
    let programs = manifest.get("bin").and_then(Item::as_array_of_tables);
    let programs: Vec<&Table> = programs
        .into_iter()
        .flatten()
        .filter(|it| leaves_out(it, "test"))
        .collect();
    let is_idle = |(file, text): &(&String, &String)| {
        let of_lib = !file.starts_with("bin/") && *file != "main.rs";
        let has_tests = text.contains("#[test]") || text.contains("#[tokio::test");
        let has_examples = text
            .lines()
            .any(|line| line.trim_start().starts_with("//") && line.contains("```"));
        let left_out = |key| of_lib && lib.is_some_and(|lib| leaves_out(lib, key));
        has_tests && (left_out("test") || programs.iter().any(|it| is_of_program(it, file)))
            || has_examples && left_out("doctest")
    };
    let found = files.into_iter().filter(is_idle);
    found.map(|(file, _)| file.clone()).collect()
}

#[test]
fn what_cargo_test_leaves_out_has_no_tests() {
    let workspace: DocumentMut = fs::read_to_string(repository().join("Cargo.toml"))
        .unwrap()
        .parse()
        .unwrap();
    let members = workspace["workspace"]["members"].as_array().unwrap().iter();
    for member in members.filter_map(|it| it.as_str()).chain(["."]) {
        let folder = repository().join(member);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let idle = idle(&manifest, &files_of(&folder.join("src")));
        assert!(idle.is_empty(), "tests of `{member}` that do not run: {idle:?}");
    }
}

#[test]
fn a_test_that_does_not_run_is_found() {
    let manifest = "[lib]\ntest = false\ndoctest = false\n[[bin]]\nname = \"a\"\ntest = false\n\
                    [[bin]]\nname = \"b\"\npath = \"src/main.rs\"\ntest = false\n[[bin]]\nname = \"c\"\n";
    let files = [
        ("bin/a/main.rs", "#[test]"),
        ("bin/c.rs", "#[test]"),
        ("example.rs", "/// ```"),
        ("main.rs", "#[tokio::test(start_paused = true)]"),
        ("part.rs", "#[test]"),
        ("rest.rs", "fn a() {}"),
    ];
    let files: Vec<_> = files.map(|(file, text)| (file.to_owned(), text.to_owned())).into();
    let found = idle(manifest, files.iter().map(|(file, text)| (file, text)));
    assert_eq!(found, ["bin/a/main.rs", "example.rs", "main.rs", "part.rs"]);
    assert!(idle("[lib]\nname = \"a\"\n", files.iter().map(|(file, text)| (file, text))).is_empty());
}
