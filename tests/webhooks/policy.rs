//! `create webhook --policy` and its deletion: what they write, print and refuse.

use super::{DEFAULT, assert_done, read, state, webhook, with_foobar};
use crate::cli::{assert_same, create, kubewright, project_without_crates, tree};
use std::fs;

const FILE: &str = "src/policies/foobar.rs";
const MUTATING: &str = "src/policies/foobar_mutating.rs";

#[test]
fn a_policy_is_written_registered_and_recorded_without_a_webhook_server() {
    let dir = with_foobar();
    let run = webhook(dir.path(), "create", &["--policy"]).succeeds();
    assert!(run.stderr.contains("write it on the type instead"), "{}", run.stderr);
    assert!(read(dir.path(), "PROJECT").contains("policy: {name: foobar, version: v1}}"));
    assert!(read(dir.path(), "src/main.rs").contains("policies::register(manager)?;"));
    assert!(read(dir.path(), DEFAULT).contains("components:\n  - ../policy\n"));
    for file in [FILE, "src/policies/mod.rs", "src/main.rs", DEFAULT] {
        assert_eq!(state(dir.path(), file), "clean", "{file}");
    }
    assert_eq!(state(dir.path(), "config/policy/manifests.yaml"), "missing");
    for absent in [
        "src/webhooks",
        "config/network-policy/allow_webhooks.yaml",
        "tests/foobar_webhooks.rs",
    ] {
        assert!(!dir.path().join(absent).exists(), "{absent}");
    }
    assert_done(dir.path(), "--policy=validating");
}

#[test]
fn a_policy_that_changes_objects_stands_beside_one_that_refuses_them() {
    let dir = with_foobar();
    let untouched = tree(dir.path());
    webhook(dir.path(), "create", &["--policy"]).succeeds();
    let alone = tree(dir.path());
    let run = webhook(dir.path(), "create", &["--policy=mutating"]).succeeds();
    let default = "set a default in the schema instead";
    assert!(run.stderr.contains(default), "{}", run.stderr);
    assert!(!run.stderr.contains("write it on the type instead"), "{}", run.stderr);
    let both = "policy: {name: foobar, version: v1}, mutatingPolicy: {name: foobar, version: v1}}";
    assert!(read(dir.path(), "PROJECT").contains(both));
    let modules = read(dir.path(), "src/policies/mod.rs");
    assert!(
        modules.contains("pub mod foobar;\npub mod foobar_mutating;\n"),
        "{modules}"
    );
    assert!(modules.contains("    foobar::register(manager)?;\n    foobar_mutating::register(manager)?;\n"));
    for file in [FILE, MUTATING, "src/policies/mod.rs", "src/main.rs", DEFAULT] {
        assert_eq!(state(dir.path(), file), "clean", "{file}");
    }
    assert_done(dir.path(), "--policy=mutating");
    let run = webhook(dir.path(), "delete", &["--policy=mutating"]).succeeds();
    let words =
        "kubectl delete mutatingadmissionpolicybindings,mutatingadmissionpolicies --selector app.kubernetes.io/name=";
    assert!(
        run.stderr.contains(words) && !run.stderr.contains("validating"),
        "{}",
        run.stderr
    );
    assert_same(&alone, &tree(dir.path()));
    webhook(dir.path(), "delete", &["--policy=mutating"]).refuses(1, &["`FooBar` has no mutating policy"]);
    webhook(dir.path(), "delete", &["--policy"]).succeeds();
    webhook(dir.path(), "create", &["--policy", "--policy=mutating"]).succeeds();
    webhook(dir.path(), "delete", &[]).succeeds();
    assert_same(&untouched, &tree(dir.path()));
}

#[test]
fn a_policy_stands_beside_webhooks_and_is_deleted_alone_or_with_them() {
    let dir = with_foobar();
    let untouched = tree(dir.path());
    webhook(dir.path(), "create", &["--policy"]).succeeds();
    let alone = tree(dir.path());
    webhook(dir.path(), "create", &["--validation"]).succeeds();
    assert!(read(dir.path(), DEFAULT).contains("components:\n  - ../policy\n  - ../webhook\n"));
    webhook(dir.path(), "delete", &["--validation"]).succeeds();
    assert_same(&alone, &tree(dir.path()));
    let run = webhook(dir.path(), "delete", &["--policy"]).succeeds();
    let words = "kubectl delete validatingadmissionpolicybindings,validatingadmissionpolicies --selector app.kubernetes.io/name=";
    assert!(run.stderr.contains(words), "{}", run.stderr);
    assert_same(&untouched, &tree(dir.path()));
    webhook(dir.path(), "create", &["--policy", "--defaulting"]).succeeds();
    webhook(dir.path(), "delete", &[]).succeeds();
    assert_same(&untouched, &tree(dir.path()));
    webhook(dir.path(), "delete", &["--policy"]).refuses(1, &["`FooBar` has no policy"]);
}

