//! A checkout that contains a journal, so that a command would write its contents.

use crate::{COMMANDS, everything, guarded, printed, project};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A journal with one step, for the project at `dir`.
fn journal(dir: &Path, path: &str) -> String {
    let found = fs::metadata(dir).unwrap();
    serde_json::json!({
        "folder": {"path": dir.canonicalize().unwrap(), "device": found.dev(), "inode": found.ino()},
        "steps": [{"path": path, "executable": true, "before": null, "after": "#!/bin/sh\ntouch /tmp/owned\n"}],
    })
    .to_string()
}

#[test]
fn no_command_executes_a_journal_of_a_fresh_clone() {
    let dir = project();
    fs::create_dir_all(dir.path().join(".git/hooks")).unwrap();
    fs::create_dir(dir.path().join(".kubewright")).unwrap();
    for path in [
        ".git/hooks/pre-commit",
        ".GIT/hooks/pre-commit",
        "build.rs",
        "../outside",
    ] {
        fs::write(dir.path().join(".kubewright/journal"), journal(dir.path(), path)).unwrap();
        let before = everything(dir.path());
        for args in COMMANDS {
            let run = guarded(dir.path(), args);
            assert_eq!(run.code, Some(1), "{args:?}: {}", printed(&run));
            assert!(
                printed(&run).contains("`.kubewright/journal` was not written by a command that you ran"),
                "{args:?}: {}",
                printed(&run)
            );
            assert!(before == everything(dir.path()), "{args:?} changed something");
        }
    }
}

#[test]
fn an_invalid_journal_is_refused_too() {
    let dir = project();
    fs::create_dir(dir.path().join(".kubewright")).unwrap();
    for text in [&b""[..], b"{}", b"\xff\xfe", b"[[[[[[[[[["] {
        fs::write(dir.path().join(".kubewright/journal"), text).unwrap();
        let run = guarded(dir.path(), &["sync"]).refuses(1, &["was not written by a command", "hint: "]);
        assert!(dir.path().join(".kubewright/journal").exists(), "{}", run.stderr);
    }
}

#[test]
fn records_in_a_checkout_do_not_count() {
    let dir = project();
    let text = journal(dir.path(), "build.rs");
    fs::create_dir(dir.path().join(".kubewright")).unwrap();
    fs::write(dir.path().join(".kubewright/journal"), &text).unwrap();
    // As if the checkout were the home folder.
    let state = dir.path().join(".local/state/kubewright");
    fs::create_dir_all(&state).unwrap();
    fs::write(state.join(kubewright::render::header::sha256(&text)), "").unwrap();
    for variable in ["HOME", "XDG_STATE_HOME"] {
        let home = if variable == "HOME" {
            dir.path().to_owned()
        } else {
            dir.path().join(".local/state")
        };
        let mut command = crate::cli::command(dir.path(), &["sync"]);
        command.env_remove("XDG_STATE_HOME").env(variable, home);
        crate::cli::Run::of(command.output().unwrap()).refuses(1, &["was not written by a command"]);
        assert!(!dir.path().join("build.rs").exists());
    }
}

#[test]
fn commands_work_without_a_home_folder() {
    let dir = tempfile::tempdir().unwrap();
    let (target, temporary) = (dir.path().join("project"), dir.path().join("tmp"));
    fs::create_dir(&temporary).unwrap();
    let init = ["init", "--domain", "example.com", "--project-name", "x"];
    for (home, at) in [(None, "a"), (Some("/nonexistent"), "b"), (Some("/proc"), "c")] {
        let mut command = crate::cli::command(&target.join(at), &init);
        command
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_RUNTIME_DIR")
            .env_remove("HOME")
            .env("TMPDIR", &temporary);
        if let Some(home) = home {
            command.env("HOME", home);
        }
        crate::cli::Run::of(command.output().unwrap()).succeeds();
    }
    let mut command = crate::cli::command(&target.join("d"), &init);
    command
        .env_remove("XDG_STATE_HOME")
        .env_remove("XDG_RUNTIME_DIR")
        .env_remove("HOME")
        .env("TMPDIR", "/proc");
    crate::cli::Run::of(command.output().unwrap()).refuses(
        1,
        &[
            "cannot record outside of the project",
            "nothing was changed",
            "hint: set `XDG_STATE_HOME`",
        ],
    );
    assert!(!target.join("d").exists());
}
