//! A checkout with a `rust-toolchain.toml` that names its own programs, which rustup would run.

use crate::{cli, project};
use std::fs;

#[test]
fn doctor_runs_programs_outside_of_the_project() {
    let dir = project();
    let tools = tempfile::tempdir().unwrap();
    for program in ["cargo", "rustc", "kubectl", "make", "cc"] {
        let path = tools.path().join(program);
        fs::write(&path, "#!/bin/sh\npwd >> \"$0.ran-in\"\necho \"$0 99.0.0\"\n").unwrap();
        cli::set_executable(&path, true);
    }
    let mut command = std::process::Command::new(cli::binary());
    command
        .arg("doctor")
        .current_dir(dir.path())
        .env("PATH", tools.path())
        .env("KUBECONFIG", "/nonexistent");
    // Only builtins of the shell are used, so no other program is needed.
    let run = cli::Run::of(command.output().unwrap()).succeeds();
    for program in ["cargo", "rustc", "kubectl", "make", "cc"] {
        let ran = fs::read_to_string(tools.path().join(format!("{program}.ran-in"))).unwrap();
        assert_eq!(ran.trim(), "/", "{}", run.stdout);
    }
}
