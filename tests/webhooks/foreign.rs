//! Webhooks for kinds of others: of Kubernetes, and of other operators.

use super::super::state;
use super::{DEFAULT, read};
use crate::cli::{Run, assert_same, kubewright, project_without_crates, tree};
use std::path::Path;

const DEPLOYMENT: [&str; 4] = ["--group", "apps", "--kind", "Deployment"];

fn webhook(dir: &Path, verb: &str, of: &[&str], more: &[&str]) -> Run {
    kubewright(dir, &[&[verb, "webhook"], of, more].concat())
}

fn controller(dir: &Path) {
    let api = [&["create", "api"], &DEPLOYMENT[..], &["--resource=false"]].concat();
    kubewright(dir, &api).succeeds();
}

#[test]
fn a_kind_of_kubernetes_is_recorded_with_its_webhooks_and_forgotten_with_them() {
    let dir = project_without_crates();
    let before = tree(dir.path());
    webhook(dir.path(), "create", &DEPLOYMENT, &["--validation"]).succeeds();
    let recorded = "{group: apps, kind: Deployment, plural: deployments, from: kubernetes, versions: [{version: v1}], \
                    webhooks: {name: deployment, version: v1, validation: true}}";
    assert!(
        read(dir.path(), "PROJECT").contains(recorded),
        "{}",
        read(dir.path(), "PROJECT")
    );
    assert!(read(dir.path(), DEFAULT).contains("components:\n  - ../webhook\n"));
    for file in ["src/webhooks/deployment.rs", "tests/deployment_webhooks.rs"] {
        assert_eq!(state(dir.path(), file), "clean", "{file}");
    }
    // Nothing that would block others, and no permission for the kind: the webhook gets the object with the request.
    let code = read(dir.path(), "src/webhooks/deployment.rs");
    for safe in [".foreign()", ".failure_policy(FailurePolicy::Ignore)"] {
        assert!(code.contains(safe), "{code}");
    }
    let again = webhook(
        dir.path(),
        "create",
        &DEPLOYMENT,
        &["--version", "v1", "--programmatic-validation"],
    );
    assert!(again.succeeds().stderr.contains("nothing to do"));
    webhook(dir.path(), "delete", &DEPLOYMENT, &[]).succeeds();
    assert_same(&before, &tree(dir.path()));
}

#[test]
fn a_dry_run_for_a_kind_of_kubernetes_writes_nothing() {
    let dir = project_without_crates();
    let before = tree(dir.path());
    let run = webhook(dir.path(), "create", &DEPLOYMENT, &["--defaulting", "--dry-run"]).succeeds();
    assert!(
        run.stdout.contains("+++ b/src/webhooks/deployment.rs"),
        "{}",
        run.stdout
    );
    assert_same(&before, &tree(dir.path()));
}

#[test]
fn groups_of_kubernetes_have_all_their_names() {
    let of = |group: &str, kind: &str| {
        let dir = project_without_crates();
        webhook(
            dir.path(),
            "create",
            &["--group", group, "--kind", kind],
            &["--validation"],
        )
        .succeeds();
        dir
    };
    let [core, nameless] = ["core", ""].map(|group| of(group, "Pod"));
    assert!(read(core.path(), "PROJECT").contains("{group: core, kind: Pod,"));
    assert_same(&tree(core.path()), &tree(nameless.path()));
    let [full, word] = ["networking.k8s.io", "networking"].map(|group| of(group, "Ingress"));
    assert!(read(full.path(), "PROJECT").contains("{group: networking.k8s.io, kind: Ingress,"));
    assert_same(&tree(full.path()), &tree(word.path()));
    webhook(
        word.path(),
        "delete",
        &["--group", "networking", "--kind", "Ingress"],
        &[],
    )
    .succeeds();
    assert_same(&tree(project_without_crates().path()), &tree(word.path()));
}

#[test]
fn the_controller_of_a_kind_and_its_webhooks_go_one_without_the_other() {
    let dir = project_without_crates();
    controller(dir.path());
    let before = tree(dir.path());
    webhook(
        dir.path(),
        "create",
        &["--kind", "Deployment"],
        &["--defaulting", "--validation"],
    )
    .succeeds();
    let both = tree(dir.path());
    webhook(dir.path(), "delete", &["--kind", "Deployment"], &[]).succeeds();
    assert_same(&before, &tree(dir.path()));

    // In the other order they are the same files.
    let other = project_without_crates();
    webhook(other.path(), "create", &DEPLOYMENT, &["--defaulting", "--validation"]).succeeds();
    controller(other.path());
    assert_same(&both, &tree(other.path()));
}

#[test]
fn a_kind_of_another_operator_keeps_its_types_when_its_webhooks_go() {
    let dir = project_without_crates();
    let crd = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/external/well.yaml");
    let crd = crd.display().to_string();
    kubewright(dir.path(), &["create", "api", "--from-crd", &crd, "--controller=false"]).succeeds();
    let before = tree(dir.path());
    webhook(
        dir.path(),
        "create",
        &["--kind", "Well"],
        &["--defaulting", "--validation"],
    )
    .succeeds();
    let code = read(dir.path(), "src/webhooks/well.rs");
    for part in [
        "use api::water_example_org::v1::Well;",
        ".foreign()",
        "FailurePolicy::Ignore",
    ] {
        assert!(code.contains(part), "{code}");
    }
    let test = read(dir.path(), "tests/well_webhooks.rs");
    assert!(test.contains("\"spec\": {\"depth\":1"), "{test}");
    webhook(dir.path(), "delete", &["--kind", "Well"], &[]).succeeds();
    assert_same(&before, &tree(dir.path()));
}

#[test]
fn webhooks_that_could_block_a_cluster_or_do_not_exist_are_refused() {
    let dir = project_without_crates();
    controller(dir.path());
    let before = tree(dir.path());
    let refused = |of: &[&str], more: &[&str], words: &[&str]| {
        webhook(dir.path(), "create", of, more).refuses(1, words);
    };
    let lease = ["--group", "coordination", "--kind", "Lease"];
    refused(
        &lease,
        &["--validation"],
        &["every controller of the cluster needs its leases"],
    );
    let policy = [
        "--group",
        "admissionregistration",
        "--kind",
        "ValidatingAdmissionPolicy",
    ];
    refused(&policy, &["--validation"], &["for webhook configurations"]);
    let misspelt = ["--group", "apps", "--kind", "Deploiment"];
    refused(
        &misspelt,
        &["--validation"],
        &["--group apps --version v1 --kind Deployment", "--from-crd"],
    );
    let absent = ["--group", "apps", "--version", "v2", "--kind", "StatefulSet"];
    refused(
        &absent,
        &["--validation"],
        &["--group apps --version v1 --kind StatefulSet"],
    );
    let words = ["`Deployment` is a kind of Kubernetes", "leave out `--conversion`"];
    refused(&DEPLOYMENT, &["--conversion"], &words);
    refused(
        &["--kind", "Pod"],
        &["--validation"],
        &["the `--group` of a kind of Kubernetes"],
    );
    assert_same(&before, &tree(dir.path()));
}
