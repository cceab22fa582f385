//! Namespaces that a label chooses, while they gain it and lose it, and over a restart.

use std::{
    mem,
    sync::{Arc, Mutex},
};

use anyhow::Result;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Secret};
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use kubewright_runtime::{Action, Cleanup, Context, Controller, Informer, Manager, Reconciler, Result as Reconciled};
use serde_json::{Value, json};

use super::{PATIENCE, Running, eventually, plane};

/// Gives each ConfigMap a Secret, and records every call.
#[derive(Clone, Default)]
struct Owners(Arc<Mutex<Vec<String>>>);

impl Owners {
    fn start(&self, client: &Client) -> Result<(Running, Informer<ConfigMap>)> {
        let builder = Manager::builder(client.clone()).name("test").namespace("default");
        let manager = builder.namespace_selector("team=a")?.build();
        Controller::<ConfigMap>::new("owners")
            .foreign()
            .owns::<Secret>()
            .register(&manager, self.clone())?;
        let cached = manager.informer::<ConfigMap>();
        Ok((Running::start(manager), cached))
    }

    /// Waits for this call, and returns those until then.
    async fn until(&self, call: &str) -> Result<Vec<String>> {
        eventually(call, PATIENCE, async || {
            let mut calls = self.0.lock().unwrap();
            let is_made = calls.iter().any(|known| known == call);
            Ok(is_made.then(|| mem::take(&mut *calls)))
        })
        .await
    }
}

impl Reconciler<ConfigMap> for Owners {
    fn finalizer(&self) -> Option<&str> {
        Some("test.example.com/cleanup")
    }

    async fn reconcile(&self, cx: &Context<ConfigMap>, map: Arc<ConfigMap>) -> Reconciled<Action> {
        let child = json!({"metadata": {"name": cx.key().name()}, "data": {"key": "dmFsdWU="}});
        cx.apply_child::<Secret>(serde_json::from_value(child).expect("a Secret"))
            .await?;
        let size = map.data.as_ref().map_or("", |data| data["size"].as_str());
        self.0.lock().unwrap().push(format!("{} {size}", cx.key()));
        Ok(Action::Done)
    }

    async fn cleanup(&self, cx: &Context<ConfigMap>, _: Arc<ConfigMap>) -> Reconciled<Cleanup> {
        self.0.lock().unwrap().push(format!("{} cleaned up", cx.key()));
        Ok(Cleanup::Done)
    }
}

/// The objects in one namespace.
struct Place {
    name: &'static str,
    namespaces: Api<Namespace>,
    maps: Api<ConfigMap>,
    secrets: Api<Secret>,
}

impl Place {
    async fn new(client: &Client, name: &'static str) -> Result<Self> {
        let place = Self {
            name,
            namespaces: Api::all(client.clone()),
            maps: Api::namespaced(client.clone(), name),
            secrets: Api::namespaced(client.clone(), name),
        };
        let namespace = serde_json::from_value(json!({"metadata": {"name": name}}))?;
        place.namespaces.create(&PostParams::default(), &namespace).await?;
        place.create("x").await?;
        Ok(place)
    }

    async fn create(&self, map: &str) -> Result<()> {
        let map = serde_json::from_value(json!({"metadata": {"name": map}, "data": {"size": "1"}}))?;
        self.maps.create(&PostParams::default(), &map).await?;
        Ok(())
    }

    async fn label(&self, team: Value) -> Result<()> {
        let patch = Patch::Merge(json!({"metadata": {"labels": {"team": team}}}));
        self.namespaces
            .patch(self.name, &PatchParams::default(), &patch)
            .await?;
        Ok(())
    }

    async fn resize(&self, size: &str) -> Result<()> {
        let patch = Patch::Merge(json!({"data": {"size": size}}));
        self.maps.patch("x", &PatchParams::default(), &patch).await?;
        Ok(())
    }
}

fn of<'c>(calls: &'c [String], place: &Place) -> Vec<&'c String> {
    let beginning = format!("{}/", place.name);
    calls.iter().filter(|call| call.starts_with(&beginning)).collect()
}

#[tokio::test]
async fn a_namespace_gains_the_label_loses_it_and_is_back_after_a_restart() -> Result<()> {
    let Some(plane) = plane().await? else { return Ok(()) };
    let client = plane.client().await?;
    let (one, two) = (Place::new(&client, "one").await?, Place::new(&client, "two").await?);
    one.label(json!("a")).await?;
    let owners = Owners::default();
    let (running, cached) = owners.start(&client)?;
    let calls = owners.until("one/x 1").await?;
    assert_eq!(of(&calls, &two).len(), 0, "{calls:?}");

    two.label(json!("a")).await?;
    owners.until("two/x 1").await?;
    one.label(Value::Null).await?;
    let has_left = async || {
        let all = cached.store().list();
        let is_in = all.iter().any(|map| map.metadata.namespace.as_deref() == Some("one"));
        Ok((!is_in).then_some(()))
    };
    eventually("the namespace leaves the cache", PATIENCE, has_left).await?;
    // Events of one kind come in one watch, in the order of the changes.
    owners.0.lock().unwrap().clear();
    one.secrets.delete("x", &DeleteParams::default()).await?;
    one.create("y").await?;
    one.resize("2").await?;
    two.resize("2").await?;
    let calls = owners.until("two/x 2").await?;
    assert_eq!(of(&calls, &one).len(), 0, "{calls:?}");
    one.maps.delete("x", &DeleteParams::default()).await?;

    running.stop().await?;
    let child = two.secrets.get("x").await?;
    owners.0.lock().unwrap().clear();
    let (running, _) = owners.start(&client)?;
    let calls = owners.until("two/x 2").await?;
    assert_eq!(of(&calls, &one).len(), 0, "{calls:?}");
    assert_eq!(two.secrets.get("x").await?, child, "a restart writes nothing");
    assert!(one.secrets.get_opt("x").await?.is_none(), "nobody repairs it");
    assert!(one.maps.get("x").await?.metadata.deletion_timestamp.is_some());

    one.label(json!("a")).await?;
    owners.until("one/x cleaned up").await?;
    let repaired = async || one.secrets.get_opt("y").await.map_err(Into::into);
    eventually("the new object has its child", PATIENCE, repaired).await?;
    let gone = async || Ok(one.maps.get_opt("x").await?.is_none().then_some(()));
    eventually("the deleted object is gone", PATIENCE, gone).await?;
    running.stop().await
}
