//! A checkout with symbolic links, so that a command would read or write outside of the project.

use crate::{COMMANDS, everything, guarded, printed, project};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

const CREATE: &[&str] = &[
    "create",
    "api",
    "--group",
    "test",
    "--version",
    "v1",
    "--kind",
    "FooBar",
];

/// Replaces `path` in a project by a link to the same path in another project, or to a path that does not exist; every
/// command of `commands` refuses it by name.
#[track_caller]
fn refused(path: &str, dangling: bool, commands: &[&[&str]]) {
    let (dir, victim) = (project(), project());
    let here = dir.path().join(path);
    let there = match dangling {
        true => victim.path().join("not/there"),
        false => victim.path().join(path),
    };
    match here.symlink_metadata() {
        Ok(found) if found.is_dir() => fs::remove_dir_all(&here).unwrap(),
        Ok(_) => fs::remove_file(&here).unwrap(),
        Err(_) => fs::create_dir_all(here.parent().unwrap()).unwrap(),
    }
    symlink(&there, &here).unwrap();
    let before = (everything(dir.path()), everything(victim.path()));
    for args in commands {
        let run = guarded(dir.path(), args);
        assert_eq!(run.code, Some(1), "{path} {args:?}: {}", printed(&run));
        let words = format!("`{path}` is a symbolic link");
        assert!(printed(&run).contains(&words), "{path} {args:?}: {}", printed(&run));
        assert!(
            before == (everything(dir.path()), everything(victim.path())),
            "{path} {args:?} changed something"
        );
    }
}

#[test]
fn a_link_at_any_depth_is_refused_by_name_and_nothing_outside_changes() {
    refused("PROJECT", false, &COMMANDS);
    refused(".kubewright", true, &COMMANDS);
    for dangling in [false, true] {
        refused("PROJECT", dangling, &[&["sync"]]);
        refused(".kubewright", dangling, &[CREATE]);
        refused("api/src/lib.rs", dangling, &[&["sync"]]);
        for path in ["api", "api/src", "manifests/src/lib.rs", "src/controllers/mod.rs"] {
            refused(path, dangling, &[&["sync"], CREATE]);
        }
        // Files that the commands create, and the folders above them.
        for path in [
            "api/src/test",
            "api/src/test/v1/foobar.rs",
            "src/controllers/foobar.rs",
            "config/samples",
        ] {
            refused(path, dangling, &[CREATE]);
        }
    }
    refused("crates", false, &[&["plan"], &["sync"], &["eject", "runtime"]]);
    refused(
        "crates/runtime",
        false,
        &[&["plan"], &["doctor"], &["eject", "runtime"]],
    );
    refused("crates/runtime/src/lib.rs", true, &[&["plan"], &["doctor"]]);
    refused("crates/runtime/VERSION", true, &[&["plan"], &["eject", "runtime"]]);
    refused("crates/runtime/Cargo.toml", true, &[&["plan"], &["eject", "runtime"]]);
    refused("crates/build.rs", true, &[&["plan"], &["sync"]]);
    refused("Makefile", true, &[&["plan"]]);
}

#[test]
fn init_in_a_folder_with_links_is_refused() {
    for (path, dangling) in [
        ("src", false),
        ("Makefile", true),
        ("PROJECT", true),
        (".kubewright", false),
        ("crates", true),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let (here, outside) = (dir.path().join("here"), dir.path().join("outside"));
        fs::create_dir_all(&here).unwrap();
        fs::create_dir_all(&outside).unwrap();
        let target = if dangling {
            outside.join("not/there")
        } else {
            outside.clone()
        };
        symlink(target, here.join(path)).unwrap();
        let before = everything(dir.path());
        let args = ["init", "--domain", "example.com", "--project-name", "x"];
        let words = format!("`{path}` is a symbolic link");
        guarded(&here, &args).refuses(1, &[&words, "hint: "]);
        assert!(before == everything(dir.path()), "{path}");
    }
}

#[test]
fn a_link_that_the_user_names_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let (real, link) = (dir.path().join("real"), dir.path().join("link"));
    fs::create_dir(&real).unwrap();
    symlink(&real, &link).unwrap();
    crate::cli::init(&link);
    guarded(&link, CREATE).succeeds();
    guarded(&link, &["plan"]).succeeds();
    assert!(real.join("src/controllers/foobar.rs").is_file());
    // As after `cd link`.
    let run = std::process::Command::new(crate::cli::binary())
        .arg("sync")
        .current_dir(&link)
        .env("PWD", &link)
        .output();
    assert!(run.unwrap().status.success());
    let own = dir.path().join("templates");
    fs::create_dir_all(own.join("project")).unwrap();
    fs::write(own.join("project/house.md.tera"), "x\n").unwrap();
    let named = dir.path().join("named");
    symlink(&own, &named).unwrap();
    let templates = named.to_str().unwrap();
    guarded(
        &dir.path().join("new"),
        &["init", "--domain", "example.com", "--templates", templates],
    )
    .succeeds();
}

#[test]
fn an_empty_folder_that_was_replaced_by_a_link_is_not_removed_through_it() {
    let (dir, victim) = (project(), project());
    fs::remove_dir_all(dir.path().join("api/src/test")).unwrap();
    symlink(victim.path().join("api/src/test"), dir.path().join("api/src/test")).unwrap();
    let before = everything(victim.path());
    let args = [
        "delete",
        "api",
        "--group",
        "test",
        "--version",
        "v1",
        "--kind",
        "Datum",
        "--force",
    ];
    guarded(dir.path(), &args).refuses(1, &["`api/src/test` is a symbolic link"]);
    assert!(before == everything(victim.path()));
    assert!(Path::new(&dir.path().join("src/controllers/datum.rs")).exists());
}
