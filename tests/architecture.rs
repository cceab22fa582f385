//! The direction of data: `cli → project → plan → render → write`. A room imports from its left alone, and nobody imports `cli`.

use std::fs;
use std::path::Path;

const ROOMS: [&str; 4] = ["project", "plan", "render", "write"];

/// Rooms that `text`, standing in `room`, must not name.
fn forbidden(room: &str, text: &str) -> Vec<&'static str> {
    let own = ROOMS.iter().position(|other| *other == room).unwrap();
    let names = |other: &str| text.contains(&format!("crate::{other}"));
    let right = ROOMS[own + 1..].iter().copied().filter(|other| names(other));
    right.chain(["cli"].into_iter().filter(|cli| names(cli))).collect()
}

fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.path() {
            path if path.is_dir() => sources(&path, found),
            path => found.push(path),
        }
    }
}

#[test]
fn rooms_import_from_their_left_alone() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for room in ROOMS {
        let mut files = Vec::new();
        sources(&src.join(room), &mut files);
        assert!(!files.is_empty());
        for file in files {
            let wrong = forbidden(room, &fs::read_to_string(&file).unwrap());
            assert!(wrong.is_empty(), "{} imports from {wrong:?}", file.display());
        }
    }
}

#[test]
fn an_import_from_the_right_is_found() {
    assert_eq!(forbidden("plan", "use crate::render::Templates;"), ["render"]);
    assert_eq!(forbidden("write", "use crate::cli::report;"), ["cli"]);
    assert!(forbidden("write", "use crate::{plan::RelPath};\nuse crate::project::Kind;").is_empty());
}

#[test]
fn every_file_says_what_it_is_for_and_stays_short() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.starts_with("//! "),
            "{} does not open with its purpose",
            file.display()
        );
        assert!(
            text.lines().count() <= 400,
            "{} has {} lines",
            file.display(),
            text.lines().count()
        );
    }
}
