//! `make test-image` of a generated project, with programs in the place of the container runtime, of kind, kubectl and curl. What it asks a
//! cluster has been tried on a real control plane by hand; an image has not been built.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

const DOCKER: &str = r#"[ "$1" != info ] || [ -z "$NO_DOCKER" ]"#;

const KIND: &str = r#"
case "$*" in
version) [ -z "$NO_KIND" ] ;;
"get clusters")
    [ -z "$UNLISTED" ] || { echo "no permission" >&2; exit 1; }
    echo other
    # More than a pipe holds, after the name.
    [ -z "$EXISTING" ] || { echo foobar-operator-test; seq 20000; } ;;
"create cluster"*)
    [ -z "$RACED" ] || { echo "node(s) already exist" >&2; exit 1; }
    [ -z "$KILLED" ] || kill -KILL $$ ;;
"get kubeconfig"*) echo "current-context: kind" ;;
esac"#;

/// A cluster in which all goes well, but for what the variables say.
const KUBECTL: &str = r#"
case " $* " in
*" get namespace "*) [ -z "$DEPLOYED" ] || echo namespace/foobar-operator-system ;;
*" get -k config/crd "*) [ -z "$INSTALLED" ] || echo customresourcedefinition.apiextensions.k8s.io/foobars.test.example.com ;;
*servicemonitors*) exit 1 ;;
*" kustomize "*) cat "$2/kustomization.yaml" >>"$LOG" ;;
*" apply "*"-f - ") cat >/dev/null ;;
*" create --dry-run=client --validate=false "*) printf '@\n["","apps"]|["configmaps","foobars/status"]|["get"]||\n[""]|["secrets"]|["patch"]|["a","b"]|\n||["get"]||["/metrics"]\n@kube-system\n[""]|["services"]|["list"]||\n["*"]|["*"]|["watch"]||["/*"]\n' ;;
*" impersonate "*|*" clusterrolebindings"*|*" can-i * * "*) echo no && exit 1 ;;
*" auth can-i $DENIED "*) echo no && exit 1 ;;
*" auth can-i "*) echo yes ;;
*" create token "*) echo "token-of-$5" ;;
*" port-forward "*) echo "Forwarding from 127.0.0.1:1 -> 2" && exec sleep 60 ;;
*" get -k config/samples "*) echo foobar/foobar-sample ;;
*" get namespaces,"*) [ -z "$LEFT" ] || echo clusterrole/foobar-operator-manager-role ;;
esac"#;

/// A cargo that runs `manifests deploy` and `manifests undeploy` as far as kubectl is concerned.
const CARGO: &str = r#"
command=kustomize
case "$*" in *" undeploy "*) command="delete -k" ;; esac
while [ $# -gt 3 ] && [ "$1" != --kustomization ]; do shift; done
"$4" $command "$2" >/dev/null"#;

const CURL: &str = r#"
case "$*" in
--version) ;;
*/healthz|*/readyz) printf 200 ;;
*token-of-default*) printf 403 ;;
*token-of-metrics-test*) printf 200 && while [ "$1" != --output ]; do shift; done && echo "kubewright_up 1" >"$2" ;;
*) printf 401 ;;
esac"#;

/// What the variables may name.
const VARIABLES: [&str; 9] = [
    "NO_DOCKER",
    "NO_KIND",
    "EXISTING",
    "UNLISTED",
    "RACED",
    "KILLED",
    "DEPLOYED",
    "INSTALLED",
    "LEFT",
];

struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/one");
        for file in ["Makefile", "config", "tests"] {
            let copied = Command::new("cp")
                .arg("-R")
                .arg(golden.join(file))
                .arg(dir.path())
                .status();
            assert!(copied.unwrap().success());
        }
        fs::create_dir(dir.path().join("bin")).unwrap();
        for (name, text) in [
            ("docker", DOCKER),
            ("kind", KIND),
            ("kubectl", KUBECTL),
            ("cargo", CARGO),
            ("curl", CURL),
        ] {
            let path = dir.path().join("bin").join(name);
            fs::write(
                &path,
                format!("#!/usr/bin/env bash\necho \"{name} $*\" >>\"$LOG\"\n{text}\n"),
            )
            .unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self(dir)
    }

    fn log(&self) -> PathBuf {
        self.0.path().join("log")
    }

    /// Runs it in a world with this peculiarity.
    fn test_image(&self, peculiar: &str) -> Output {
        let mut make = Command::new("make");
        // Without a rule for `manifests`, which would be built.
        make.args(["test-image", "--old-file=manifests"])
            .current_dir(self.0.path());
        let path = format!("{}:{}", self.0.path().join("bin").display(), env::var("PATH").unwrap());
        make.env("PATH", path).env("LOG", self.log());
        for variable in VARIABLES {
            make.env(variable, if variable == peculiar { "yes" } else { "" });
        }
        make.env("DENIED", peculiar)
            .env_remove("KUBECONFIG")
            .env_remove("CARGO")
            .env_remove("CARGOFLAGS");
        make.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").output().unwrap()
    }
}

