//! The test driver: runs the built `kubewright` and reads folders.
#![allow(dead_code, reason = "every test binary uses its own part of the driver")]

pub mod golden;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The crates of a project without webhooks, by the names of their folders.
pub const CRATES: [&str; 6] = ["apiserver", "cel", "machinery", "manifests", "runtime", "schema"];

/// A file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub bytes: Vec<u8>,
    pub executable: bool,
}

/// The files below a folder, by path with `/`.
pub type Tree = BTreeMap<String, File>;

pub fn tree(folder: &Path) -> Tree {
    let mut found = Tree::new();
    walk(folder, "", &mut found);
    found
}

fn walk(folder: &Path, prefix: &str, found: &mut Tree) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.map(Result::unwrap) {
        let path = format!("{prefix}{}", entry.file_name().into_string().unwrap());
        if path == "target" || path == ".git" {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            walk(&entry.path(), &format!("{path}/"), found);
        } else {
            let file = File {
                bytes: fs::read(entry.path()).unwrap(),
                executable: is_executable(&entry.path()),
            };
            found.insert(path, file);
        }
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_path: &Path) -> bool {
    false
}

#[cfg(unix)]
pub fn set_executable(path: &Path, executable: bool) {
    use std::os::unix::fs::PermissionsExt;
    let mode = if executable { 0o755 } else { 0o644 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
pub fn set_executable(_path: &Path, _executable: bool) {}

/// The result of a run.
pub struct Run {
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
}

impl Run {
    pub fn of(output: Output) -> Self {
        Self {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }

    #[track_caller]
    pub fn succeeds(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// Asserts the exit code `code`, and that stderr contains all of `words`.
    #[track_caller]
    pub fn refuses(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout: {}\nstderr: {}",
            self.stdout,
            self.stderr
        );
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` is not in: {}", self.stderr);
        }
        self
    }
}

pub fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_kubewright")
}

pub fn command<S: AsRef<OsStr>>(dir: &Path, args: &[S]) -> Command {
    let mut command = Command::new(binary());
    // These have no project, and refuse the option.
    let alone = ["apiserver", "completion", "envtest", "version"].map(OsStr::new);
    if !args.first().is_some_and(|first| alone.contains(&first.as_ref())) {
        command.arg("--dir").arg(dir);
    }
    command.args(args).stdin(Stdio::null());
    command
}

/// Runs `kubewright --dir <dir> <args>`.
pub fn kubewright<S: AsRef<OsStr>>(dir: &Path, args: &[S]) -> Run {
    Run::of(command(dir, args).output().unwrap())
}

/// A folder with a project in it.
pub fn project() -> tempfile::TempDir {
    static MADE: OnceLock<Tree> = OnceLock::new();
    made(&MADE, &INIT)
}

/// A copy of what a command makes in an empty folder. The command runs once in each process: it waits for the disk for each file.
fn made(made: &OnceLock<Tree>, args: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let files = made.get_or_init(|| {
        let first = tempfile::tempdir().unwrap();
        kubewright(first.path(), args).succeeds();
        tree(first.path())
    });
    for (path, file) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &file.bytes).unwrap();
        set_executable(&path, file.executable);
    }
    dir
}

/// A folder with a project whose crates are from a registry: a twentieth of the files, for tests that are not about crates.
pub fn project_without_crates() -> tempfile::TempDir {
    static MADE: OnceLock<Tree> = OnceLock::new();
    made(&MADE, &[&INIT[..], &["--crates", "registry"]].concat())
}

/// The command that makes the project of [`project`].
pub const INIT: [&str; 7] = [
    "init",
    "--domain",
    "example.com",
    "--project-name",
    "foobar-operator",
    "--year",
    "2026",
];

pub fn init(dir: &Path) {
    kubewright(dir, &INIT).succeeds();
}

pub fn create(dir: &Path, group: &str, kind: &str) -> Run {
    kubewright(
        dir,
        &["create", "api", "--group", group, "--version", "v1", "--kind", kind],
    )
}

/// Compares two trees, without what PROJECT and the managed files record of a run.
#[track_caller]
pub fn assert_same(before: &Tree, after: &Tree) {
    let gone: Vec<_> = before.keys().filter(|path| !after.contains_key(*path)).collect();
    let new: Vec<_> = after.keys().filter(|path| !before.contains_key(*path)).collect();
    let changed: Vec<_> = before
        .iter()
        .filter(|(path, file)| after.get(*path).is_some_and(|other| other != *file))
        .map(|(path, _)| path)
        .collect();
    assert!(
        gone.is_empty() && new.is_empty() && changed.is_empty(),
        "gone: {gone:?}, new: {new:?}, changed: {changed:?}"
    );
}

/// The words of a command line, as a shell would split it.
pub fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// Prints why a test was skipped; not through `eprintln`, which the test harness captures.
pub fn skip(reason: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr().lock(), "SKIPPED: {reason}");
}

/// The text of a file of a project.
#[track_caller]
pub fn read(dir: impl AsRef<Path>, file: &str) -> String {
    fs::read_to_string(dir.as_ref().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Replaces `from`, which the file has to contain.
#[track_caller]
pub fn replace(dir: impl AsRef<Path>, file: &str, from: &str, to: &str) {
    let text = read(&dir, file);
    assert!(text.contains(from), "`{file}` has no `{from}`");
    fs::write(dir.as_ref().join(file), text.replace(from, to)).unwrap();
}
