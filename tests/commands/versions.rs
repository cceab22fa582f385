//! Kinds with several versions: controllers that move between them, and PROJECT files of releases before kinds had
//! versions.

use crate::cli::{self, Run, assert_same, kubewright, project_without_crates, read, tree};
use std::fs;
use std::path::Path;

const CONTROLLER: &str = "src/controllers/foobar.rs";

fn create(dir: &Path, version: &str, more: &[&str]) -> Run {
    let args = [
        "create",
        "api",
        "--group",
        "test",
        "--version",
        version,
        "--kind",
        "FooBar",
    ];
    kubewright(dir, &[&args, more].concat())
}

fn edit(dir: &Path, version: &str) -> Run {
    kubewright(dir, &["edit", "controller", "foobar", "--version", version])
}

fn two_versions() -> tempfile::TempDir {
    let dir = project_without_crates();
    create(dir.path(), "v1", &[]).succeeds();
    create(dir.path(), "v2", &[]).succeeds();
    dir
}

#[test]
fn the_lines_of_a_controller_that_was_moved_are_printed() {
    let dir = two_versions();
    fs::create_dir(dir.path().join("src/controllers/foobar")).unwrap();
    fs::rename(
        dir.path().join(CONTROLLER),
        dir.path().join("src/controllers/foobar/mod.rs"),
    )
    .unwrap();
    let run = edit(dir.path(), "v2").succeeds();
    for part in [
        "`src/controllers/foobar.rs` is deleted or moved; make these changes by hand where its code is now",
        "\n  - use api::test::v1::FooBar;",
        "\n  + use api::test::v2::FooBar;",
    ] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
}

#[test]
fn an_unedited_controller_moves_to_another_version_and_back() {
    let dir = two_versions();
    let before = tree(dir.path());
    edit(dir.path(), "v2").succeeds();
    assert!(read(dir.path(), "PROJECT").contains("{name: foobar, version: v2, pattern: child"));
    for file in [CONTROLLER, "tests/foobar.rs"] {
        let text = read(dir.path(), file);
        assert!(
            text.contains("use api::test::v2::") && !text.contains("test::v1"),
            "{text}"
        );
    }
    // The version without a controller has the test of both.
    assert!(!dir.path().join("tests/test_foobar_v2.rs").exists());
    assert!(read(dir.path(), "tests/test_foobar_v1.rs").contains("type Served = v2::FooBar;"));
    let run = edit(dir.path(), "v2").succeeds();
    assert!(run.stderr.contains("nothing to do"), "{}", run.stderr);
    let run = kubewright(dir.path(), &["sync"]).succeeds();
    assert!(run.stderr.contains("nothing to do"), "{}", run.stderr);

    edit(dir.path(), "v1").succeeds();
    assert_same(&before, &tree(dir.path()));
}

#[test]
fn an_edited_controller_is_not_changed_and_the_lines_to_change_are_named() {
    let dir = two_versions();
    let path = dir.path().join(CONTROLLER);
    fs::write(&path, read(dir.path(), CONTROLLER) + "// mine\n").unwrap();
    let edited = read(dir.path(), CONTROLLER);
    fs::remove_file(dir.path().join("tests/foobar.rs")).unwrap();
    let run = edit(dir.path(), "v2").succeeds();
    let lines = "`src/controllers/foobar.rs` is yours and was not changed; make these changes by hand:\n\
                 \x20 - use api::test::v1::FooBar;\n\
                 \x20 -         let sample = include_str!(\"../../config/samples/test_v1_foobar.yaml\");\n\
                 \x20 + use api::test::v2::FooBar;\n\
                 \x20 +         let sample = include_str!(\"../../config/samples/test_v2_foobar.yaml\");\n";
    assert!(run.stderr.contains(lines), "{}", run.stderr);
    assert_eq!(read(dir.path(), CONTROLLER), edited);
    assert!(
        !dir.path().join("tests/foobar.rs").exists(),
        "a deleted file stays deleted"
    );
}

#[test]
fn a_licence_on_top_and_other_line_ends_stay() {
    let dir = two_versions();
    let path = dir.path().join(CONTROLLER);
    let own = format!("// ACME\n\n{}", read(dir.path(), CONTROLLER)).replace('\n', "\r\n");
    fs::write(&path, &own).unwrap();
    edit(dir.path(), "v2").succeeds();
    assert_eq!(
        read(dir.path(), CONTROLLER),
        own.replace("::test::v1::", "::test::v2::")
            .replace("test_v1_foobar", "test_v2_foobar")
    );
}

