//! Tests of writing files: completely or not at all, only files with the header, only when their content changes.

use kubewright_schema::files::{FilesError, HEADER, Mode, write_manifests};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
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
fn several_documents_are_written_after_the_header_with_separators() {
    let dir = tempfile::tempdir().unwrap();
    let all = BTreeMap::from([("role.yaml".to_owned(), vec![json!({"a": 1}), json!({"b": 2})])]);
    write_manifests(dir.path(), &all, Mode::Write).unwrap();
    let written = fs::read_to_string(dir.path().join("role.yaml")).unwrap();
    assert_eq!(written, format!("{HEADER}\n---\na: 1\n---\nb: 2\n"));
    assert_eq!(names(dir.path()), ["role.yaml"], "no temporary file is left");
}

#[test]
fn an_unchanged_file_is_not_written_even_if_its_line_breaks_differ() {
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
fn a_changed_file_is_shown_as_a_diff_and_check_mode_writes_nothing() {
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
fn a_file_without_the_header_is_refused_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("b.yaml"), "b: mine\n").unwrap();
    let all = files(&[("a.yaml", json!({"a": 1})), ("b.yaml", json!({"b": 2}))]);
    let error = write_manifests(dir.path(), &all, Mode::Write).unwrap_err();
    assert!(
        matches!(&error, FilesError::Foreign { path, .. } if path.ends_with("b.yaml")),
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
        "a licence before the header is accepted"
    );
    let written = fs::read_to_string(dir.path().join("b.yaml")).unwrap();
    assert_eq!(written, format!("# Licence.\n\n{HEADER}\n---\nb: 2\n"));
    assert!(write_manifests(dir.path(), &all, Mode::Check).unwrap().is_clean());
}

#[test]
fn only_stale_files_with_the_header_are_removed() {
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
fn no_empty_folder_is_created_and_errors_name_the_path() {
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

/// Version `number` of `a.yaml` and `b.yaml`, long enough to take several writes.
fn numbered(number: usize) -> BTreeMap<String, Vec<Value>> {
    let value: Value = (0..2000)
        .map(|at| (format!("key{at:04}"), json!(number)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    files(&[("a.yaml", value.clone()), ("b.yaml", value)])
}

/// The part of the tests below that runs in a separate process: writes one version after the other, or a single one.
#[test]
#[ignore = "other tests run it in a separate process"]
fn writer() {
    let Some(dir) = std::env::var_os("WRITE_INTO") else {
        return;
    };
    let dir = Path::new(&dir);
    if std::env::var_os("ONCE").is_some() {
        let error = write_manifests(dir, &numbered(1), Mode::Write).unwrap_err();
        println!("error: {error}");
        return;
    }
    for number in 1.. {
        write_manifests(dir, &numbered(number), Mode::Write).unwrap();
    }
}

fn itself() -> Vec<String> {
    let program = std::env::current_exe().unwrap().display().to_string();
    [&program, "--ignored", "--exact", "files::writer", "--nocapture"]
        .map(str::to_owned)
        .to_vec()
}

#[test]
fn after_a_killed_run_each_file_is_old_or_new_and_the_next_run_succeeds() {
    let dir = tempfile::tempdir().unwrap();
    write_manifests(dir.path(), &numbered(0), Mode::Write).unwrap();
    for round in 0..3 {
        let words = itself();
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .env("WRITE_INTO", dir.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Each time the process is killed at another moment after its first write; the result must not depend on it.
        let before = fs::read(dir.path().join("a.yaml")).unwrap();
        while fs::read(dir.path().join("a.yaml")).unwrap() == before {
            assert_eq!(child.try_wait().unwrap(), None, "the writer ended by itself");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(700 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        for name in ["a.yaml", "b.yaml"] {
            let text = fs::read_to_string(dir.path().join(name)).unwrap();
            let number: usize = text
                .lines()
                .last()
                .unwrap()
                .rsplit(' ')
                .next()
                .unwrap()
                .parse()
                .unwrap();
            let whole = tempfile::tempdir().unwrap();
            write_manifests(whole.path(), &numbered(number), Mode::Write).unwrap();
            assert_eq!(
                text,
                fs::read_to_string(whole.path().join(name)).unwrap(),
                "{name} is neither old nor new"
            );
        }
    }
    let past = SystemTime::now() - Duration::from_secs(7200);
    for left in names(dir.path()).iter().filter(|name| name.ends_with(".tmp")) {
        fs::File::options()
            .write(true)
            .open(dir.path().join(left))
            .unwrap()
            .set_modified(past)
            .unwrap();
    }
    fs::write(dir.path().join("mine.tmp"), "").unwrap();
    write_manifests(dir.path(), &numbered(0), Mode::Write).unwrap();
    assert_eq!(
        names(dir.path()),
        ["a.yaml", "b.yaml", "mine.tmp"],
        "an hour later it is removed"
    );
}

#[test]
fn a_full_disk_is_reported_and_the_old_files_stay() {
    let dir = tempfile::tempdir().unwrap();
    write_manifests(dir.path(), &numbered(0), Mode::Write).unwrap();
    let before = fs::read(dir.path().join("a.yaml")).unwrap();
    // Limits files to 8 KiB. With the signal ignored, a write beyond that fails with an error, as on a full disk.
    let output = Command::new("bash")
        .args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "bash"])
        .args(itself())
        .env("WRITE_INTO", dir.path())
        .env("ONCE", "1")
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        stdout.contains(&format!(
            "error: cannot write `{}`: ",
            dir.path().join("a.yaml").display()
        )),
        "{output:?}"
    );
    assert_eq!(fs::read(dir.path().join("a.yaml")).unwrap(), before);
    assert_eq!(names(dir.path()), ["a.yaml", "b.yaml"], "no temporary file is left");
}

#[cfg(unix)]
#[test]
fn a_read_only_file_is_refused_before_anything_is_written_and_modes_are_kept() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    write_manifests(dir.path(), &numbered(0), Mode::Write).unwrap();
    let (a, b) = (dir.path().join("a.yaml"), dir.path().join("b.yaml"));
    let chmod = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    chmod(&a, 0o640);
    chmod(&b, 0o444);
    let before = fs::read(&a).unwrap();
    let error = write_manifests(dir.path(), &numbered(1), Mode::Write).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("`{0}` is read-only\n\nhint: chmod u+w '{0}'", b.display())
    );
    assert_eq!(fs::read(&a).unwrap(), before);
    assert_eq!(
        write_manifests(dir.path(), &numbered(1), Mode::Check)
            .unwrap()
            .written
            .len(),
        2,
        "check mode accepts read-only files"
    );
    chmod(&b, 0o600);
    write_manifests(dir.path(), &numbered(1), Mode::Write).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&a), mode(&b)), (0o640, 0o600));
}

