//! `TestCluster::run_operator` with roles and refused requests of every shape. The folder `config` and the environment are
//! those of a process, so each case runs this program again, with one of the tests below the line.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
    time::Duration,
};

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::{
    Api, Resource,
    api::{ObjectMeta, PostParams},
};
use kubewright_runtime::{
    Result,
    testing::{TestCluster, wait_for},
};
use tempfile::TempDir;

const OPERATOR: &str = env!("CARGO_BIN_EXE_kit");
/// Set in the processes of cases.
const CASE: &str = "KIT_CASE";
/// What the ConfigMap of a case has.
const DATA: &str = "KIT_DATA";
/// The declaration that grants the requests that are refused.
const MISSING: &str = r#".rule(&[""], &["secrets"], &["list"])"#;

/// A project's folder with its permissions, and the variables of its programs.
struct Case {
    folder: TempDir,
    variables: Vec<(&'static str, String)>,
    on_kube_apiserver: bool,
}

impl Case {
    fn new(on_kube_apiserver: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let rbac = folder.path().join("config/rbac");
        fs::create_dir_all(&rbac).expect("its folders");
        let given = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/rbac");
        for entry in fs::read_dir(given).expect("the permissions") {
            let entry = entry.expect("a file");
            fs::copy(entry.path(), rbac.join(entry.file_name())).expect("a copy");
        }
        Self {
            folder,
            variables: Vec::new(),
            on_kube_apiserver,
        }
    }

    fn with(mut self, variable: &'static str, value: &str) -> Self {
        self.variables.push((variable, value.to_owned()));
        self
    }

