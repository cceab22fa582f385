//! The commands, with a kubectl that prints a project's objects and writes down what it is asked.

use super::{deploy, execute};
use kubewright_schema::files::Streams;
use kubewright_schema::yaml;
use std::fs;
use std::path::{Path, PathBuf};

/// The output of kustomize, with a comment and a layout that no writer of YAML would choose.
const OBJECTS: &str = "\
# kept
apiVersion: v1
kind: Namespace
metadata:
  labels: {app.kubernetes.io/component: namespace, app.kubernetes.io/name: foo}
  name: foo-system
---
apiVersion: apps/v1
kind: Deployment
metadata:
  labels:
    control-plane: controller-manager
  name: foo-controller-manager
  namespace: foo-system
spec:
  template:
    spec:
      containers:
      - image: registry.example/op:1 # set by kustomize
        name: manager
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: foo-validating-webhook-configuration
webhooks:
- clientConfig:
    service: {name: foo-webhook-service, namespace: foo-system, path: /validate-foo}
  objectSelector:
    matchLabels:
      path: /kept
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  labels:
    app.kubernetes.io/component: crd
  name: foos.example.com
";

/// A folder with that kubectl.
struct Kubectl {
    folder: tempfile::TempDir,
}

impl Kubectl {
    /// `namespace` is what it answers about the namespace.
    fn new(objects: &str, namespace: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("objects"), objects).unwrap();
        fs::write(folder.path().join("namespace"), namespace).unwrap();
        let program = "cd \"${0%/*}\" && echo \"$*\" >>log && case $1 in\n\
                       kustomize) cat objects ;;\nget) cat namespace ;;\napply) cat >applied ;;\nesac\n";
        fs::write(folder.path().join("kubectl"), program).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The words after `--`.
    fn words(&self) -> [String; 3] {
        ["--", "sh", &self.path("kubectl").display().to_string()].map(str::to_owned)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Runs `manifests deploy`; returns the exit code and what is printed.
    fn deploy(&self, flags: &[&str]) -> (u8, String) {
        let words = flags.iter().map(|flag| (*flag).to_owned()).chain(self.words());
        said(|streams| deploy(words, streams))
    }
}

fn said(run: impl FnOnce(Streams<'_>) -> u8) -> (u8, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let streams = Streams {
        out: &mut out,
        err: &mut err,
    };
    let code = run(streams);
    (code, String::from_utf8([out, err].concat()).unwrap())
}

fn write(words: &[String], out: &Path, input: &str) -> (u8, String) {
    let out = format!("--out={}", out.display());
    let words = [out].into_iter().chain(words.iter().cloned());
    said(|streams| execute(words, &mut input.as_bytes(), streams))
}

#[test]
fn the_installer_has_the_named_image_and_other_documents_as_they_came() {
    let kubectl = Kubectl::new(OBJECTS, "");
    let out = kubectl.path("new/install.yaml");
    let words = [
        vec!["--image=registry.example/op:2".to_owned()],
        kubectl.words().to_vec(),
    ]
    .concat();
    assert_eq!(write(&words, &out, ""), (0, format!("{}\n", out.display())));
    assert_eq!(kubectl.read("log"), "kustomize config/default\n");
    let text = kubectl.read("new/install.yaml");
    assert!(
        text.contains("- image: registry.example/op:2\n") && !text.contains("op:1"),
        "{text}"
    );
    let (before, after) = (
        OBJECTS.split_once("apiVersion: apps").unwrap().0,
        OBJECTS.split_once("kustomize\n").unwrap().1,
    );
    let after = after.split_once("---\n").unwrap().1;
    assert!(text.starts_with(before) && text.ends_with(after), "{text}");
}

#[test]
fn without_an_image_the_installer_is_the_output_of_kustomize() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("install.yaml");
    assert_eq!(write(&[], &out, OBJECTS).0, 0);
    assert_eq!(fs::read_to_string(&out).unwrap(), OBJECTS);
}

#[test]
fn a_kubectl_that_fails_or_prints_nothing_leaves_the_old_installer() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("install.yaml");
    fs::write(&out, "old").unwrap();
    let run = |command: &[&str], input: &str| {
        let words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        let (code, said) = write(&words, &out, input);
        assert_eq!((code, fs::read_to_string(&out).unwrap().as_str()), (1, "old"), "{said}");
        said
    };
    let failed = run(&["--", "sh", "-c", "echo 'kind: Half'; exit 3"], "");
    assert!(
        failed.contains("kustomize config/default` failed: exit status: 3"),
        "{failed}"
    );
    let missing = run(&["--", "/no/kubectl"], "");
    assert!(
        missing.contains("`/no/kubectl` is not installed\n\nhint: install it, or name its path with KUBECTL"),
        "{missing}"
    );
    let nothing = run(&["--", "true"], "");
    assert!(nothing.contains("the output of kustomize has no objects"), "{nothing}");
    let other = run(&["--image=op:2"], "kind: Service\n");
    assert!(other.contains("config/default has to contain ../manager"), "{other}");
}

