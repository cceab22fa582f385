//! Killed before any of its system calls, a command has happened or it has not.

mod cli;

use cli::{assert_same, binary, kubewright, project, skip, tree};
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

/// Kills `kubewright` before its n-th system call, and says whether it got that far.
fn killed_at(nth: usize, dir: &Path, args: &[&str]) -> bool {
    let status = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=all", "-e"])
        .arg(format!("inject=all:signal=SIGKILL:when={nth}"))
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

fn strace_works() -> bool {
    Command::new("strace")
        .args(["-o", "/dev/null", "-e", "inject=getuid:signal=SIGKILL:when=99", "true"])
        .status()
        .is_ok_and(|s| s.success())
}

#[test]
fn killed_at_any_system_call_create_api_has_happened_or_it_has_not() {
    if !strace_works() {
        return skip("strace cannot inject signals here");
    }
    let start = project();
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
    let end = tempfile::tempdir().unwrap();
    copy(start.path(), end.path());
    kubewright(end.path(), &args).succeeds();
    let (before, after) = (tree(start.path()), tree(end.path()));
    // The first calls load the program; the rest are tried one by one.
    let mut counts = [0, 0];
    for nth in (1..).skip(15) {
        let dir = tempfile::tempdir().unwrap();
        copy(start.path(), dir.path());
        let killed = killed_at(nth, dir.path(), &args);
        let left = dir.path().join(".kubewright").exists();
        kubewright(dir.path(), &["plan"]).succeeds();
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

#[test]
fn killed_on_the_way_init_has_happened_or_it_has_not() {
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
    kubewright(end.path(), &args).succeeds();
    let after = tree(end.path());
    for nth in (1..).step_by(41).skip(1) {
        let dir = tempfile::tempdir().unwrap();
        let killed = killed_at(nth, dir.path(), &args);
        // Whatever happened, running it again is the way out.
        kubewright(dir.path(), &args).succeeds();
        assert_same(&after, &tree(dir.path()));
        assert!(!dir.path().join(".kubewright").exists());
        if !killed {
            break;
        }
    }
}

#[test]
fn an_interrupted_command_is_completed_by_the_next() {
    let dir = project();
    let journal = r#"{"steps":[{"path":"notes/today","executable":false,"before":null,"after":"done\n"}]}"#;
    fs::create_dir(dir.path().join(".kubewright")).unwrap();
    fs::write(dir.path().join(".kubewright/journal"), journal).unwrap();
    let run = kubewright(dir.path(), &["plan"]).succeeds();
    assert!(
        run.stderr.contains("completed a command that had been interrupted"),
        "{}",
        run.stderr
    );
    assert_eq!(fs::read_to_string(dir.path().join("notes/today")).unwrap(), "done\n");
    assert!(!dir.path().join(".kubewright").exists());
}
