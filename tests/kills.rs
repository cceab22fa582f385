//! If a command is killed before any of its system calls, it has either happened completely or not at all.

mod cli;
mod earlier;

use cli::{assert_same, binary, kubewright, project, skip, tree};
use kubewright::write::{Access, Root};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    assert!(
        Command::new("cp")
            .arg("-R")
            .arg(from.join("."))
            .arg(to)
            .status()
            .unwrap()
            .success()
    );
}

/// The system calls that may change a disk.
const CALLS: &str = "creat,fsync,ftruncate,link,linkat,mkdir,mkdirat,openat,openat2,rename,renameat,renameat2,rmdir,unlink,unlinkat,write,writev";

/// One of these calls in a run: the n-th of its name, as strace counts them.
struct Call {
    name: String,
    nth: usize,
}

fn strace(options: &[&str], dir: &Path, args: &[&str]) -> ExitStatus {
    Command::new("strace")
        .args(["-f", "-qq"])
        .args(options)
        .arg(binary())
        .arg("--dir")
        .arg(dir)
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap()
}

/// The calls of a command that change the disk. Between two of them nothing changes on it, so a kill there is equal to one
/// before the next of them.
fn changes(dir: &Path, args: &[&str]) -> Vec<Call> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let options = ["-e", &format!("trace={CALLS}"), "-o", log.path().to_str().unwrap()];
    assert!(strace(&options, dir, args).success());
    let mut counts = BTreeMap::new();
    let mut changes = Vec::new();
    for line in fs::read_to_string(log.path()).unwrap().lines() {
        let (start, rest) = line.split_once('(').unwrap();
        let name = start.split_whitespace().next_back().unwrap().to_owned();
        let nth = counts.entry(name.clone()).or_insert(0);
        *nth += 1;
        let changes_nothing = match &*name {
            "openat" | "openat2" => !rest.contains("O_CREAT") && !rest.contains("O_TRUNC"),
            // To the terminal.
            "write" => rest.starts_with("1, ") || rest.starts_with("2, "),
            _ => false,
        };
        if !changes_nothing {
            let nth = *nth;
            changes.push(Call { name, nth });
        }
    }
    changes
}

/// Kills `kubewright` before this call.
fn kill_before(Call { name, nth }: &Call, dir: &Path, args: &[&str]) {
    let inject = format!("inject={name}:signal=SIGKILL:when={nth}");
    let options = ["-e", &format!("trace={name}"), "-e", &inject, "-o", "/dev/null"];
    assert!(!strace(&options, dir, args).success(), "not killed: {inject}");
}

/// Kills the command, run on copies of `start`, before each of its changes that is chosen. What the next command then finds
/// is the state before or after it.
fn survives(start: &Path, args: &[&str], chosen: impl Fn(usize) -> bool) {
    let end = tempfile::tempdir().unwrap();
    copy(start, end.path());
    let changes = changes(end.path(), args);
    let (before, after) = (tree(start), tree(end.path()));
    let mut counts = [0, 0];
    for (_, call) in changes.iter().enumerate().filter(|(nth, _)| chosen(*nth)) {
        let dir = tempfile::tempdir().unwrap();
        copy(start, dir.path());
        kill_before(call, dir.path(), args);
        let left = dir.path().join(".kubewright").exists();
        // As every command that writes begins.
        drop(Root::open(dir.path(), Access::Write, || {}).unwrap());
        assert!(!dir.path().join(".kubewright").exists());
        let found = tree(dir.path());
        assert!(
            found == before || found == after,
            "half done when killed before {} {}",
            call.name,
            call.nth
        );
        counts[usize::from(found == after)] += usize::from(left);
    }
    assert!(
        counts[0] > 0 && counts[1] > 10,
        "the kills missed the writing: {counts:?}"
    );
}

/// The number of changes between two kills. With KUBEWRIGHT_NIGHTLY there is a kill before each change.
fn step(usual: usize) -> usize {
    if std::env::var_os("KUBEWRIGHT_NIGHTLY").is_some() {
        1
    } else {
        usual
    }
}

fn strace_works() -> bool {
    Command::new("strace")
        .args(["-o", "/dev/null", "-e", "inject=getuid:signal=SIGKILL:when=99", "true"])
        .status()
        .is_ok_and(|s| s.success())
}

#[test]
fn create_api_killed_before_any_change_happens_completely_or_not_at_all() {
    if !strace_works() {
        return skip("strace cannot inject signals here");
    }
    let start = project();
    // Most of the files, which are not part of this command's changes.
    fs::remove_dir_all(start.path().join("crates")).unwrap();
    let args = [
        "create",
        "api",
        "--group",
        "test",
        "--version",
        "v1",
        "--kind",
        "FooBar",
    ];
    survives(start.path(), &args, |_| true);
}

#[test]
fn init_killed_at_any_time_happens_completely_or_not_at_all() {
    if !strace_works() {
        return skip("strace cannot inject signals here");
    }
    // Vendored crates are a thousand more files. Their texts are not in the journal, nor are archives.
    for (crates, step) in [("registry", step(4)), ("archives", step(9)), ("vendored", 257)] {
        let args = [
            "init",
            "--domain=example.com",
            "--project-name=foobar-operator",
            "--year=2026",
            "--crates",
            crates,
        ];
        let end = tempfile::tempdir().unwrap();
        let changes = changes(end.path(), &args);
        let after = tree(end.path());
        // The last changes move what was written into its place.
        let last = changes.len() - 16;
        for (_, call) in changes
            .iter()
            .enumerate()
            .filter(|(nth, _)| nth % step == 0 || *nth > last)
        {
            let dir = tempfile::tempdir().unwrap();
            kill_before(call, dir.path(), &args);
            // In any case, running it again completes it.
            kubewright(dir.path(), &args).succeeds();
            assert_same(&after, &tree(dir.path()));
            assert!(!dir.path().join(".kubewright").exists());
        }
    }
}

/// A project of the first release, without most of the files of the vendored crates.
fn earlier_project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    earlier::write(&"0.1.0".parse().unwrap(), "one", dir.path());
    for name in ["apiserver", "machinery", "runtime", "schema"] {
        // An ejected crate is not replaced.
        let folder = dir.path().join("crates").join(name);
        fs::remove_dir_all(folder.join("src")).unwrap();
        fs::remove_file(folder.join("VERSION")).unwrap();
    }
    dir
}

#[test]
fn an_upgrade_killed_while_it_writes_happens_completely_or_not_at_all() {
    if !strace_works() {
        return skip("strace cannot inject signals here");
    }
    // Each call until the journal is written and the first files are.
    survives(earlier_project().path(), &["upgrade"], |nth| {
        nth < 24 || nth % step(8) == 0
    });
}