    /// The operator's ClusterRole is bound in its own namespace only.
    fn narrowed(self) -> Self {
        let file = self.folder.path().join("config/rbac/role_binding.yaml");
        let binding = fs::read_to_string(&file).expect("the binding");
        let narrow = binding.replace("kind: ClusterRoleBinding", "kind: RoleBinding");
        assert_ne!(narrow, binding);
        fs::write(file, narrow).expect("the binding is written");
        self
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder);
        // Those that decide on the cluster, and on the log, are the case's.
        for other in ["RUST_LOG", "USE_EXISTING_CLUSTER"] {
            command.env_remove(other);
        }
        if !self.on_kube_apiserver {
            command.env_remove("KUBEBUILDER_ASSETS");
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs one test of this program, in the folder and with the variables.
    fn runs(&self, test: &str) {
        let succeeds = |output: &Output| output.status.success();
        let made = self.command(Path::new(OPERATOR)).arg("manifests").output();
        let made = made.expect("the operator runs");
        assert!(succeeds(&made), "{}", String::from_utf8_lossy(&made.stderr));
        let this = std::env::current_exe().expect("this program");
        let mut command = self.command(&this);
        command.args(["--ignored", "--exact", test, "--nocapture"]);
        let output = command.env(CASE, "yes").output().expect("this program runs");
        let said = [&*output.stdout, &*output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(succeeds(&output) && said.contains("1 passed"), "{test}: {said}");
    }
}

fn narrowed(on_kube_apiserver: bool) {
    Case::new(on_kube_apiserver)
        .narrowed()
        .runs("what_roles_grant_is_not_refused");
}

/// The operator has a role in a namespace that a new cluster does not have.
fn elsewhere(on_kube_apiserver: bool) -> Case {
    Case::new(on_kube_apiserver).with("KIT_GRANT_IN", "monitoring")
}

#[test]
fn an_operator_has_the_clock_the_arguments_and_the_environment_of_its_test() {
    Case::new(false).runs("ten_minutes_later");
}

#[test]
fn an_operator_that_is_killed_between_writes_goes_on_from_what_it_left() {
    Case::new(false).runs("three_looks");
}

#[test]
fn the_namespace_of_a_role_is_created() {
    elsewhere(false).runs("what_roles_grant_is_not_refused");
}

#[tokio::test]
async fn an_existing_cluster_has_the_namespaces_of_roles_or_an_error_names_them() -> Result<()> {
    let cluster = TestCluster::start().await?;
    let kubeconfig = cluster.kubeconfig().expect("a cluster of this test's own");
    let case = elsewhere(false)
        .with("USE_EXISTING_CLUSTER", "true")
        .with("KUBECONFIG", &kubeconfig.display().to_string());
    case.runs("a_missing_namespace_is_named");
    let namespaces: Api<Namespace> = Api::all(cluster.client());
    assert!(namespaces.get_opt("monitoring").await?.is_none(), "it is not created");
    cluster
        .apply("{apiVersion: v1, kind: Namespace, metadata: {name: monitoring}}")
        .await?;
    case.runs("what_roles_grant_is_not_refused");
    Ok(())
}

#[test]
fn a_cluster_role_may_be_narrowed_by_role_bindings() {
    narrowed(false);
}

/// The operator lists Secrets, and returns the error.
fn refused(on_kube_apiserver: bool) -> Case {
    Case::new(on_kube_apiserver).with(DATA, "list: secrets")
}

#[test]
fn a_refused_request_fails_the_test_whatever_is_logged() {
    refused(false).runs("a_refused_request_fails_the_test");
    for filter in ["error", "kit=debug", "kubewright_runtime::worker=off"] {
        refused(false)
            .with("RUST_LOG", filter)
            .runs("a_refused_request_fails_the_test");
    }
}

#[test]
fn a_refusal_that_the_operator_ignores_fails_the_test() {
    Case::new(false)
        .with(DATA, "list: secrets, swallow: 'yes'")
        .runs("a_refused_request_fails_the_test");
}

/// The operator watches Secrets.
fn watching(on_kube_apiserver: bool) -> Case {
    Case::new(on_kube_apiserver).with("KIT_WATCH_SECRETS", "true")
}

#[test]
fn a_refused_watch_is_the_reason_why_the_operator_is_not_ready() {
    watching(false).runs("an_operator_that_may_not_watch_is_not_ready");
}

/// The operator owns Secrets.
fn owning(on_kube_apiserver: bool) -> Case {
    Case::new(on_kube_apiserver).with("KIT_OWN_SECRETS", "true")
}

#[test]
fn an_object_of_a_test_that_owns_does_not_see_is_named_in_the_log_of_the_operator() {
    owning(false).runs("an_object_without_the_label_is_named");
}

#[test]
#[ignore = "needs KUBEBUILDER_ASSETS"]
fn permissions_on_kube_apiserver() {
    narrowed(true);
    elsewhere(true).runs("what_roles_grant_is_not_refused");
    let quiet = refused(true).with("RUST_LOG", "error");
    quiet.runs("a_refused_request_fails_the_test");
    watching(true).runs("an_operator_that_may_not_watch_is_not_ready");
    owning(true).runs("an_object_without_the_label_is_named");
}

// Below this line are the tests that cases run.

fn is_case() -> bool {
    std::env::var_os(CASE).is_some()
}

/// Applies a ConfigMap with these data, and waits until the operator has finished a reconcile of it.
async fn looked_at(cluster: &TestCluster, data: &str) -> Result<()> {
    let map = format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: asked}}, data: {{{data}}}}}");
    cluster.apply(&map).await?;
    let maps: Api<ConfigMap> = Api::namespaced(cluster.client(), cluster.namespace());
    // The second reconcile begins after the end of the first.
    wait_for("two reconciles", async || {
        let data = maps.get("asked").await?.data.unwrap_or_default();
        Ok(data.get("looked").is_some_and(|looked| looked != "1"))
    })
    .await
}

/// Why the operator does not start on a new cluster.
async fn refused_start() -> Result<String> {
    let cluster = TestCluster::start().await?;
    let started = cluster.run_operator(OPERATOR).await;
    Ok(started.err().expect("an error").to_string())
}

#[tokio::test]
#[ignore = "cases run it"]
async fn what_roles_grant_is_not_refused() -> Result<()> {
    if !is_case() {
        return Ok(());
    }
    let cluster = TestCluster::start().await?;
    let operator = cluster.run_operator(OPERATOR).await?;
    looked_at(&cluster, "list: nothing").await?;
    operator.stop()
}

#[tokio::test]
#[ignore = "cases run it"]
async fn a_refused_request_fails_the_test() -> Result<()> {
    if !is_case() {
        return Ok(());
    }
    let cluster = TestCluster::start().await?;
    let operator = cluster.run_operator(OPERATOR).await?;
    looked_at(&cluster, &std::env::var(DATA).expect("the data")).await?;
    let refused = operator.stop().expect_err("an error").to_string();
    assert!(refused.ends_with(MISSING), "{refused}");
    Ok(())
}

