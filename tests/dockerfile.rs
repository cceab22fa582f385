//! The Dockerfile of a generated project: which compiler each platform gets.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

/// The command that chooses the Rust target and installs its linker.
fn choice() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/one/Dockerfile");
    let text = fs::read_to_string(file).unwrap();
    let lines = text
        .lines()
        .skip_while(|line| !line.starts_with("RUN case \"$TARGETARCH\""));
    let mut taken = Vec::new();
    for line in lines {
        taken.push(line);
        if !line.ends_with('\\') {
            break;
        }
    }
    taken.join("\n").strip_prefix("RUN ").unwrap().to_owned()
}

/// Runs it on a build machine with amd64, with programs that only write down their arguments.
fn choose(arch: &str) -> (Output, String, String) {
    let dir = tempfile::tempdir().unwrap();
    for program in ["rustup", "apt-get", "rm"] {
        let path = dir.path().join(program);
        fs::write(&path, format!("#!/bin/sh\necho {program} \"$@\" >>\"$LOG\"\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", dir.path().display(), env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", &choice()]).env("PATH", path);
    shell.env("TARGETARCH", arch).env("BUILDARCH", "amd64");
    shell.env("CARGO_HOME", dir.path()).env("LOG", dir.path().join("log"));
    let output = shell.output().unwrap();
    let read = |file: &str| fs::read_to_string(dir.path().join(file)).unwrap_or_default();
    (output, read("log"), read("config.toml"))
}

#[test]
fn each_platform_gets_its_rust_target_and_debians_cross_compiler_for_it() {
    for (arch, target, compiler) in [
        ("amd64", "x86_64-unknown-linux-gnu", None),
        (
            "arm64",
            "aarch64-unknown-linux-gnu",
            Some("gcc-aarch64-linux-gnu libc6-dev-arm64-cross"),
        ),
        (
            "ppc64le",
            "powerpc64le-unknown-linux-gnu",
            Some("gcc-powerpc64le-linux-gnu libc6-dev-ppc64el-cross"),
        ),
        (
            "s390x",
            "s390x-unknown-linux-gnu",
            Some("gcc-s390x-linux-gnu libc6-dev-s390x-cross"),
        ),
    ] {
        let (output, log, config) = choose(arch);
        assert!(
            output.status.success(),
            "{arch}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(log.contains(&format!("rustup target add {target}\n")), "{log}");
        match compiler {
            Some(packages) => assert!(log.contains(&format!(" {packages}\n")), "{log}"),
            None => assert!(!log.contains("apt-get"), "{log}"),
        }
        let gcc = target.replace("-unknown", "");
        assert_eq!(
            config,
            format!("[build]\ntarget = \"{target}\"\n[target.{target}]\nlinker = \"{gcc}-gcc\"\n")
        );
    }
}

#[test]
fn a_platform_without_a_compiler_is_refused_by_name() {
    let (output, log, _) = choose("riscv64");
    assert!(!output.status.success() && log.is_empty(), "{log}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("no compiler is known for riscv64"), "{errors}");
}