#[test]
fn an_impossible_move_is_refused() {
    let dir = two_versions();
    let before = tree(dir.path());
    edit(dir.path(), "v3").refuses(
        1,
        &[
            "`FooBar` has no version `v3`, only `v1`, `v2`",
            "kubewright create api --group test --version v3 --kind FooBar",
        ],
    );
    kubewright(dir.path(), &["edit", "controller", "other", "--version", "v2"]).refuses(
        1,
        &[
            "`other` is not a controller of this project",
            "the project has `foobar`",
        ],
    );
    let dry = ["edit", "controller", "foobar", "--version", "v2", "--dry-run"];
    let run = kubewright(dir.path(), &dry).succeeds();
    assert!(run.stdout.contains("+use api::test::v2::FooBar;"), "{}", run.stdout);
    assert_same(&before, &tree(dir.path()));

    // A controller creates internal objects of the version that it uses itself.
    let args = ["create", "api", "--group", "test", "--version", "v1", "--kind", "Order"];
    let internal = ["--pattern", "internal", "--internal-kind", "Run"];
    kubewright(dir.path(), &[&args[..], &internal].concat()).succeeds();
    let second = [&args[..4], &["--version", "v2"], &args[6..]].concat();
    kubewright(dir.path(), &second).succeeds();
    kubewright(dir.path(), &["edit", "controller", "order", "--version", "v2"]).refuses(
        1,
        &[
            "controller `order` makes `Run`, which is not a kind of `test.example.com/v2`",
            "--version v2 --kind Run",
        ],
    );
}

#[test]
fn a_second_controller_uses_the_version_it_is_created_for() {
    let dir = two_versions();
    create(
        dir.path(),
        "v2",
        &["--resource=false", "--controller-name", "audit", "--pattern", "minimal"],
    )
    .succeeds();
    let controllers =
        "controllers: [{name: audit, version: v2, pattern: minimal}, {name: foobar, version: v1, pattern: child";
    assert!(
        read(dir.path(), "PROJECT").contains(controllers),
        "{}",
        read(dir.path(), "PROJECT")
    );
    assert!(read(dir.path(), "src/controllers/audit.rs").contains("use api::test::v2::FooBar;"));
    kubewright(dir.path(), &["sync"]).succeeds();
}

const FIRST: &str = "api/src/test/v1/foobar.rs";
const SECOND: &str = "api/src/test/v2/foobar.rs";

fn delete(dir: &Path, version: &str, more: &[&str]) -> Run {
    let args = [
        "delete",
        "api",
        "--group",
        "test",
        "--version",
        version,
        "--kind",
        "FooBar",
    ];
    kubewright(dir, &[&args, more].concat())
}

