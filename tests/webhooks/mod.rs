//! `create webhook` and `delete webhook`: what they write, merge, print and refuse.

mod conversion;
mod foreign;
mod policy;

use super::{append, state};
use crate::cli::{Run, assert_same, create, kubewright, project_without_crates, tree};
use std::fs;
use std::path::Path;

const FILE: &str = "src/webhooks/foobar.rs";
const DEFAULT: &str = "config/default/kustomization.yaml";

fn webhook(dir: &Path, verb: &str, more: &[&str]) -> Run {
    kubewright(dir, &[&[verb, "webhook", "--kind", "FooBar"], more].concat())
}

fn with_foobar() -> tempfile::TempDir {
    let dir = project_without_crates();
    create(dir.path(), "test", "FooBar").succeeds();
    dir
}

fn read(dir: &Path, file: &str) -> String {
    fs::read_to_string(dir.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn replace(dir: &Path, file: &str, from: &str, to: &str) {
    let text = read(dir, file);
    assert!(text.contains(from), "{file}: {text}");
    fs::write(dir.join(file), text.replace(from, to)).unwrap();
}

/// To create the same once more changes nothing, and neither does `sync`.
fn assert_done(dir: &Path, again: &str) {
    let before = tree(dir);
    for run in [webhook(dir, "create", &[again]), kubewright(dir, &["sync"])] {
        assert!(run.succeeds().stderr.contains("nothing to do"));
    }
    assert_same(&before, &tree(dir));
}

#[test]
fn webhooks_are_written_registered_and_recorded() {
    let dir = with_foobar();
    webhook(dir.path(), "create", &["--defaulting", "--validation"]).succeeds();
    let recorded = "webhooks: {name: foobar, version: v1, defaulting: true, validation: true}}";
    assert!(read(dir.path(), "PROJECT").contains(recorded));
    assert!(read(dir.path(), "src/main.rs").contains("webhooks::register(manager, &app)?;"));
    assert!(read(dir.path(), DEFAULT).contains("components:\n  - ../webhook\n"));
    for file in [
        FILE,
        "src/webhooks/mod.rs",
        "tests/foobar_webhooks.rs",
        "src/main.rs",
        DEFAULT,
        "config/network-policy/allow_webhooks.yaml",
        "config/network-policy/kustomization.yaml",
    ] {
        assert_eq!(state(dir.path(), file), "clean", "{file}");
    }
    assert_eq!(state(dir.path(), "config/webhook/manifests.yaml"), "missing");
    assert_done(dir.path(), "--programmatic-validation");
}

#[test]
fn types_added_one_at_a_time_make_the_same_files_and_are_deleted_one_at_a_time() {
    let (at_once, dir) = (with_foobar(), with_foobar());
    webhook(at_once.path(), "create", &["--defaulting", "--validation"]).succeeds();
    let untouched = tree(dir.path());
    for [first, second] in [["--defaulting", "--validation"], ["--validation", "--defaulting"]] {
        webhook(dir.path(), "create", &[first]).succeeds();
        let one = tree(dir.path());
        webhook(dir.path(), "create", &[second]).succeeds();
        assert_same(&tree(at_once.path()), &tree(dir.path()));
        webhook(dir.path(), "delete", &[second]).succeeds();
        assert_same(&one, &tree(dir.path()));
        webhook(dir.path(), "delete", &[first]).succeeds();
        assert_same(&untouched, &tree(dir.path()));
    }
}

#[test]
fn a_second_type_is_merged_into_edited_files() {
    let dir = with_foobar();
    webhook(dir.path(), "create", &["--validation"]).succeeds();
    replace(dir.path(), FILE, "must not be the object itself", "must be another");
    replace(
        dir.path(),
        "src/main.rs",
        "let cli: Cli = Operator::flags();",
        "let cli: Cli = Operator::flags(); // mine",
    );
    webhook(dir.path(), "create", &["--defaulting"]).succeeds();
    let text = read(dir.path(), FILE);
    assert!(
        text.contains("must be another") && text.contains("impl Defaulter<FooBar>"),
        "{text}"
    );
    // The last webhook takes its registration along, and leaves the edit.
    webhook(dir.path(), "delete", &["--force"]).succeeds();
    let main = read(dir.path(), "src/main.rs");
    assert!(main.contains("// mine") && !main.contains("webhooks"), "{main}");
}

#[test]
fn where_edits_are_in_the_way_the_lines_to_add_are_printed() {
    let dir = with_foobar();
    replace(dir.path(), DEFAULT, "components: []", "components:\n  - ../metrics");
    let run = webhook(dir.path(), "create", &["--validation"]).succeeds();
    let wanted = "`config/default/kustomization.yaml` is yours and was not changed; make these changes by hand:\n  +   - ../webhook\n";
    assert!(run.stderr.contains(wanted), "{}", run.stderr);
    assert!(!read(dir.path(), DEFAULT).contains("../webhook"));

    replace(
        dir.path(),
        FILE,
        "use kubewright_webhooks::{",
        "use kubewright_webhooks::{FailurePolicy, ",
    );
    let before = read(dir.path(), FILE);
    let run = webhook(dir.path(), "create", &["--defaulting"]).succeeds();
    assert_eq!(read(dir.path(), FILE), before);
    for line in [
        "`src/webhooks/foobar.rs` is yours and was not changed; make these changes by hand:",
        "  + struct FooBarDefaulter;",
        "  +     Webhook::defaulting(FooBarDefaulter)",
    ] {
        assert!(run.stderr.contains(line), "{line}: {}", run.stderr);
    }
    // The command does not ask for lines that exist.
    assert!(!run.stderr.contains("config/default"), "{}", run.stderr);
}

#[test]
fn lines_for_webhooks_that_a_merge_removed_are_printed_and_the_crate_is_restored() {
    let dir = crate::cli::project();
    let path = dir.path();
    create(path, "test", "FooBar").succeeds();
    webhook(path, "create", &["--validation"]).succeeds();
    let with = tree(path);
    webhook(path, "delete", &["--yes"]).succeeds();
    let shared = ["Cargo.toml", DEFAULT, "src/lib.rs", "src/main.rs"];
    let is_shared = |file: &str| shared.contains(&file) || file.starts_with("crates/");
    // One branch has deleted the last webhook, the other has added one.
    for (file, found) in with.iter().filter(|(file, _)| !is_shared(file)) {
        fs::create_dir_all(path.join(file).parent().unwrap()).unwrap();
        fs::write(path.join(file), &found.bytes).unwrap();
    }
    assert!(!path.join("crates/webhooks").exists());
    let doctor = kubewright(path, &["doctor"]).stdout;
    assert!(
        doctor.contains("without the lines for webhooks") && doctor.contains("run `kubewright sync`"),
        "{doctor}"
    );
    let sync = kubewright(path, &["sync"]).succeeds();
    for file in shared {
        assert!(sync.stderr.contains(&format!("`{file}` is yours")), "{}", sync.stderr);
    }
    for line in [
        "  + pub mod webhooks;\n",
        "webhooks::register(manager, &app)?;\n",
        "  +   - ../webhook\n",
        "  - components: []\n",
    ] {
        assert!(sync.stderr.contains(line), "{line}: {}", sync.stderr);
    }
    assert!(path.join("crates/webhooks").is_dir());

    for file in shared {
        fs::write(path.join(file), &with[file].bytes).unwrap();
    }
    assert_done(path, "--validation");
    assert_same(&with, &tree(path));
    // An edit of some of these lines, or of a whole file, is not a merge.
    fs::write(
        path.join("src/lib.rs"),
        "pub mod app;\npub mod controllers;\npub mod webhooks; // Ours.\n",
    )
    .unwrap();
    replace(
        path,
        "src/main.rs",
        "use operator::{app, controllers, webhooks};",
        "use operator::*;",
    );
    assert_done(path, "--validation");
}

#[test]
fn a_deleted_file_stays_deleted_and_is_named() {
    let dir = with_foobar();
    webhook(dir.path(), "create", &["--validation"]).succeeds();
    fs::remove_file(dir.path().join(FILE)).unwrap();
    let run = webhook(dir.path(), "create", &["--defaulting"]).succeeds();
    let note = "`src/webhooks/foobar.rs` is deleted or moved; make these changes by hand where its code is now:";
    assert!(run.stderr.contains(note), "{}", run.stderr);
    assert!(!dir.path().join(FILE).exists());
}

#[test]
fn a_file_in_the_way_refuses_everything() {
    let dir = with_foobar();
    fs::create_dir(dir.path().join("src/webhooks")).unwrap();
    fs::write(dir.path().join(FILE), "// mine\n").unwrap();
    let before = tree(dir.path());
    let run = webhook(dir.path(), "create", &["--validation"]);
    run.refuses(1, &["`src/webhooks/foobar.rs` exists already, with other contents"]);
    assert_same(&before, &tree(dir.path()));
}

#[test]
fn a_dry_run_shows_the_changes_and_writes_nothing() {
    let dir = with_foobar();
    let before = tree(dir.path());
    let run = webhook(dir.path(), "create", &["--validation", "--dry-run"]).succeeds();
    assert!(run.stdout.contains("+++ b/src/webhooks/foobar.rs") && run.stdout.contains("+pub mod webhooks;"));
    assert_same(&before, &tree(dir.path()));
}

#[test]
fn the_example_of_a_type_that_has_lost_its_field_is_named() {
    let dir = with_foobar();
    replace(
        dir.path(),
        "api/src/test/v1/foobar.rs",
        "pub target: String",
        "pub host: String",
    );
    let run = webhook(dir.path(), "create", &["--validation"]).succeeds();
    assert!(
        run.stderr
            .contains("`api/src/test/v1/foobar.rs` has no `target` any more"),
        "{}",
        run.stderr
    );
}

#[test]
fn kinds_of_one_name_have_files_of_their_own_and_need_a_group() {
    let dir = with_foobar();
    create(dir.path(), "other", "FooBar").succeeds();
    let run = webhook(dir.path(), "create", &["--validation"]);
    run.refuses(2, &["`--group` is missing"]);
    let nameless = kubewright(dir.path(), &["create", "webhook", "--validation"]);
    nameless.refuses(2, &["`--kind` is missing"]);
    for group in ["other", "test"] {
        webhook(dir.path(), "create", &["--validation", "--group", group]).succeeds();
    }
    let registered = read(dir.path(), "src/webhooks/mod.rs");
    assert!(
        registered.contains("pub mod foobar;\npub mod other_foobar;\n"),
        "{registered}"
    );
}

#[test]
fn what_cannot_have_webhooks_is_refused_with_a_remedy() {
    let dir = with_foobar();
    let dir = dir.path();
    let before = tree(dir);
    webhook(dir, "create", &[]).refuses(
        2,
        &["none of `--defaulting`, `--validation`, `--conversion` and `--policy`"],
    );
    webhook(dir, "create", &["--validation", "--version", "v2"]).refuses(1, &["`FooBar` has no version `v2`"]);
    webhook(dir, "create", &["--validation", "--group", "no"]).refuses(1, &["not a kind of this project"]);
    let unknown = kubewright(dir, &["create", "webhook", "--kind", "FooBra", "--validation"]);
    unknown.refuses(
        1,
        &[
            "`FooBra` is not a kind of this project",
            "--kind FooBar",
            "kubewright create api",
        ],
    );
    let unknown = kubewright(dir, &["delete", "webhook", "--kind", "FooBra"]).refuses(1, &["--kind FooBar"]);
    assert!(!unknown.stderr.contains("create api"), "{}", unknown.stderr);
    webhook(dir, "delete", &[]).refuses(1, &["`FooBar` has no such webhook"]);
    assert_same(&before, &tree(dir));
}

#[test]
fn the_configuration_to_delete_has_the_prefix_of_config_default() {
    let dir = with_foobar();
    webhook(dir.path(), "create", &["--validation"]).succeeds();
    replace(dir.path(), DEFAULT, "namePrefix: foobar-operator-", "namePrefix: prod-");
    let run = webhook(dir.path(), "delete", &[]).succeeds();
    let wanted = "kubectl delete validatingwebhookconfiguration prod-validating-webhook-configuration\n";
    assert!(run.stderr.contains(wanted), "{}", run.stderr);
}

#[test]
fn a_project_of_one_namespace_may_not_configure_webhooks() {
    let dir = tempfile::tempdir().unwrap();
    let named = ["--project-name", "op", "--year", "2026", "--namespaced"];
    kubewright(dir.path(), &[&["init", "--domain", "example.com"], &named[..]].concat()).succeeds();
    create(dir.path(), "test", "FooBar").succeeds();
    let run = webhook(dir.path(), "create", &["--validation"]);
    run.refuses(1, &["cluster-scoped", "without `--namespaced`"]);
}

#[test]
fn a_version_with_webhooks_stays_and_a_kind_takes_its_webhooks_along() {
    let dir = with_foobar();
    let v2 = ["--group", "test", "--version", "v2", "--kind", "FooBar"];
    let api = |verb: &'static str, more: &[&str]| kubewright(dir.path(), &[&[verb, "api"], more].concat());
    let untouched = tree(dir.path());
    api("create", &v2).succeeds();
    webhook(dir.path(), "create", &["--validation", "--version", "v2"]).succeeds();
    let run = webhook(dir.path(), "create", &["--defaulting", "--version", "v1"]);
    run.refuses(
        1,
        &[
            "use version `v2`",
            "kubewright delete webhook --group test --kind FooBar",
        ],
    );
    let refused = api("delete", &v2);
    refused.refuses(1, &["the webhooks of `FooBar` use version `v2`", "--all-versions"]);

    append(dir.path(), FILE, "// mine\n");
    let run = api("delete", &["--group", "test", "--kind", "FooBar", "--all-versions"]).succeeds();
    assert!(run.stderr.contains("kept `src/webhooks/foobar.rs`"), "{}", run.stderr);
    let line = "validatingwebhookconfiguration foobar-operator-validating-webhook-configuration";
    assert!(
        run.stderr.contains(line) && !run.stderr.contains("mutating"),
        "{}",
        run.stderr
    );
    fs::remove_dir_all(dir.path().join("src/webhooks")).unwrap();
    create(dir.path(), "test", "FooBar").succeeds();
    assert_same(&untouched, &tree(dir.path()));
}

#[test]
fn a_project_that_was_edited_by_hand_is_checked() {
    let dir = with_foobar();
    let line = "controllers: [{name: foobar, version: v1, pattern: child}]";
    for (webhooks, words) in [
        ("{name: foobar, version: v1}", "at least one of"),
        ("{name: foobar, version: v3, validation: true}", "use version `v3`"),
    ] {
        let text = read(dir.path(), "PROJECT");
        fs::write(
            dir.path().join("PROJECT"),
            text.replace(line, &format!("{line}, webhooks: {webhooks}")),
        )
        .unwrap();
        kubewright(dir.path(), &["plan"]).refuses(1, &[words]);
        fs::write(dir.path().join("PROJECT"), text).unwrap();
    }
    webhook(dir.path(), "create", &["--validation"]).succeeds();
    let named = [
        "--controller-name",
        "foobar-webhooks",
        "--pattern",
        "minimal",
        "--resource=false",
    ];
    let api = [
        "create",
        "api",
        "--group",
        "test",
        "--version",
        "v1",
        "--kind",
        "FooBar",
    ];
    kubewright(dir.path(), &[&api[..], &named].concat()).refuses(1, &["would share one file"]);
}
