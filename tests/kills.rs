//! If a command is killed before any of its system calls, it has either happened completely or not at all.

mod cli;
mod earlier;

use cli::{assert_same, binary, kubewright, project, skip, tree};
use kubewright::write::{Access, Root};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

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

/// The system calls that change a disk. Between two of them nothing changes on it, so a kill there is equal to one
/// before the next of them.
const CALLS: &str = "creat,fsync,ftruncate,link,linkat,mkdir,mkdirat,openat,openat2,rename,renameat,renameat2,rmdir,unlink,unlinkat,write,writev";

/// Kills `kubewright` before the n-th system call that may change a disk, and returns whether it reached that call.
fn killed_at(nth: usize, dir: &Path, args: &[&str]) -> bool {
    let status = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e"])
        .arg(format!("trace={CALLS}"))
        .arg("-e")
        .arg(format!("inject={CALLS}:signal=SIGKILL:when={nth}"))
        .arg(binary())
        .arg("--dir")
        .arg(dir)
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    !status.success()
}

/// The first of these calls that creates something.
fn first_change(dir: &Path, args: &[&str]) -> usize {
    let calls = tempfile::NamedTempFile::new().unwrap();
    let status = Command::new("strace")
        .args(["-f", "-qq", "-e", &format!("trace={CALLS}"), "-o"])
        .arg(calls.path())
        .arg(binary())
        .arg("--dir")
        .arg(dir)
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.unwrap().success());
    let calls = fs::read_to_string(calls.path()).unwrap();
    calls.lines().position(|call| call.contains("mkdirat(")).unwrap()
}

/// Kills the command, run on copies of `start`, before each of its calls that is chosen, counted from the first one that
/// changes something: all earlier ones only read. What the next command then finds is the state before or after it.
fn survives(start: &Path, args: &[&str], chosen: impl Fn(usize) -> bool) {
    let end = tempfile::tempdir().unwrap();
    copy(start, end.path());
    let first = first_change(end.path(), args);
    let (before, after) = (tree(start), tree(end.path()));
    let mut counts = [0, 0];
    for nth in (first..).filter(|nth| chosen(nth - first)) {
        let dir = tempfile::tempdir().unwrap();
        copy(start, dir.path());
        let killed = killed_at(nth, dir.path(), args);
        let left = dir.path().join(".kubewright").exists();
        // As every command that writes begins.
        drop(Root::open(dir.path(), Access::Write, || {}).unwrap());
        assert!(!dir.path().join(".kubewright").exists());
        let found = tree(dir.path());
        assert!(
            found == before || found == after,
            "half done when killed at system call {nth}"
        );
        counts[usize::from(found == after)] += usize::from(killed && left);
        if !killed {
            break;
        }
    }
    assert!(
        counts[0] > 0 && counts[1] > 10,
        "the kills missed the writing: {counts:?}"
    );
}

/// The number of calls between two kills: a kill costs half a second. With KUBEWRIGHT_NIGHTLY each call is tried.
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
fn create_api_killed_at_any_write_call_happens_completely_or_not_at_all() {
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
    survives(start.path(), &args, |nth| nth < 24 || nth % step(3) == 0);
}

#[test]
fn init_killed_at_any_time_happens_completely_or_not_at_all() {
    if !strace_works() {
        return skip("strace cannot inject signals here");
    }
    let args = [
        "init",
        "--domain",
        "example.com",
        "--project-name",
        "foobar-operator",
        "--year",
        "2026",
    ];
    let end = tempfile::tempdir().unwrap();
    let first = first_change(end.path(), &args);
    let after = tree(end.path());
    for nth in (first..).step_by(211) {
        let dir = tempfile::tempdir().unwrap();
        let killed = killed_at(nth, dir.path(), &args);
        // In any case, running it again completes it.
        kubewright(dir.path(), &args).succeeds();
        assert_same(&after, &tree(dir.path()));
        assert!(!dir.path().join(".kubewright").exists());
        if !killed {
            break;
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
