//! CRDs that are read from a cluster by their names: here, the in-process API server.

use super::fixture;
use crate::cli::{Run, command, kubewright};
use kube::api::{Api, ApiResource, DynamicObject, GroupVersionKind, PostParams};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// An API server with one CRD, which is stopped at the end of the test.
struct Cluster {
    server: Child,
    kubeconfig: PathBuf,
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Cluster {
    fn with(folder: &Path, crd: &Value) -> Self {
        let kubeconfig = folder.join("kubeconfig");
        let mut server = command(folder, &["apiserver", "--kubeconfig"]);
        let server = server.arg(&kubeconfig).stdout(Stdio::piped()).spawn();
        let mut cluster = Self {
            server: server.unwrap(),
            kubeconfig,
        };
        let mut ready = String::new();
        let mut lines = BufReader::new(cluster.server.stdout.take().unwrap());
        lines.read_line(&mut ready).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(create(&cluster.kubeconfig, crd));
        cluster
    }

    fn create_api(&self, dir: &Path, more: &[&str]) -> Run {
        let args = ["create", "api", "--from-crd", "pumps.water.example.com"];
        let mut command = command(dir, &[&args[..], more].concat());
        command.env("KUBECONFIG", &self.kubeconfig);
        Run::of(command.env_remove("KUBERNETES_SERVICE_HOST").output().unwrap())
    }
}

async fn create(kubeconfig: &Path, crd: &Value) {
    let kubeconfig = kube::config::Kubeconfig::read_from(kubeconfig).unwrap();
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &Default::default()).await;
    let client = kube::Client::try_from(config.unwrap()).unwrap();
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    let definitions = Api::<DynamicObject>::all_with(client, &ApiResource::from_gvk(&kind));
    let crd = serde_json::from_value(crd.clone()).unwrap();
    definitions.create(&PostParams::default(), &crd).await.unwrap();
}

fn init(dir: &Path) {
    kubewright(
        dir,
        &[
            "init",
            "--domain",
            "example.com",
            "--project-name",
            "op",
            "--owner",
            "o",
        ],
    )
    .succeeds();
}

#[test]
fn a_crd_of_the_cluster_gives_the_same_types_as_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(fixture("pump.yaml")).unwrap();
    let mut crd: Value = serde_saphyr::from_str(&text).unwrap();
    let approved = json!({"api-approved.kubernetes.io": "https://example.com/1", "other": "b"});
    crd["metadata"]["annotations"] = approved;
    let service = json!({"name": "a", "namespace": "b"});
    crd["spec"]["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"service": service}},
    });
    let cluster = Cluster::with(folder.path(), &crd);
    let (from_file, from_cluster) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    init(from_file.path());
    init(from_cluster.path());
    let file = folder.path().join("pump.yaml");
    let name = "  name: pumps.water.example.com\n";
    let annotation = "  annotations: {api-approved.kubernetes.io: https://example.com/1}\n";
    fs::write(&file, text.replace(name, &format!("{name}{annotation}"))).unwrap();
    let file = file.display().to_string();
    kubewright(from_file.path(), &["create", "api", "--from-crd", &file, "--own"]).succeeds();
    let next = cluster.create_api(from_cluster.path(), &["--own"]).succeeds().stderr;
    assert!(
        next.contains("create webhook --group water --kind Pump --conversion"),
        "{next}"
    );
    for path in ["api/src/water/v1/pump.rs", "config/samples/water_v1_pump.yaml"] {
        let [one, other] = [&from_file, &from_cluster].map(|dir| fs::read_to_string(dir.path().join(path)).unwrap());
        assert!(one == other, "{path}:\n{other}");
        assert!(
            !path.ends_with(".rs") || other.contains("annotation(\"api-approved.kubernetes.io\""),
            "{other}"
        );
    }

    // For a kind of another owner the copy has no conversion: tests have no such webhook.
    let foreign = tempfile::tempdir().unwrap();
    init(foreign.path());
    cluster.create_api(foreign.path(), &["--controller=false"]).succeeds();
    let copy = fs::read_to_string(foreign.path().join("config/crd/external/water.example.com_pumps.yaml")).unwrap();
    assert!(
        copy.contains("name: pumps.water.example.com") && !copy.contains("conversion"),
        "{copy}"
    );

    drop(cluster);
    let again = tempfile::tempdir().unwrap();
    init(again.path());
    let other = ["create", "api", "--from-crd", "taps.water.example.com", "--own"];
    let mut command = command(again.path(), &other);
    command
        .env("KUBECONFIG", "/nonexistent")
        .env_remove("KUBERNETES_SERVICE_HOST");
    let words = [
        "there is no file `taps.water.example.com`, and no cluster with such a CRD",
        "hint: ",
    ];
    Run::of(command.output().unwrap()).refuses(1, &words);
}
