//! Templates for files of git, and paths that are not regular files: FIFOs, devices, sockets and loops of links, which
//! could make a reader hang.

use crate::{everything, guarded, printed, project};
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A folder of templates, created by `make`, is refused if a flag names it and if PROJECT names it; nothing is written.
#[track_caller]
fn refused(make: impl Fn(&Path), words: &str) {
    let dir = project();
    let own = dir.path().join("own");
    fs::create_dir_all(own.join("project")).unwrap();
    make(&own);
    fs::create_dir_all(dir.path().join(".git/hooks")).unwrap();
    let text = fs::read_to_string(dir.path().join("PROJECT")).unwrap();
    let recorded = text.replace("kinds:", "templates: {path: own, sha256: '0'}\nkinds:");
    let templates = own.to_str().unwrap();
    for (project, args) in [
        (&recorded, vec!["plan"]),
        (&recorded, vec!["sync"]),
        (&text, vec!["sync", "--templates", templates]),
    ] {
        fs::write(dir.path().join("PROJECT"), project).unwrap();
        let before = everything(dir.path());
        let run = guarded(dir.path(), &args);
        assert_eq!(run.code, Some(1), "{args:?}: {}", printed(&run));
        assert!(run.stderr.contains(words), "{args:?} without `{words}`: {}", run.stderr);
        assert!(before == everything(dir.path()), "{args:?} changed something");
    }
    let new = tempfile::tempdir().unwrap();
    let init = [
        "init",
        "--domain",
        "example.com",
        "--project-name",
        "x",
        "--templates",
        templates,
    ];
    guarded(new.path(), &init).refuses(1, &[words]);
    assert!(everything(new.path()).is_empty());
}

#[test]
fn a_template_cannot_create_a_file_of_git() {
    for git in [".git", ".GIT", ".git ", "git~1"] {
        let make = |own: &Path| {
            fs::create_dir_all(own.join("project").join(git).join("hooks")).unwrap();
            fs::write(
                own.join("project").join(git).join("hooks/pre-commit.tera"),
                "#!/bin/sh\n",
            )
            .unwrap();
        };
        refused(make, &format!("no file of a project can be called `{git}`"));
    }
}

#[test]
fn a_template_that_is_not_a_regular_file_is_refused_without_hanging() {
    refused(
        |own| fifo(&own.join("project/a.md.tera")),
        "`project/a.md.tera` is a device, a FIFO or a socket",
    );
    refused(
        |own| drop(UnixListener::bind(own.join("project/a.md.tera")).unwrap()),
        "is a device, a FIFO or a socket",
    );
    let link = |target: &'static str| move |own: &Path| symlink(target, own.join("project/a.md.tera")).unwrap();
    for target in ["/dev/zero", "/dev/stdin", "a.md.tera", "/etc/passwd", "not/there"] {
        refused(link(target), "`project/a.md.tera` is a symbolic link");
    }
    refused(
        |own| symlink("..", own.join("project/loop")).unwrap(),
        "`project/loop` is a symbolic link",
    );
    refused(
        |own| symlink(".", own.join("unit")).unwrap(),
        "`unit` is a symbolic link",
    );
    refused(
        |own| fs::write(own.join("project/a\nb.tera"), "").unwrap(),
        "no file of a project can be called `a\\nb.tera`",
    );
}

#[test]
fn templates_are_read_up_to_a_limit() {
    let many = |own: &Path| (0..1001).for_each(|nth| fs::write(own.join(format!("project/{nth}.tera")), "").unwrap());
    refused(many, "more than 1000 files");
    let deep = |own: &Path| fs::create_dir_all(own.join("a/".repeat(40))).unwrap();
    refused(deep, "lies deeper than 16 folders");
    let large = |own: &Path| {
        fs::File::create(own.join("project/a.tera"))
            .unwrap()
            .set_len(1 << 30)
            .unwrap()
    };
    refused(large, "is larger than 16 MiB");
}

#[test]
fn a_templates_folder_in_project_behind_a_link_is_refused() {
    let dir = project();
    symlink("/", dir.path().join("own")).unwrap();
    let path = dir.path().join("PROJECT");
    let text = fs::read_to_string(&path).unwrap();
    for own in ["own", "own/etc", "./own/../own"] {
        fs::write(
            &path,
            text.replace("kinds:", &format!("templates: {{path: {own}, sha256: '0'}}\nkinds:")),
        )
        .unwrap();
        guarded(dir.path(), &["plan"]).refuses(1, &["is a symbolic link"]);
    }
    // The root of the file system is not a folder of templates either.
    fs::write(
        &path,
        text.replace("kinds:", "templates: {path: /, sha256: '0'}\nkinds:"),
    )
    .unwrap();
    guarded(dir.path(), &["plan"]).refuses(1, &["error: "]);
}

#[test]
fn a_path_of_the_project_that_is_not_a_regular_file_is_refused() {
    for path in [
        "PROJECT",
        "Makefile",
        "src/controllers/mod.rs",
        "crates/runtime/src/lib.rs",
        ".kubewright/journal",
    ] {
        let dir = project();
        let _ = fs::create_dir(dir.path().join(".kubewright"));
        let _ = fs::remove_file(dir.path().join(path));
        fifo(&dir.path().join(path));
        let before = everything(dir.path());
        guarded(dir.path(), &["plan"]).refuses(1, &[&format!("`{path}` is a device, a FIFO or a socket")]);
        assert!(before == everything(dir.path()));
    }
}

#[test]
fn special_files_above_a_project_do_not_hang_a_command() {
    let dir = tempfile::tempdir().unwrap();
    fifo(&dir.path().join("Cargo.toml"));
    guarded(&dir.path().join("a/b"), &["init", "--domain", "example.com"]).succeeds();
    fs::remove_file(dir.path().join("Cargo.toml")).unwrap();
    symlink("/dev/zero", dir.path().join("Cargo.toml")).unwrap();
    guarded(&dir.path().join("a/c"), &["init", "--domain", "example.com"]).succeeds();
}
