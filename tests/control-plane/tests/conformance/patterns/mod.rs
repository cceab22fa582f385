//! The controllers of `create api --pattern …` on a real control plane, whose controllers create Pods for Deployments.
//! No kubelet runs there: the cases write the status of Pods as a kubelet would.

mod deployment;
mod internal;
mod others;
mod pods;
mod stateful;
mod victims;

use anyhow::{Result, ensure};
use control_plane::{Api as Generate, Mark, Operator, Project, Request, eventually, run};
use k8s_openapi::{api::core::v1::Pod, jiff::Timestamp};
use kube::{
    Api, ResourceExt,
    api::{ApiResource, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use crate::stage::{Case, PATIENCE};

const IMAGE: &str = "registry.k8s.io/pause:3.10";

/// A CRD of another owner, relative to the folder in which projects are created.
const CRD: &str = "../../../tests/external/well.yaml";

/// One kind for each pattern. `Order` has an internal kind, `OrderRun`; `Widget` has two versions; two kinds are not
/// the project's own.
const APIS: [Generate; 8] = [
    generate("Widget", &[]),
    generate("Site", &["--pattern", "deployment", "--image", IMAGE]),
    generate("Store", &["--pattern", "stateful", "--image", "registry.k8s.io/pause"]),
    generate("Worker", &["--pattern", "replicas", "--image", IMAGE]),
    generate("Order", &["--pattern", "internal", "--internal-kind", "OrderRun"]),
    Generate {
        version: Some("v2"),
        ..generate("Widget", &[])
    },
    Generate {
        group: "apps",
        ..generate("Deployment", &["--resource=false"])
    },
    Generate {
        group: "water.example.org",
        ..generate("Well", &["--from-crd", CRD])
    },
];

const fn generate(kind: &'static str, flags: &'static [&'static str]) -> Generate {
    Generate {
        group: "shop",
        version: None,
        kind,
        flags,
    }
}

impl Case<'_> {
    /// Generates and deploys the project of the patterns, unless that is done already.
    pub async fn deploy_patterns(&mut self) -> Result<()> {
        if self.stage.patterns.is_some() {
            return Ok(());
        }
        let project = Project::generate("patterns-operator", &APIS)?;
        // The owners of foreign kinds install their CRDs: `config/default` does not contain them.
        for (flag, folder) in [("-f", "config/crd/external"), ("-k", "config/default")] {
            let mut kubectl = self.stage.plane.kubectl();
            run(kubectl
                .args(["apply", "--server-side", "--validate=strict", flag])
                .arg(project.folder().join(folder)))?;
        }
        let (namespace, account) = (project.namespace(), project.service_account());
        let kubeconfig = self
            .stage
            .plane
            .kubeconfig_of_service_account(&namespace, &account)
            .await?;
        self.stage.patterns = Some((project, kubeconfig));
        for kind in ["Widget", "Site", "Store", "Worker", "Order", "OrderRun"] {
            let objects = self.objects(kind);
            eventually(&format!("{kind}s to be served"), PATIENCE, async || {
                Ok(Some(objects.list(&ListParams::default()).await?))
            })
            .await?;
        }
        Ok(())
    }

    fn patterns(&self) -> Result<&(Project, std::path::PathBuf)> {
        let patterns = self.stage.patterns.as_ref();
        patterns.ok_or_else(|| anyhow::anyhow!("the patterns are not deployed"))
    }

    /// Starts the operator of the patterns with its deployed service account.
    fn start_patterns(&self) -> Result<Operator> {
        let (project, kubeconfig) = self.patterns()?;
        self.start(&project.operator(), &["--max-concurrent-reconciles=4"], kubeconfig)
    }

    /// The same, and waits until it is ready.
    pub async fn run_patterns(&self) -> Result<Operator> {
        let mut operator = self.start_patterns()?;
        operator.ready(PATIENCE).await?;
        Ok(operator)
    }

    /// The writes of that operator since then, except events. None of its requests may have been refused.
    fn patterns_wrote(&self, since: Mark) -> Result<Vec<Request>> {
        let (project, _) = self.patterns()?;
        let user = format!(
            "system:serviceaccount:{}:{}",
            project.namespace(),
            project.service_account()
        );
        let mut requests = self.stage.plane.audit().since(since)?;
        requests.retain(|request| request.user == user);
        let refused = requests.iter().find(|request| matches!(request.code, 401 | 403));
        ensure!(refused.is_none(), "the generated role does not allow: {refused:?}");
        requests.retain(|request| request.is_write() && request.resource != "events");
        Ok(requests)
    }

    /// Fails if the restarted operator writes anything within three seconds.
    async fn restart_writes_nothing(&self, operator: Operator) -> Result<Operator> {
        operator.kill()?;
        let mark = self.mark()?;
        let operator = self.run_patterns().await?;
        tokio::time::sleep(std::time::Duration::from_secs(3)).await;
        let written = self.patterns_wrote(mark)?;
        ensure!(written.is_empty(), "written although nothing had changed: {written:#?}");
        Ok(operator)
    }

    /// The objects of one of these kinds, in the case's namespace.
    pub fn objects(&self, kind: &str) -> Api<DynamicObject> {
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("shop.example.com", "v1", kind));
        Api::namespaced_with(self.client.clone(), &self.namespace, &kind)
    }

    pub async fn create(&self, kind: &str, name: &str, spec: Value) -> Result<()> {
        let made = json!({"apiVersion": "shop.example.com/v1", "kind": kind, "metadata": {"name": name}, "spec": spec});
        let made = serde_json::from_value(made)?;
        self.objects(kind).create(&PostParams::default(), &made).await?;
        Ok(())
    }

    async fn change(&self, kind: &str, name: &str, spec: Value) -> Result<()> {
        let patch = Patch::Merge(json!({"spec": spec}));
        self.objects(kind).patch(name, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// The case's Pods that are not being deleted, in the order of their names.
    async fn active_pods(&self) -> Result<Vec<Pod>> {
        let mut pods = self.pods().list(&ListParams::default()).await?.items;
        pods.retain(|pod| pod.metadata.deletion_timestamp.is_none());
        pods.sort_by_key(ResourceExt::name_any);
        Ok(pods)
    }

    /// Acts as a kubelet: every Pod runs and is ready.
    async fn run_pods(&self) -> Result<()> {
        for pod in self.active_pods().await? {
            let status = pod.status.clone().unwrap_or_default();
            if status.phase.as_deref() != Some("Running") {
                self.set_status(&pod.name_any(), running(3600)).await?;
            }
        }
        Ok(())
    }

    async fn set_status(&self, pod: &str, status: Value) -> Result<()> {
        let patch = Patch::Merge(json!({"status": status}));
        self.pods().patch_status(pod, &PatchParams::default(), &patch).await?;
        Ok(())
    }
}

/// The status of a Pod that runs, and has been ready for so many seconds.
fn running(seconds: i64) -> Value {
    let now = Timestamp::now().as_second();
    let since = Timestamp::from_second(now - seconds).map(|time| time.to_string());
    let ready = json!({"type": "Ready", "status": "True", "lastTransitionTime": since.unwrap_or_default()});
    json!({"phase": "Running", "conditions": [ready]})
}

/// The condition `Ready` of an object, if it is about the current spec.
pub fn ready(object: &DynamicObject) -> (&str, &str) {
    let status = &object.data["status"];
    let current = status["observedGeneration"].as_i64() == object.metadata.generation;
    let conditions = status["conditions"].as_array().map_or(&[][..], Vec::as_slice);
    let ready = conditions
        .iter()
        .find(|condition| condition["type"] == "Ready" && current);
    let text = |field: &str| ready.and_then(|ready| ready[field].as_str()).unwrap_or_default();
    (text("status"), text("reason"))
}

/// The numbers of replicas and of ready replicas in the object's status.
fn counts(object: &DynamicObject) -> (i64, i64) {
    let count = |field: &str| object.data["status"][field].as_i64().unwrap_or(0);
    (count("replicas"), count("readyReplicas"))
}

/// The names of an object's controllers.
fn controller(object: &impl kube::Resource) -> Option<String> {
    let owners = object.meta().owner_references.as_ref()?;
    let owner = owners.iter().find(|owner| owner.controller == Some(true))?;
    Some(format!("{}/{}", owner.kind, owner.name))
}