#[tokio::test]
#[ignore = "cases run it"]
async fn an_operator_that_may_not_watch_is_not_ready() -> Result<()> {
    if !is_case() {
        return Ok(());
    }
    let refused = refused_start().await?;
    assert!(
        refused.starts_with("the operator is not ready: no role grants"),
        "{refused}"
    );
    assert!(refused.ends_with(MISSING), "{refused}");
    Ok(())
}

#[tokio::test]
#[ignore = "cases run it"]
async fn a_missing_namespace_is_named() -> Result<()> {
    if !is_case() {
        return Ok(());
    }
    let refused = refused_start().await?;
    assert!(refused.contains("`monitoring`"), "{refused}");
    let hint = "hint: run `kubectl create namespace monitoring`";
    assert!(refused.contains(hint), "{refused}");
    Ok(())
}

#[tokio::test]
#[ignore = "cases run it"]
async fn an_object_without_the_label_is_named() -> Result<()> {
    if !is_case() {
        return Ok(());
    }
    let cluster = TestCluster::start().await?;
    let operator = cluster.run_operator(OPERATOR).await?;
    // The operator works from now on: at its start it labels such objects.
    looked_at(&cluster, "list: nothing").await?;
    let (client, namespace) = (cluster.client(), cluster.namespace());
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let owner = maps.get("asked").await?;
    let secret = Secret {
        metadata: ObjectMeta {
            name: Some("by-a-test".to_owned()),
            owner_references: owner.controller_owner_ref(&()).map(|reference| vec![reference]),
            ..ObjectMeta::default()
        },
        ..Secret::default()
    };
    let secrets: Api<Secret> = Api::namespaced(client, namespace);
    secrets.create(&PostParams::default(), &secret).await?;
    wait_for("the line about the Secret", async || {
        let log = operator.log();
        let mut lines = log.lines();
        Ok(lines.any(|line| line.contains("not seen by `owns`") && line.contains("by-a-test")))
    })
    .await?;
    operator.stop()
}

#[tokio::test]
#[ignore = "a case runs it"]
async fn three_looks() -> Result<()> {
    if !is_case() {
        return Ok(());
    }
    let cluster = TestCluster::start().await?;
    let map = "{apiVersion: v1, kind: ConfigMap, metadata: {name: book}, data: {list: nothing}}";
    cluster.apply(map).await?;
    let maps: Api<ConfigMap> = Api::namespaced(cluster.client(), cluster.namespace());
    // ANCHOR: killed
    let done = async || {
        let data = maps.get("book").await?.data.unwrap_or_default();
        Ok(data.get("looked").is_some_and(|looked| looked == "3"))
    };
    let operator = cluster.operator(OPERATOR);
    let killed = operator.killed_between_writes("three looks", done).await?;
    // ANCHOR_END: killed
    assert!(killed >= 1, "{killed}");
    Ok(())
}

#[tokio::test]
#[ignore = "a case runs it"]
async fn ten_minutes_later() -> Result<()> {
    if !is_case() {
        return Ok(());
    }
    let cluster = TestCluster::start().await?;
    let maps: Api<ConfigMap> = Api::namespaced(cluster.client(), cluster.namespace());
    let map = ConfigMap {
        metadata: ObjectMeta {
            name: Some("alarm".to_owned()),
            ..ObjectMeta::default()
        },
        data: Some([("wakeAt".to_owned(), "2030-01-01T00:10:00Z".to_owned())].into()),
        ..ConfigMap::default()
    };
    maps.create(&PostParams::default(), &map).await?;
    // ANCHOR: clock
    let start = "2030-01-01T00:00:00Z".parse().expect("a time");
    let mut operator = cluster
        .operator(OPERATOR)
        .arg("--log-format=json")
        .env("RUST_LOG", "debug")
        .clock(start)
        .start()
        .await?;
    // ANCHOR_END: clock
    assert!(operator.log().contains(r#""level":"DEBUG""#), "{}", operator.log());
    let woken = async || {
        let data = maps.get("alarm").await?.data.unwrap_or_default();
        Ok::<_, kubewright_runtime::Error>(data.get("woken").cloned())
    };
    operator.advance(Duration::from_secs(599))?;
    assert_eq!(woken().await?, None);
    operator.advance(Duration::from_secs(1))?;
    wait_for("the alarm", async || Ok(woken().await?.is_some())).await?;
    assert_eq!(woken().await?.as_deref(), Some("2030-01-01T00:10:00Z"));
    operator.stop()
}
