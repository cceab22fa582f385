//! Attacks on the command line by a hostile checkout, a hostile file or another user of the machine, and that they are
//! refused: each module is named after an attack.
#![cfg(unix)]

#[path = "../cli/mod.rs"]
mod cli;

mod costly_text;
mod edited_crates;
mod foreign_journal;
mod injected_text;
mod shared_machine;
mod special_files;
mod symbolic_links;
mod toolchain_file;

use cli::Run;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A command that does not end by then hangs: a command that computes is killed after 20 s of processor time. A refusal takes
/// milliseconds; the rest is for busy machines.
const PATIENCE: Duration = Duration::from_secs(120);

/// All files below a folder, with links as their targets, `.git` included.
fn everything(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    walk(folder, "", &mut found);
    found
}

fn walk(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.insert(format!("{path}/"), Vec::new());
            walk(&entry.path(), &format!("{path}/"), found);
        } else if kind.is_symlink() {
            let target = fs::read_link(entry.path()).unwrap();
            found.insert(path, format!("-> {}", target.display()).into_bytes());
        } else if kind.is_file() {
            found.insert(path, fs::read(entry.path()).unwrap());
        } else {
            found.insert(path, b"special".to_vec());
        }
    }
}

/// Runs `kubewright --dir <dir> <args>` with at most 1 GiB of address space, and fails if it hangs.
#[track_caller]
fn guarded(dir: &Path, args: &[&str]) -> Run {
    let child = Command::new("sh")
        .args([
            "-c",
            "ulimit -v 1048576; ulimit -t 20; exec \"$@\"",
            "sh",
            cli::binary(),
            "--dir",
        ])
        .arg(dir)
        .args(args)
        .env("KUBECONFIG", "/nonexistent")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = child.id().to_string();
    let output = std::thread::spawn(move || child.wait_with_output().unwrap());
    let start = Instant::now();
    while !output.is_finished() {
        if start.elapsed() > PATIENCE {
            let _ = Command::new("kill").args(["-KILL", &id]).status();
            panic!("`kubewright {}` hangs", args.join(" "));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Run::of(output.join().unwrap())
}

/// The commands for a project.
const COMMANDS: [&[&str]; 8] = [
    &["plan"],
    &["doctor"],
    &["sync"],
    &["sync", "--dry-run"],
    &[
        "create",
        "api",
        "--group",
        "test",
        "--version",
        "v1",
        "--kind",
        "FooBar",
    ],
    &[
        "create",
        "api",
        "--group",
        "test",
        "--version",
        "v1",
        "--kind",
        "FooBar",
        "--dry-run",
    ],
    &["delete", "api", "--group", "test", "--version", "v1", "--kind", "Datum"],
    &["eject", "runtime"],
];

/// A project with a kind. It is created once; each test has a copy.
fn whole_project() -> tempfile::TempDir {
    copy(made())
}

/// A project with a kind, but without most of the vendored crates, which take most of every command's time.
fn project() -> tempfile::TempDir {
    static PROJECT: OnceLock<tempfile::TempDir> = OnceLock::new();
    copy(PROJECT.get_or_init(|| {
        let dir = copy(made());
        for name in ["apiserver", "machinery", "manifests", "runtime", "schema"] {
            let folder = dir.path().join("crates").join(name);
            fs::remove_dir_all(&folder).unwrap();
            fs::create_dir_all(folder.join("src")).unwrap();
            fs::write(folder.join("VERSION"), "").unwrap();
        }
        dir
    }))
}

fn made() -> &'static tempfile::TempDir {
    static PROJECT: OnceLock<tempfile::TempDir> = OnceLock::new();
    PROJECT.get_or_init(|| {
        let dir = cli::project();
        cli::create(dir.path(), "test", "Datum").succeeds();
        dir
    })
}

fn copy(made: &tempfile::TempDir) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut cp = Command::new("cp");
    let copied = cp.arg("-R").arg(made.path().join(".")).arg(dir.path()).status();
    assert!(copied.unwrap().success());
    dir
}

/// The output of a run, on stdout and stderr.
fn printed(run: &Run) -> String {
    format!("{}{}", run.stdout, run.stderr)
}
