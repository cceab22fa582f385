//! Abilities of the runtime that depend on how a real API server behaves, such as CRDs that come and go.

mod absent;
mod autoscalers;
mod budgets;
mod chosen;
mod converted;
mod cron_jobs;
mod daemon_sets;
mod dynamic;
mod jobs;
mod lost_nodes;
mod migration;
mod ownership;
mod policies;
mod programs;
mod selectors;
mod services;
mod stateful_sets;
mod workloads;

use std::{sync::Mutex, time::Duration};

use anyhow::Result;
use control_plane::{Assets, ControlPlane, Settings, eventually, say};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    api::{DeleteParams, PostParams},
};
use kubewright_runtime::Manager;
use serde_json::{Value, json};
use tokio::{sync::oneshot, task::JoinHandle};

/// An API server deletes the objects of a removed CRD within seconds; a busy machine takes longer.
const PATIENCE: Duration = Duration::from_secs(180);

/// A new control plane; `None`, and a note, without the programs.
async fn plane() -> Result<Option<ControlPlane>> {
    started(Settings::default()).await
}

/// The same with kube-controller-manager; `None`, and a note, also if that is missing.
async fn controlled() -> Result<Option<ControlPlane>> {
    controlled_with(&[]).await
}

/// The same with more flags of kube-controller-manager.
async fn controlled_with(flags: &[&str]) -> Result<Option<ControlPlane>> {
    let settings = Settings {
        controllers: true,
        controller_flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
        ..Settings::default()
    };
    let plane = started(settings).await?.filter(ControlPlane::has_controllers);
    if plane.is_none() {
        say("SKIPPED: no kube-controller-manager, so namespaces are not deleted");
    }
    Ok(plane)
}

async fn started(settings: Settings) -> Result<Option<ControlPlane>> {
    match Assets::or_skip() {
        Some(assets) => Ok(Some(ControlPlane::start(&assets, settings).await?)),
        None => Ok(None),
    }
}

/// A CRD whose objects have a `size`, in these versions, each of which is served or not.
fn crd(plural: &str, kind: &str, versions: &[(&str, bool)]) -> CustomResourceDefinition {
    let version = |(name, served): &(&str, bool)| {
        json!({"name": name, "served": served, "storage": name == &versions[0].0, "schema": {"openAPIV3Schema": {
            "type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}}})
    };
    let versions: Vec<Value> = versions.iter().map(version).collect();
    let crd = json!({"metadata": {"name": format!("{plural}.other.example.com")}, "spec": {"group": "other.example.com",
        "scope": "Namespaced", "names": {"kind": kind, "plural": plural}, "versions": versions}});
    serde_json::from_value(crd).expect("a CRD")
}

async fn install(client: &Client, crd: &CustomResourceDefinition) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    crds.create(&PostParams::default(), crd).await?;
    Ok(())
}

async fn remove(client: &Client, name: &str) -> Result<()> {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    crds.delete(name, &DeleteParams::default()).await?;
    Ok(())
}

/// A running manager.
struct Running {
    stop: oneshot::Sender<()>,
    done: JoinHandle<kubewright_runtime::Result<()>>,
}

impl Running {
    fn start(manager: Manager) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let done = tokio::spawn(async move { manager.run(async { _ = stopped.await }, None).await });
        Self { stop, done }
    }

    async fn stop(self) -> Result<()> {
        _ = self.stop.send(());
        Ok(self.done.await??)
    }
}

/// Waits until this line has been recorded, and forgets all lines.
async fn seen(lines: &Mutex<Vec<String>>, line: &str) -> Result<()> {
    eventually(line, PATIENCE, async || {
        let lines = lines.lock().unwrap();
        Ok(lines.iter().any(|known| known == line).then_some(()))
    })
    .await?;
    lines.lock().unwrap().clear();
    Ok(())
}