#[cfg(unix)]
#[test]
fn a_replaced_file_keeps_its_owner_if_root_writes_it() {
    use std::os::unix::fs::{MetadataExt, chown};
    let dir = tempfile::tempdir().unwrap();
    write_manifests(dir.path(), &numbered(0), Mode::Write).unwrap();
    let path = dir.path().join("a.yaml");
    if chown(&path, Some(1234), Some(5678)).is_err() {
        eprintln!("SKIPPED: only root can give files away");
        return;
    }
    write_manifests(dir.path(), &numbered(1), Mode::Write).unwrap();
    let found = fs::metadata(&path).unwrap();
    assert_eq!((found.uid(), found.gid()), (1234, 5678));
}

#[cfg(unix)]
#[test]
fn a_link_at_the_name_of_a_temporary_file_is_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    write_manifests(dir.path(), &numbered(0), Mode::Write).unwrap();
    let foreign = dir.path().join("foreign");
    fs::write(&foreign, "foreign").unwrap();
    let temporary = dir.path().join(format!("a.yaml.{}.tmp", std::process::id()));
    std::os::unix::fs::symlink(&foreign, &temporary).unwrap();
    write_manifests(dir.path(), &numbered(1), Mode::Write).unwrap();
    assert_eq!(fs::read_to_string(&foreign).unwrap(), "foreign");
    assert!(fs::read_to_string(dir.path().join("a.yaml")).unwrap().contains('1'));
}

#[test]
fn the_same_values_give_the_same_bytes_in_any_order() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let written = |dir: &Path, text: &str| {
        let value: Value = serde_json::from_str(text).unwrap();
        write_manifests(dir, &files(&[("a.yaml", value)]), Mode::Write).unwrap();
        fs::read(dir.join("a.yaml")).unwrap()
    };
    let first = written(one.path(), r#"{"b": {"y": 1, "x": [2, 1]}, "a": "text"}"#);
    assert_eq!(
        first,
        written(two.path(), r#"{"a": "text", "b": {"x": [2, 1], "y": 1}}"#)
    );
}
