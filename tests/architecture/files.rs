//! Every file of every crate starts with its purpose, is compiled, and is short.

use crate::source::{Crate, Files, files_of};
use crate::{CRATES, repository};

/// A file has at most this many lines.
const LIMIT: usize = 400;

/// Longer files: the most lines, and why they are not split. If a file becomes shorter, the test fails until its entry
/// is changed.
const LONGER: [(&str, usize, &str); 3] = [
    (
        "scaffolds/cel/src/language/cost/calls.rs",
        471,
        "the cost of each function of CEL's library",
    ),
    (
        "scaffolds/cel/src/language/eval.rs",
        501,
        "the interpreter of CEL: one function for each form of expression",
    ),
    (
        "scaffolds/cel/src/parse.rs",
        541,
        "the grammar of CEL: one function for each rule",
    ),
];

/// The error of one file, if any.
fn fault(file: &str, text: &str, longer: &[(&str, usize, &str)]) -> Option<String> {
    if !text.starts_with("//! ") {
        return Some(format!("{file} does not start with its purpose"));
    }
    let lines = text.lines().count();
    let known = longer
        .iter()
        .find(|(known, ..)| *known == file)
        .map(|(_, lines, _)| *lines);
    match known {
        Some(known) if lines > known => Some(format!("{file} has {lines} lines, which is more than its {known}")),
        Some(known) if lines < known => Some(format!(
            "{file} has {lines} lines: lower its entry in LONGER, or remove it"
        )),
        None if lines > LIMIT => Some(format!("{file} has {lines} lines, which is more than {LIMIT}")),
        _ => None,
    }
}

fn faults(src: &str, files: &Files) -> Vec<String> {
    files
        .iter()
        .filter_map(|(file, text)| fault(&format!("{src}/{file}"), text, &LONGER))
        .collect()
}

#[test]
fn every_file_starts_with_its_purpose_and_is_short() {
    let mut listed: Vec<_> = LONGER.iter().map(|(file, ..)| *file).collect();
    for (src, _) in CRATES {
        let files = files_of(&repository().join(src));
        assert!(!files.is_empty());
        assert_eq!(faults(src, &files), [""; 0]);
        listed.retain(|file| {
            !file
                .strip_prefix(&format!("{src}/"))
                .is_some_and(|file| files.contains_key(file))
        });
    }
    assert_eq!(listed, [""; 0], "these files do not exist: remove them from LONGER");
}

#[test]
fn every_file_is_part_of_its_crate() {
    for (src, name) in CRATES {
        assert_eq!(
            Crate::read(&files_of(&repository().join(src)), name).unreached,
            [""; 0],
            "{src}"
        );
    }
}

#[test]
fn a_file_without_a_purpose_and_one_too_long_are_found() {
    let longer = [("known.rs", 402, "")];
    let lines = |count: usize| "//! Purpose.\n".to_owned() + &"\n".repeat(count - 1);
    let wrong = |file: &str, text: &str| fault(file, text, &longer).is_some();
    assert!(wrong("a.rs", "use std::fs;\n"));
    assert!(wrong("a.rs", "//!\nuse std::fs;\n"));
    assert!(wrong("a.rs", &lines(401)));
    assert!(!wrong("a.rs", &lines(400)));
    assert!(wrong("known.rs", &lines(403)));
    assert!(!wrong("known.rs", &lines(402)));
    assert!(wrong("known.rs", &lines(401)));
}
