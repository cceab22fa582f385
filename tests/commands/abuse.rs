//! Commands under adverse conditions: run concurrently, on full and read-only disks, in unusual folders and after
//! merges.

use crate::cli::{Run, assert_same, binary, command, create, init, kubewright, project, skip, tree};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn concurrent_runs_lose_no_change() {
    let dir = project();
    let kinds = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon"];
    let running: Vec<_> = kinds
        .iter()
        .map(|kind| {
            let mut command = command(
                dir.path(),
                &["create", "api", "--group", "test", "--version", "v1", "--kind", kind],
            );
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in running {
        assert!(child.wait().unwrap().success());
    }
    let registry = fs::read_to_string(dir.path().join("src/controllers/mod.rs")).unwrap();
    for kind in kinds {
        assert!(
            registry.contains(&format!("pub mod {};", kind.to_lowercase())),
            "{kind} is lost: {registry}"
        );
    }
    let plan = kubewright(dir.path(), &["plan"]).succeeds().stdout;
    assert!(
        plan.lines()
            .filter(|line| line.contains("managed"))
            .all(|line| line.contains("clean")),
        "{plan}"
    );
}

#[test]
fn two_concurrent_inits_create_one_project() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("new/project");
    let args = ["init", "--domain", "example.com", "--project-name", "foobar-operator"];
    let running: Vec<_> = (0..4)
        .map(|_| {
            command(&target, &args)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in running {
        assert!(child.wait().unwrap().success());
    }
    assert!(target.join("PROJECT").exists() && !target.join(".kubewright").exists());
}

/// Runs a shell script with a mount name space of its own; `None` if that is not allowed here.
fn in_own_mounts(script: &str) -> Option<Run> {
    let allowed = Command::new("unshare")
        .args(["-m", "mount", "-t", "tmpfs", "none", "/mnt"])
        .stderr(Stdio::null())
        .status();
    if !allowed.is_ok_and(|status| status.success()) {
        return None;
    }
    Some(Run::of(
        Command::new("unshare")
            .args(["-m", "bash", "-c", script])
            .stdin(Stdio::null())
            .output()
            .unwrap(),
    ))
}

#[test]
fn a_read_only_folder_is_named() {
    let dir = project();
    let before = tree(dir.path());
    let (path, binary) = (dir.path().display(), binary());
    let script = format!(
        "mount --bind '{path}' '{path}' && mount -o remount,bind,ro '{path}' && \
         '{binary}' --dir '{path}' create api --group test --version v1 --kind FooBar"
    );
    let Some(run) = in_own_mounts(&script) else {
        return skip("a folder cannot be made read-only here");
    };
    run.refuses(1, &["nothing was changed", "Read-only file system", "hint: "]);
    assert_same(&before, &tree(dir.path()));
    let script = format!(
        "mount --bind '{path}' '{path}' && mount -o remount,bind,ro '{path}' && '{binary}' --dir '{path}' plan"
    );
    in_own_mounts(&script).unwrap().succeeds();
}

#[test]
fn a_full_disk_changes_nothing() {
    let binary = binary();
    // Enough space for the journal and some of the files, for the journal alone, for very little.
    for kilobytes in [2600, 1500, 900, 300, 24] {
        let script = format!(
            "mount -t tmpfs -o size={kilobytes}k none /mnt && \
             '{binary}' --dir /mnt/p init --domain example.com --project-name foobar-operator; code=$?; \
             find /mnt -mindepth 1 | head -3; exit $code"
        );
        let Some(run) = in_own_mounts(&script) else {
            return skip("a small disk cannot be made here");
        };
        if run.code == Some(0) {
            continue;
        }
        let run = run.refuses(
            1,
            &["nothing was changed", "No space left", "hint: free space on the disk"],
        );
        assert_eq!(run.stdout, "", "with {kilobytes} kB the folder is not empty");
    }
}

#[test]
fn a_file_where_a_folder_should_be_is_refused() {
    let dir = project();
    fs::write(dir.path().join("api/src/test"), "mine").unwrap();
    let before = tree(dir.path());
    create(dir.path(), "test", "FooBar").refuses(1, &["`api/src/test` is a file", "needs a folder", "hint: "]);
    assert_same(&before, &tree(dir.path()));
}

#[test]
fn existing_files_are_listed_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("src")).unwrap();
    fs::write(dir.path().join("src/main.rs"), "fn main() {}").unwrap();
    fs::write(dir.path().join("Makefile"), "all:").unwrap();
    let before = tree(dir.path());
    kubewright(dir.path(), &["init", "--domain", "example.com", "--project-name", "x"])
        .refuses(1, &["`Makefile`, `src/main.rs` exist already", "hint: "]);
    assert_same(&before, &tree(dir.path()));
}

/// Converts every text file to the line ends of Windows, as git does there.
fn to_crlf(dir: &Path) {
    for (path, file) in tree(dir) {
        let text = String::from_utf8(file.bytes).unwrap();
        fs::write(dir.join(path), text.replace("\r\n", "\n").replace('\n', "\r\n")).unwrap();
    }
}

#[test]
fn line_ends_of_windows_are_not_an_edit() {
    let dir = project();
    create(dir.path(), "test", "FooBar").succeeds();
    to_crlf(dir.path());
    let states = |run: Run| {
        let ours = |line: &&str| !line.contains("derived") && !line.contains("clean");
        run.stdout.lines().filter(ours).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(states(kubewright(dir.path(), &["plan"]).succeeds()), [""; 0]);
    create(dir.path(), "test", "Second").succeeds();
    assert_eq!(states(kubewright(dir.path(), &["plan"]).succeeds()), [""; 0]);
    let registry = fs::read_to_string(dir.path().join("src/controllers/mod.rs")).unwrap();
    assert_eq!(
        registry.matches('\n').count(),
        registry.matches("\r\n").count(),
        "the file keeps its line ends"
    );
    kubewright(
        dir.path(),
        &[
            "delete",
            "api",
            "--group",
            "test",
            "--version",
            "v1",
            "--kind",
            "FooBar",
        ],
    )
    .succeeds();
    assert!(!dir.path().join("src/controllers/foobar.rs").exists());
}

#[test]
fn paths_may_contain_spaces_and_non_ascii_letters() {
    let dir = tempfile::tempdir().unwrap();
    let odd = dir.path().join("mein Projekt – übel's");
    let run = kubewright(&odd, &["init", "--domain", "example.com"]);
    run.refuses(2, &["name the project with `--project-name`"]);
    assert!(!odd.exists(), "a refused command leaves no folder");
    init(&odd);
    create(&odd, "test", "FooBar").succeeds();
    kubewright(&odd, &["sync"]).succeeds();
    assert!(odd.join("src/controllers/foobar.rs").exists());
}

fn git(dir: &Path, args: &[&str]) -> bool {
    let identity = [
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.com",
        "-c",
        "core.autocrlf=false",
        "-c",
        "init.defaultBranch=main",
    ];
    Command::new("git")
        .current_dir(dir)
        .args(identity)
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap()
        .success()
}

/// Keeps both sides of every conflict.
fn keep_both(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    let marks = ["<<<<<<< ", "=======", ">>>>>>> "];
    let kept: Vec<_> = text
        .lines()
        .filter(|line| !marks.iter().any(|mark| line.starts_with(mark)))
        .collect();
    fs::write(path, kept.join("\n") + "\n").unwrap();
}

#[test]
fn two_branches_that_add_a_kind_each_merge_by_project_and_sync() {
    merges(Resolved::Project);
    merges(Resolved::All);
}

/// The files in which a user keeps the lines of both branches.
#[derive(PartialEq)]
enum Resolved {
    Project,
    /// As with "accept both" of an editor.
    All,
}

/// Merges two branches that add a kind each, and runs `sync`.
fn merges(resolved: Resolved) {
    let dir = project();
    let path = dir.path();
    create(path, "test", "Base").succeeds();
    assert!(git(path, &["init"]) && git(path, &["add", "-A"]) && git(path, &["commit", "-m", "base"]));
    assert!(git(path, &["switch", "-c", "other"]));
    create(path, "test", "Left").succeeds();
    assert!(git(path, &["add", "-A"]) && git(path, &["commit", "-m", "left"]) && git(path, &["switch", "main"]));
    create(path, "test", "Right").succeeds();
    assert!(git(path, &["add", "-A"]) && git(path, &["commit", "-m", "right"]));
    assert!(!git(path, &["merge", "other"]), "the merge was expected to conflict");

    kubewright(path, &["sync"]).refuses(1, &["`PROJECT` has merge conflict markers", "hint: resolve `PROJECT`"]);
    let is_conflicted = |file: &crate::cli::File| file.bytes.windows(8).any(|at| at == b"<<<<<<< ");
    let is_resolved = |path: &str| path == "PROJECT" || resolved == Resolved::All;
    for (file, _) in tree(path)
        .iter()
        .filter(|(path, file)| is_resolved(path) && is_conflicted(file))
    {
        keep_both(&path.join(file));
    }
    if resolved == Resolved::All {
        let plan = kubewright(path, &["plan"]).succeeds().stdout;
        assert!(plan.contains("stale") && !plan.contains("edited"), "{plan}");
    }
    kubewright(path, &["sync"]).succeeds();

    let sequential = project();
    ["Base", "Left", "Right"]
        .iter()
        .for_each(|kind| drop(create(sequential.path(), "test", kind).succeeds()));
    let merged = tree(path);
    let mut wanted = tree(sequential.path());
    // PROJECT keeps the order and comments of the user's resolution.
    wanted.insert("PROJECT".into(), merged["PROJECT"].clone());
    assert_same(&wanted, &merged);
    kubewright(path, &["sync"]).succeeds();
}

#[test]
fn a_licence_header_above_the_header_stays() {
    let dir = project();
    create(dir.path(), "test", "FooBar").succeeds();
    let header = "// Copyright ACME\n// All rights reserved\n\n";
    for (path, file) in tree(dir.path())
        .into_iter()
        .filter(|(path, _)| path.ends_with(".rs") && !path.starts_with("crates/"))
    {
        fs::write(dir.path().join(path), [header.as_bytes(), &file.bytes].concat()).unwrap();
    }
    create(dir.path(), "test", "Second").succeeds();
    let registry = fs::read_to_string(dir.path().join("src/controllers/mod.rs")).unwrap();
    assert!(
        registry.starts_with(header) && registry.contains("pub mod second;"),
        "{registry}"
    );
    kubewright(
        dir.path(),
        &[
            "delete",
            "api",
            "--group",
            "test",
            "--version",
            "v1",
            "--kind",
            "FooBar",
        ],
    )
    .succeeds();
    assert!(
        !dir.path().join("src/controllers/foobar.rs").exists(),
        "a comment on top is not an edit"
    );
}

#[test]
fn sync_deletes_no_copy_of_a_managed_file_and_reads_no_other_file() {
    let dir = project();
    create(dir.path(), "test", "FooBar").succeeds();
    let project = tree(dir.path());
    let copy = |from: &str, to: &str| {
        for (path, file) in project
            .iter()
            .filter_map(|(path, file)| Some((path.strip_prefix(from)?, file)))
        {
            let path = dir.path().join(format!("{to}{path}"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &file.bytes).unwrap();
        }
    };
    copy("config/samples/", "config/samples-staging/");
    copy("config/rbac/", "config/rbac/copy/");
    copy("", "tests/fixtures/other/");
    copy("", "api/src/other/");
    let seed = dir.path().join("tests/data/seed.bin");
    fs::create_dir_all(seed.parent().unwrap()).unwrap();
    fs::File::create(seed).unwrap().set_len(17 << 20).unwrap();
    let before = tree(dir.path());
    kubewright(dir.path(), &["sync"]).refuses(0, &["nothing to do"]);
    assert_same(&before, &tree(dir.path()));
}