#[test]
fn deploy_makes_a_namespace_and_updates_the_one_that_it_has_made() {
    let own = r#"{"metadata": {"labels": {"app.kubernetes.io/component": "namespace", "app.kubernetes.io/name": "foo", "more": "x"}}}"#;
    for namespace in ["", own] {
        let kubectl = Kubectl::new(OBJECTS, namespace);
        assert_eq!(kubectl.deploy(&["--image", "op:2"]), (0, String::new()));
        let applied = kubectl.read("applied");
        assert!(
            applied.contains("kind: Namespace\n") && applied.contains("image: op:2\n"),
            "{applied}"
        );
        let log = "kustomize config/default\nget namespace foo-system --ignore-not-found --output json\n\
                   apply --server-side --force-conflicts -f -\n";
        assert_eq!(kubectl.read("log"), log);
    }
}

#[test]
fn deploy_leaves_a_namespace_that_was_there_before() {
    let of_another_operator =
        r#"{"metadata": {"labels": {"app.kubernetes.io/component": "namespace", "app.kubernetes.io/name": "bar"}}}"#;
    for namespace in [r#"{"metadata": {"name": "foo-system"}}"#, of_another_operator] {
        let kubectl = Kubectl::new(OBJECTS, namespace);
        let (code, said) = kubectl.deploy(&[]);
        assert!(
            code == 0 && said.starts_with("note: the namespace `foo-system` was there before"),
            "{said}"
        );
        let applied = kubectl.read("applied");
        assert!(
            !applied.contains("kind: Namespace\n") && applied.contains("kind: Deployment\n"),
            "{applied}"
        );
    }
}

#[test]
fn an_operator_on_this_machine_gets_webhooks_at_its_url_or_none() {
    let kubectl = Kubectl::new(OBJECTS, "");
    assert_eq!(kubectl.deploy(&["--local"]).0, 0);
    assert_eq!(kubectl.read("applied").matches("kind:").count(), 1, "the namespace");
    assert_eq!(
        kubectl
            .deploy(&["--local", "--webhook-url", "https://192.168.1.5:9443/"])
            .0,
        0
    );
    let applied = yaml::documents(&kubectl.read("applied")).unwrap();
    assert_eq!(applied.len(), 2);
    let webhook = &applied[1]["webhooks"][0];
    assert_eq!(
        webhook["clientConfig"],
        serde_json::json!({"url": "https://192.168.1.5:9443/validate-foo"})
    );
    assert_eq!(webhook["objectSelector"]["matchLabels"]["path"], "/kept");
    let (code, said) = kubectl.deploy(&["--webhook-url", "https://192.168.1.5:9443"]);
    assert!(code == 2 && said.contains("has no effect without `--local`"), "{said}");
}

/// A kubectl whose kubeconfig has a client certificate, and which prints the token of an account.
const ACCOUNT: &str = r#"
case "$*" in
kustomize*) cat "${0%/*}/objects" ;;
apply*) cat >"${0%/*}/applied" ;;
"--namespace foo-system create token runner --duration 24h") echo a.b.c ;;
"config view --raw --minify --flatten --output json") echo '{"clusters": [{"name": "c", "cluster": {"server": "https://10.0.0.1"}}],
    "contexts": [{"name": "here", "context": {"cluster": "c", "user": "me"}}], "current-context": "here",
    "users": [{"name": "me", "user": {"client-key-data": "secret"}}]}' ;;
esac
"#;

#[test]
fn an_operator_on_this_machine_gets_a_kubeconfig_with_nothing_but_its_token() {
    let objects = OBJECTS.replace(
        "      containers:\n",
        "      serviceAccountName: runner\n      containers:\n",
    );
    let kubectl = Kubectl::new(&objects, "");
    fs::write(kubectl.path("kubectl"), ACCOUNT).unwrap();
    let out = kubectl.path("target/operator.kubeconfig");
    let words = || {
        let out = format!("--out={}", out.display());
        [out].into_iter().chain(kubectl.words())
    };
    fs::create_dir(kubectl.path("target")).unwrap();
    fs::write(&out, "of an earlier run, for everybody").unwrap();
    let (code, said) = said(|streams| super::kubeconfig(words(), streams));
    assert_eq!(
        (code, said.as_str()),
        (0, "running as runner in the namespace foo-system\n")
    );
    let config = yaml::documents(&fs::read_to_string(&out).unwrap()).unwrap().remove(0);
    let wanted = serde_json::json!({
        "clusters": [{"name": "c", "cluster": {"server": "https://10.0.0.1"}}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "operator", "namespace": "foo-system"}}],
        "current-context": "here",
        "users": [{"name": "operator", "user": {"token": "a.b.c"}}],
    });
    assert_eq!(config, wanted);
    assert!(!kubectl.read("applied").contains("kind: Deployment\n"));
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&out).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn without_a_context_or_an_operator_there_is_no_kubeconfig() {
    let no_context = ACCOUNT.replace("\"contexts\"", "\"others\"");
    for (kubectl, objects, wrong) in [
        (
            no_context.as_str(),
            OBJECTS,
            "has no current context\n\nhint: kubectl config use-context",
        ),
        (ACCOUNT, "kind: Namespace\n", "config/default has to contain ../manager"),
    ] {
        let cluster = Kubectl::new(objects, "");
        fs::write(
            cluster.path("kubectl"),
            kubectl.replace("create token runner", "create token default"),
        )
        .unwrap();
        let out = cluster.path("operator.kubeconfig");
        let words = [format!("--out={}", out.display())].into_iter().chain(cluster.words());
        let (code, said) = said(|streams| super::kubeconfig(words, streams));
        assert!(code == 1 && said.contains(wrong) && !out.exists(), "{said}");
    }
}
