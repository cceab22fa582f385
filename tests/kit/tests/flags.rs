//! What an operator prints about itself, on an output that cannot be written.

#![cfg(target_os = "linux")]

use std::{
    fs::File,
    process::{Command, Stdio},
};

const OPERATOR: &str = env!("CARGO_BIN_EXE_kit");
/// Arguments that end the process with 0.
const PRINTING: [&[&str]; 5] = [
    &["--help"],
    &["-h"],
    &["--version"],
    &["help", "manifests"],
    &["migrate-storage", "--help"],
];

#[test]
fn help_that_cannot_be_written_is_an_error() {
    for args in PRINTING {
        let mut command = Command::new(OPERATOR);
        command
            .args(args)
            .stdout(File::options().write(true).open("/dev/full").expect("a full disk"));
        let output = command.output().expect("the operator runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {stderr}");
        assert!(
            stderr.starts_with("error: cannot write the standard output: No space left on device"),
            "{args:?}: {stderr}"
        );
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    for args in PRINTING {
        let mut command = Command::new(OPERATOR);
        command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the operator runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{args:?}");
    }
}

#[test]
fn wrong_flags_are_an_error_of_usage() {
    let run = |args: &[&str]| Command::new(OPERATOR).args(args).output().expect("the operator runs");
    let wrong = run(&["--no-such-flag"]);
    assert_eq!((wrong.status.code(), wrong.stdout.len()), (Some(2), 0));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("--no-such-flag"));
    let version = run(&["--version"]);
    assert_eq!((version.status.code(), version.stderr.len()), (Some(0), 0));
    assert!(String::from_utf8_lossy(&version.stdout).starts_with("kit "));
}
