//! Files on the disk: whole or not at all, only ours, only when something changed.

use kubewright_schema::files::{FilesError, HEADER, Mode, write_manifests};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn files(entries: &[(&str, Value)]) -> BTreeMap<String, Vec<Value>> {
    entries
        .iter()
        .map(|(name, value)| ((*name).to_owned(), vec![value.clone()]))
        .collect()
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn several_documents_follow_the_header_each_after_a_separator() {
    let dir = tempfile::tempdir().unwrap();
    let all = BTreeMap::from([("role.yaml".to_owned(), vec![json!({"a": 1}), json!({"b": 2})])]);
    write_manifests(dir.path(), &all, Mode::Write).unwrap();
    let written = fs::read_to_string(dir.path().join("role.yaml")).unwrap();
    assert_eq!(written, format!("{HEADER}\n---\na: 1\n---\nb: 2\n"));
    assert_eq!(names(dir.path()), ["role.yaml"], "nothing temporary is left");
}

#[test]
fn an_unchanged_file_keeps_its_time_even_with_other_line_breaks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.yaml");
    let all = files(&[("a.yaml", json!({"a": 1}))]);
    write_manifests(dir.path(), &all, Mode::Write).unwrap();
    fs::write(&path, fs::read_to_string(&path).unwrap().replace('\n', "\r\n")).unwrap();
    let past = SystemTime::now() - Duration::from_secs(3600);
    fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(past)
        .unwrap();
    assert!(write_manifests(dir.path(), &all, Mode::Write).unwrap().is_clean());
    let age = fs::metadata(&path).unwrap().modified().unwrap().elapsed().unwrap();
    assert!(age > Duration::from_secs(3000));
}

#[test]
fn a_changed_file_is_shown_as_a_diff_and_checking_touches_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let value = |n: i32| json!({"a": 1, "b": 2, "c": 3, "d": n, "e": 5, "f": 6, "g": 7, "h": 8});
    write_manifests(dir.path(), &files(&[("a.yaml", value(4))]), Mode::Write).unwrap();
    let outcome = write_manifests(dir.path(), &files(&[("a.yaml", value(40))]), Mode::Check).unwrap();
    let path = dir.path().join("a.yaml");
    let (at, diff) = (
        path.display(),
        "@@ -3,7 +3,7 @@\n a: 1\n b: 2\n c: 3\n-d: 4\n+d: 40\n e: 5\n f: 6\n g: 7\n",
    );
    assert_eq!(outcome.diff, format!("--- {at}\n+++ {at}\n{diff}"));
    assert_eq!((outcome.written, outcome.removed), (vec![path.clone()], vec![]));
    assert!(fs::read_to_string(&path).unwrap().contains("d: 4\n"));
}

#[test]
fn a_file_of_somebody_else_is_refused_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("b.yaml"), "b: mine\n").unwrap();
    let all = files(&[("a.yaml", json!({"a": 1})), ("b.yaml", json!({"b": 2}))]);
    let error = write_manifests(dir.path(), &all, Mode::Write).unwrap_err();
    assert!(
        matches!(&error, FilesError::Foreign { path } if path.ends_with("b.yaml")),
        "{error}"
    );
    assert!(error.to_string().contains("hint: "));
    assert_eq!(names(dir.path()), ["b.yaml"]);
    fs::write(
        dir.path().join("b.yaml"),
        format!("# Licence.\n\n{HEADER}\n---\nb: 1\n"),
    )
    .unwrap();
    assert_eq!(
        write_manifests(dir.path(), &all, Mode::Write).unwrap().written.len(),
        2,
        "a licence may stand before"
    );
}

#[test]
fn only_our_own_stale_files_are_pruned() {
    let dir = tempfile::tempdir().unwrap();
    let ours = format!("{HEADER}\n---\na: 1\n");
    for (name, content) in [
        ("old.yaml", ours.as_str()),
        ("mine.yaml", "a: 1\n"),
        ("notes.txt", ours.as_str()),
    ] {
        fs::write(dir.path().join(name), content).unwrap();
    }
    fs::create_dir(dir.path().join("folder.yaml")).unwrap();
    let outcome = write_manifests(dir.path(), &BTreeMap::new(), Mode::Write).unwrap();
    assert_eq!(outcome.removed, [dir.path().join("old.yaml")]);
    assert_eq!(names(dir.path()), ["folder.yaml", "mine.yaml", "notes.txt"]);
}

#[test]
fn no_folder_is_made_for_nothing_and_errors_name_the_path() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("a/b");
    assert!(
        write_manifests(&missing, &BTreeMap::new(), Mode::Write)
            .unwrap()
            .is_clean()
    );
    assert!(!missing.exists());
    fs::write(dir.path().join("a"), "").unwrap();
    let error = write_manifests(&missing, &files(&[("a.yaml", json!({}))]), Mode::Write).unwrap_err();
    assert!(error.to_string().contains(&dir.path().display().to_string()), "{error}");
}