#[test]
fn the_image_is_loaded_deployed_with_all_components_asked_and_removed() {
    let project = Project::new();
    let output = project.test_image("nothing");
    let (said, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{said}{errors}");
    assert!(
        said.contains("10 permissions are granted") && said.contains("skipped: ../prometheus"),
        "{said}"
    );
    let log = fs::read_to_string(project.log()).unwrap();
    let mut rest = log.as_str();
    // In this order.
    for step in [
        "docker build --tag foobar-operator:test .",
        "kind create cluster --name foobar-operator-test",
        "kind load docker-image foobar-operator:test --name foobar-operator-test",
        "cargo run --quiet --bin manifests -- deploy --image foobar-operator:test --kustomization",
        "components:\n  - ../metrics\n  - ../network-policy\n",
        "rollout status deployment/foobar-operator-controller-manager",
        "auth can-i get configmaps --all-namespaces --as system:serviceaccount:foobar-operator-system:foobar-operator-controller-manager",
        "auth can-i get foobars --all-namespaces --subresource=status",
        "auth can-i get configmaps.apps --all-namespaces",
        "auth can-i patch secrets/b --all-namespaces",
        "auth can-i get /metrics",
        "auth can-i list services --namespace=kube-system",
        "auth can-i watch *.* --namespace=kube-system",
        "auth can-i watch /* --as",
        "kubectl --namespace default wait --for condition=Ready --timeout 2m foobar/foobar-sample",
        "cargo run --quiet --bin manifests -- undeploy --operator foobar-operator --kustomization",
        "kind delete cluster --name foobar-operator-test",
    ] {
        let at = rest
            .find(step)
            .unwrap_or_else(|| panic!("no `{step}` in its place in\n{log}"));
        rest = &rest[at + step.len()..];
    }
}

#[test]
fn what_is_missing_or_wrong_fails_with_a_remedy() {
    for (peculiar, error, hint) in [
        ("NO_DOCKER", "there is no container runtime", "CONTAINER_TOOL"),
        ("NO_KIND", "`kind` is not installed", "KIND"),
        (
            "DEPLOYED",
            "has the namespace `foobar-operator-system` already",
            "KIND_CLUSTER",
        ),
        ("UNLISTED", "`kind get clusters` fails", "see what it prints"),
        (
            "INSTALLED",
            "has kinds of this operator already: customresourcedefinition.apiextensions.k8s.io/foobars.test.example.com",
            "KIND_CLUSTER",
        ),
        ("patch secrets/a", "auth can-i patch secrets/a", "config/rbac"),
        (
            "LEFT",
            "`make undeploy` leaves clusterrole/foobar-operator-manager-role",
            "what it prints",
        ),
    ] {
        let project = Project::new();
        let output = project.test_image(peculiar);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{peculiar}");
        let (before, after) = errors
            .split_once("\n\nhint: ")
            .unwrap_or_else(|| panic!("{peculiar}: {errors}"));
        assert!(before.contains(error) && after.contains(hint), "{peculiar}: {errors}");
        let log = fs::read_to_string(project.log()).unwrap();
        // A cluster that it has made is deleted.
        assert_eq!(
            log.contains("kind create cluster"),
            log.contains("kind delete cluster"),
            "{log}"
        );
        // What it has not deployed is not removed.
        let deployed = log.contains("kubectl kustomize");
        assert!(deployed || !log.contains("kubectl delete"), "{peculiar}: {log}");
    }
}

#[test]
fn a_cluster_that_the_test_has_not_made_is_never_deleted() {
    for (peculiar, passes, deleted) in [
        ("EXISTING", true, false),
        ("UNLISTED", false, false),
        ("RACED", false, false),
        // kind has made a part of it.
        ("KILLED", false, true),
    ] {
        let project = Project::new();
        let output = project.test_image(peculiar);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), passes, "{peculiar}: {errors}");
        let log = fs::read_to_string(project.log()).unwrap();
        assert_eq!(log.contains("kind delete cluster"), deleted, "{peculiar}: {log}");
    }
}