#[test]
fn what_cannot_have_a_policy_is_refused_and_nothing_is_written() {
    let dir = with_foobar();
    let before = tree(dir.path());
    webhook(dir.path(), "create", &["--policy=other"]).refuses(2, &["invalid value 'other'"]);
    webhook(dir.path(), "create", &["--policy", "--version", "v2"]).refuses(1, &["`FooBar` has no version `v2`"]);
    let deployment = [
        "create",
        "webhook",
        "--group",
        "apps",
        "--version",
        "v1",
        "--kind",
        "Deployment",
        "--policy",
    ];
    kubewright(dir.path(), &deployment).refuses(1, &["only policies of its own kinds are generated", "policies.md"]);
    let run = webhook(dir.path(), "create", &["--policy", "--dry-run"]).succeeds();
    assert!(run.stdout.contains("+++ b/src/policies/foobar.rs") && run.stdout.contains("+pub mod policies;"));
    let run = webhook(dir.path(), "create", &["--policy=mutating", "--dry-run"]).succeeds();
    assert!(run.stdout.contains("+++ b/src/policies/foobar_mutating.rs"));
    assert_same(&before, &tree(dir.path()));
    fs::create_dir(dir.path().join("src/policies")).unwrap();
    fs::write(dir.path().join(FILE), "// mine\n").unwrap();
    webhook(dir.path(), "create", &["--policy"])
        .refuses(1, &["`src/policies/foobar.rs` exists already, with other contents"]);
}

#[test]
fn a_version_with_a_policy_stays_and_a_kind_takes_its_policy_along() {
    let dir = with_foobar();
    let api = [
        "create",
        "api",
        "--group",
        "test",
        "--version",
        "v2",
        "--kind",
        "FooBar",
        "--controller=false",
    ];
    kubewright(dir.path(), &api).succeeds();
    webhook(dir.path(), "create", &["--policy", "--version", "v2"]).succeeds();
    webhook(dir.path(), "create", &["--policy", "--version", "v1"]).refuses(1, &["uses version `v2`", "--policy`"]);
    let delete = |more: &[&str]| {
        kubewright(
            dir.path(),
            &[&["delete", "api", "--group", "test", "--kind", "FooBar"], more].concat(),
        )
    };
    delete(&["--version", "v2"]).refuses(1, &["the policy of `FooBar` uses version `v2`", "--all-versions"]);
    webhook(dir.path(), "delete", &["--policy"]).succeeds();
    webhook(dir.path(), "create", &["--policy=mutating", "--version", "v2"]).succeeds();
    let flag = "with `kubewright delete webhook --group test --kind FooBar --policy=mutating`";
    delete(&["--version", "v2"]).refuses(1, &["the mutating policy of `FooBar` uses version `v2`", flag]);
    delete(&["--all-versions"]).succeeds();
    assert!(!dir.path().join("src/policies").exists());
}

#[test]
fn a_cluster_scoped_kind_may_have_a_policy() {
    let dir = project_without_crates();
    let api = "create api --group test --version v1 --kind FooBar --cluster";
    kubewright(dir.path(), &api.split(' ').collect::<Vec<_>>()).succeeds();
    webhook(dir.path(), "create", &["--policy", "--policy=mutating"]).succeeds();
    assert!(read(dir.path(), FILE).contains("in request.userInfo.groups"));
    assert!(read(dir.path(), MUTATING).contains(".operations([Operation::Create])"));
}

#[test]
fn an_operator_of_one_namespace_may_have_a_policy() {
    let dir = tempfile::tempdir().unwrap();
    kubewright(
        dir.path(),
        &["init", "--domain", "example.com", "--project-name", "x", "--namespaced"],
    )
    .succeeds();
    create(dir.path(), "test", "FooBar").succeeds();
    webhook(dir.path(), "create", &["--policy"]).succeeds();
    assert!(read(dir.path(), DEFAULT).contains("components:\n  - ../policy\n"));
}