#[test]
fn another_version_becomes_the_stored_one_and_the_controller_stays() {
    let dir = two_versions();
    let before = tree(dir.path());
    let run = create(dir.path(), "v2", &["--storage"]).succeeds();
    for part in [
        "`v2` is stored from now on",
        "run `make migrate-storage`",
        "keep `v1` until that is done",
    ] {
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
    let versions = "versions: [{version: v1, storage: false, formerStorage: true}, {version: v2}]";
    assert!(
        read(dir.path(), "PROJECT").contains(versions),
        "{}",
        read(dir.path(), "PROJECT")
    );
    assert!(read(dir.path(), "PROJECT").contains("controllers: [{name: foobar, version: v1, pattern: child"));
    let unstored = |file: &str| read(dir.path(), file).contains("    storage = false,\n");
    assert!(unstored(FIRST) && !unstored(SECOND));
    for run in [
        create(dir.path(), "v2", &["--storage"]),
        kubewright(dir.path(), &["sync"]),
    ] {
        assert!(run.succeeds().stderr.contains("nothing to do"));
    }

    // It is the same when the version is created.
    let at_once = project_without_crates();
    create(at_once.path(), "v1", &[]).succeeds();
    create(at_once.path(), "v2", &["--storage"]).succeeds();
    assert_same(&tree(dir.path()), &tree(at_once.path()));

    // And back: then v2 is the one in which objects were stored.
    create(dir.path(), "v1", &["--storage"]).succeeds();
    let versions = "versions: [{version: v1}, {version: v2, storage: false, formerStorage: true}]";
    assert!(read(dir.path(), "PROJECT").contains(versions));
    let back = tree(dir.path());
    assert!(
        before
            .iter()
            .all(|(path, file)| path == "PROJECT" || back[path] == *file)
    );
}

#[test]
fn types_that_were_edited_keep_the_edits_when_another_version_is_stored() {
    let dir = two_versions();
    for file in [FIRST, SECOND] {
        let text = read(dir.path(), file).replace("The name of whatever", "The full name of whatever");
        fs::write(dir.path().join(file), text).unwrap();
    }
    // Moved by hand already, as the type of one version.
    let by_hand = read(dir.path(), SECOND).replace("    storage = false,\n", "");
    fs::write(dir.path().join(SECOND), by_hand).unwrap();
    create(dir.path(), "v2", &["--storage"]).succeeds();
    for (file, unstored) in [(FIRST, true), (SECOND, false)] {
        let text = read(dir.path(), file);
        assert!(text.contains("The full name of whatever"), "{text}");
        assert_eq!(text.matches("storage = false").count(), usize::from(unstored), "{text}");
    }
}

#[test]
fn a_version_is_deleted_only_when_no_objects_are_stored_in_it() {
    let dir = two_versions();
    edit(dir.path(), "v2").succeeds();
    let store = "kubewright create api --group test --version v2 --kind FooBar --storage";
    for more in [&[][..], &["--migrated"], &["--force"]] {
        let wanted = ["`v1` is the storage version of `FooBar`", store, "--all-versions"];
        delete(dir.path(), "v1", more).refuses(1, &wanted);
    }
    create(dir.path(), "v2", &["--storage"]).succeeds();
    let before = tree(dir.path());
    let wanted = [
        "objects of `FooBar` were stored in `v1`, and a cluster may still have some",
        "run `make migrate-storage` on every cluster; where that is done, add `--migrated`",
    ];
    delete(dir.path(), "v1", &[]).refuses(1, &wanted);
    assert_same(&before, &tree(dir.path()));
    delete(dir.path(), "v1", &["--migrated"]).succeeds();
    assert!(read(dir.path(), "PROJECT").contains("versions: [{version: v2}]"));

    // A version that was never stored, and the last one, need no migration.
    create(dir.path(), "v3", &[]).succeeds();
    for version in ["v3", "v2"] {
        let refused = format!("`--migrated` has no effect on `{version}`");
        delete(dir.path(), version, &["--migrated"]).refuses(1, &[&refused, "leave out `--migrated`"]);
        delete(dir.path(), version, &[]).succeeds();
    }
    assert!(!read(dir.path(), "PROJECT").contains("FooBar"));
}

#[test]
fn storing_a_version_is_refused_where_it_means_nothing() {
    let dir = two_versions();
    create(dir.path(), "v2", &["--storage", "--force"]).refuses(2, &["--storage", "--force"]);
    create(dir.path(), "v2", &["--storage", "--resource=false"]).refuses(2, &["--storage", "--resource"]);
}

/// The project of a golden case, generated again, without the commands that did not exist at the time.
fn golden(case: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let commands = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{case}.commands"));
    let commands = fs::read_to_string(commands).unwrap();
    let later = [
        " edit ",
        " create webhook ",
        "/pump.yaml",
        " --pattern job ",
        " --pattern schedule ",
        " --pattern stateful ",
    ];
    for line in commands
        .lines()
        .filter(|line| !later.iter().any(|it| line.contains(it)))
    {
        let args: Vec<_> = cli::words(line).into_iter().skip(1).collect();
        kubewright(dir.path(), &args).succeeds();
    }
    dir
}

#[test]
fn a_project_of_a_release_without_versions_is_converted_completely() {
    let earlier = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/flat");
    let mut cases = 0;
    for entry in fs::read_dir(earlier).unwrap().map(Result::unwrap) {
        let case = entry.file_name().into_string().unwrap();
        let flat = fs::read_to_string(entry.path()).unwrap();
        let own = concat!("version: ", env!("CARGO_PKG_VERSION"), "\n");
        let flat = flat.replace("version: 0.1.0\n", own);
        let dir = golden(&case);
        // That release embedded its crates as folders.
        kubewright(dir.path(), &["sync", "--crates", "vendored"]).succeeds();
        // It gave every controller of this pattern a finalizer.
        let current = read(dir.path(), "PROJECT").replace(", finalizer: true", "");
        // Children of its controllers keep their names.
        let current = current.replace(", childSuffix: other-foobar", "");
        let current = current.replace("pattern: child}", "pattern: child, finalizer: true}");
        fs::write(dir.path().join("PROJECT"), current).unwrap();
        let wanted = tree(dir.path());
        let stale = flat.contains("apis:");
        let put = || fs::write(dir.path().join("PROJECT"), &flat).unwrap();

        put();
        let run = kubewright(dir.path(), &["plan"]).succeeds();
        assert!(!run.stdout.contains("stale"), "{}", run.stdout);
        assert_eq!(
            read(dir.path(), "PROJECT"),
            flat,
            "a command that only reads does not write"
        );
        let run = kubewright(dir.path(), &["sync"]).succeeds();
        assert_eq!(run.stdout, if stale { "update PROJECT\n" } else { "" }, "{case}");
        assert_same(&wanted, &tree(dir.path()));

        // Any command that writes updates PROJECT.
        put();
        kubewright(dir.path(), &["eject", "runtime"]).succeeds();
        assert_eq!(
            read(dir.path(), "PROJECT").as_bytes(),
            wanted["PROJECT"].bytes,
            "{case}"
        );
        cases += 1;
    }
    assert!(cases >= 8);
}

#[test]
fn the_lists_of_two_releases_are_merged() {
    let dir = project_without_crates();
    let head = read(dir.path(), "PROJECT");
    let kind = "kinds:\n- {group: test, kind: Left, plural: lefts, versions: [{version: v1}]}\n";
    let flat = "apis:\n- {group: test, version: v1, kind: Right, plural: rights}\n";
    fs::write(dir.path().join("PROJECT"), format!("{head}{flat}{kind}")).unwrap();
    kubewright(dir.path(), &["sync"]).succeeds();
    let right = "- {group: test, kind: Right, plural: rights, versions: [{version: v1}]}\n";
    assert_eq!(read(dir.path(), "PROJECT"), format!("{head}{kind}{right}"));
}
