//! The whole test of an image, with programs in the place of the container runtime, of kind, kubectl and curl.

#![cfg(unix)]

use super::{execute, watched};
use kubewright_schema::files::Streams;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::time::Duration;
use std::{env, fs, thread};

const DOCKER: &str = r#"[ "$1" != info ] || [ -z "$NO_DOCKER" ]"#;

const KIND: &str = r#"
case "$*" in
version) [ -z "$NO_KIND" ] ;;
"get clusters")
    [ -z "$UNLISTED" ] || { echo "no permission" >&2; exit 1; }
    echo other
    [ -z "$EXISTING" ] || echo foobar-operator-test ;;
"create cluster"*)
    [ -z "$RACED" ] || { echo "node(s) already exist" >&2; exit 1; }
    [ -z "$KILLED" ] || kill -KILL $$ ;;
"get kubeconfig"*) echo "current-context: kind" ;;
esac"#;

/// A cluster in which all goes well, except for what a variable names. The first two arguments are the kubeconfig.
const KUBECTL: &str = r#"
case " $* " in
*" kustomize "*)
    cat "$4/kustomization.yaml" >>"$LOG"
    sed 's/name: manager-role$/name: foobar-operator-manager-role/' config/rbac/role.yaml
    cat <<END
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: foobar-operator-controller-manager, namespace: foobar-operator-system}
spec:
  selector: {matchLabels: {control-plane: controller-manager}}
  template: {spec: {serviceAccountName: foobar-operator-controller-manager, containers: [{name: manager, image: "foobar-operator:test"}]}}
END
    ;;
*" get namespace "*) [ -z "$DEPLOYED" ] || echo namespace/foobar-operator-system ;;
*" get -k config/crd "*)
    [ -z "$INSTALLED" ] || echo customresourcedefinition.apiextensions.k8s.io/foobars.test.example.com ;;
*servicemonitors*) exit 1 ;;
*" -f - ") cat >/dev/null ;;
*" impersonate "*|*" clusterrolebindings"*|*" can-i * * "*) echo no && exit 1 ;;
*" auth can-i $DENIED "*) echo no && exit 1 ;;
*" auth can-i "*) echo yes ;;
*" create token "*) echo "token-of-$7" ;;
*" port-forward "*) echo "Forwarding from 127.0.0.1:1 -> 2" && exec sleep 60 ;;
*" rollout "*) [ -z "$HANGING" ] || { touch "$LOG.hanging"; exec sleep 60; } ;;
*" get -k config/samples "*) printf "foobar/foobar-sample\nnote/idle\n" ;;
*" get namespaces,"*) [ -z "$LEFT" ] || echo clusterrole/foobar-operator-manager-role ;;
esac"#;

const CURL: &str = r#"
[ "$*" != --version ] || exit 0
token=$(cat)
case "$token $*" in
*/healthz|*/readyz) printf 200 && while [ "$1" != --output ]; do shift; done && echo ok >"$2" ;;
*token-of-default*) printf 403 && while [ "$1" != --output ]; do shift; done && echo no >"$2" ;;
*token-of-metrics-test*) printf 200 && while [ "$1" != --output ]; do shift; done && echo "kubewright_up 1" >"$2" ;;
*) printf 401 && while [ "$1" != --output ]; do shift; done && echo no >"$2" ;;
esac"#;

/// The variables of the programs above.
const VARIABLES: [&str; 10] = [
    "NO_DOCKER",
    "NO_KIND",
    "EXISTING",
    "UNLISTED",
    "RACED",
    "KILLED",
    "DEPLOYED",
    "INSTALLED",
    "LEFT",
    "HANGING",
];

/// Set for the process that a test starts.
const IS_PROGRAM: &str = "TEST_IMAGE_IS_PROGRAM";

struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/one/config");
        let copied = Command::new("cp").arg("-R").arg(golden).arg(dir.path()).status();
        assert!(copied.unwrap().success());
        fs::create_dir(dir.path().join("bin")).unwrap();
        for (name, text) in [("docker", DOCKER), ("kind", KIND), ("kubectl", KUBECTL), ("curl", CURL)] {
            let path = dir.path().join("bin").join(name);
            fs::write(&path, format!("#!/bin/sh\necho \"{name} $*\" >>\"$LOG\"\n{text}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self(dir)
    }

    fn log(&self) -> PathBuf {
        self.0.path().join("log")
    }

    /// This program with one of its tests, `program`: the folder is one of a process.
    fn command(&self, variable: &str) -> Command {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "test_image::tests::program", "--nocapture"]);
        let path = format!("{}:{}", self.0.path().join("bin").display(), env::var("PATH").unwrap());
        command
            .env("PATH", path)
            .env("LOG", self.log())
            .env("DENIED", variable)
            .env(IS_PROGRAM, "yes");
        for known in VARIABLES {
            command.env(known, if known == variable { "yes" } else { "" });
        }
        command.current_dir(self.0.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn test_image(&self, variable: &str) -> Output {
        self.command(variable).output().unwrap()
    }
}

/// The program of the other tests; by itself it tests nothing.
#[test]
fn program() -> ExitCode {
    if env::var_os(IS_PROGRAM).is_none() {
        return ExitCode::SUCCESS;
    }
    let words = ["--operator", "foobar-operator", "--except", "idle", "--", "kubectl"].map(str::to_owned);
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    let streams = Streams {
        out: &mut out,
        err: &mut err,
    };
    execute(words.into_iter(), streams).into()
}

#[test]
fn the_image_is_loaded_deployed_with_all_components_asked_and_removed() {
    let project = Project::new();
    let output = project.test_image("nothing");
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}{errors}");
    for part in [
        "14 permissions are granted",
        "skipped: ../prometheus",
        "localhost/foobar-operator:test passes",
    ] {
        assert!(printed.contains(part), "{printed}");
    }
    let log = fs::read_to_string(project.log()).unwrap();
    let mut rest = log.as_str();
    // In this order.
    for step in [
        "docker build --tag localhost/foobar-operator:test .",
        "kind create cluster --name foobar-operator-test --kubeconfig target/test-image/kubeconfig",
        "docker save --output target/test-image/image.tar localhost/foobar-operator:test",
        "kind load image-archive target/test-image/image.tar --name foobar-operator-test",
        "kustomize target/test-image/config/default",
        "../metrics",
        "../network-policy",
        "apply --server-side --force-conflicts -f -",
        "rollout status deployment/foobar-operator-controller-manager",
        "auth can-i create configmaps --all-namespaces --as system:serviceaccount:foobar-operator-system:foobar-operator-controller-manager",
        "auth can-i * * --all-namespaces --as",
        "port-forward --address 127.0.0.1 deployment/foobar-operator-controller-manager :8081",
        "create clusterrolebinding foobar-operator-metrics-reader-test --clusterrole foobar-operator-metrics-reader",
        "delete --ignore-not-found clusterrolebinding foobar-operator-metrics-reader-test",
        "--namespace default apply --server-side -k config/samples",
        "--namespace default wait --for condition=Ready --timeout 2m foobar/foobar-sample\n",
        "delete --ignore-not-found=false -f -",
        "kind delete cluster --name foobar-operator-test",
    ] {
        let at = rest
            .find(step)
            .unwrap_or_else(|| panic!("no `{step}` in its place in\n{log}"));
        rest = &rest[at + step.len()..];
    }
    assert!(!log.contains("token-of"), "a token in an argument: {log}");
    assert!(!project.0.path().join("target/test-image").exists());
}

#[test]
fn samples_are_applied_where_the_operator_works() {
    let with = |env: serde_json::Value| json!({"spec": {"template": {"spec": {"containers": [{"env": env}]}}}});
    let reference = json!({"fieldRef": {"fieldPath": "metadata.namespace"}});
    for (env, namespace) in [
        (json!([]), "default"),
        (json!([{"name": "WATCH_NAMESPACE", "valueFrom": reference}]), "own"),
        (json!([{"name": "WATCH_NAMESPACE", "value": "a, b"}]), "a"),
    ] {
        assert_eq!(watched(&with(env), "own"), namespace);
    }
}

#[test]
fn what_is_missing_or_wrong_fails_with_a_remedy() {
    for (variable, error, hint) in [
        ("NO_DOCKER", "there is no container runtime", "CONTAINER_TOOL"),
        ("NO_KIND", "`kind` is not installed", "KIND"),
        (
            "DEPLOYED",
            "has the namespace `foobar-operator-system` already",
            "KIND_CLUSTER",
        ),
        (
            "INSTALLED",
            "has kinds of this operator already: customresourcedefinition.apiextensions.k8s.io/foobars.test.example.com",
            "KIND_CLUSTER",
        ),
        ("patch configmaps", "auth can-i patch configmaps", "config/rbac"),
        (
            "LEFT",
            "`make undeploy` leaves clusterrole/foobar-operator-manager-role",
            "what it prints",
        ),
    ] {
        let project = Project::new();
        let output = project.test_image(variable);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{variable}");
        let (before, after) = errors
            .split_once("\n\nhint: ")
            .unwrap_or_else(|| panic!("{variable}: {errors}"));
        assert!(before.contains(error) && after.contains(hint), "{variable}: {errors}");
        let log = fs::read_to_string(project.log()).unwrap();
        assert_eq!(
            log.contains("kind create cluster"),
            log.contains("kind delete cluster"),
            "{log}"
        );
        // Objects of others are never deleted.
        let deployed = log.contains(" kustomize ");
        assert!(deployed || !log.contains(" delete -k"), "{variable}: {log}");
    }
}

#[test]
fn a_cluster_that_the_test_has_not_made_is_never_deleted() {
    for (variable, passes, deleted) in [
        ("EXISTING", true, false),
        ("UNLISTED", false, false),
        ("RACED", false, false),
        // kind has made a part of it.
        ("KILLED", false, true),
    ] {
        let project = Project::new();
        let output = project.test_image(variable);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), passes, "{variable}: {errors}");
        let log = fs::read_to_string(project.log()).unwrap();
        assert_eq!(log.contains("kind delete cluster"), deleted, "{variable}: {log}");
    }
}

#[test]
fn an_interrupted_test_deletes_its_cluster() {
    let project = Project::new();
    let mut command = project.command("HANGING");
    // A terminal sends the signal to all processes of the group.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = command.spawn().unwrap();
    let hanging = project.0.path().join("log.hanging");
    while !hanging.exists() {
        thread::sleep(Duration::from_millis(10));
    }
    let group = format!("-{}", child.id());
    let sent = Command::new("kill").args(["-INT", "--", &group]).status();
    assert!(sent.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success() && output.status.code().is_some(), "{output:?}");
    let log = fs::read_to_string(project.log()).unwrap();
    assert!(log.contains("kind delete cluster"), "{log}");
}
