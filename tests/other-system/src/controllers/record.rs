//! Keeps one record of a DNS service in step with each Record.

use std::sync::Arc;

use api::dns::v1::Record;
use k8s_openapi::serde_json::json;
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Cleanup, Conditions, Context, Controller, Manager, Reconciler, Result,
};

use crate::app::App;
use crate::dns::Dns;

/// Keeps a deleted object until `cleanup` is done.
const FINALIZER: &str = "dns.example.com/cleanup";

/// The condition that reports whether the object has been reconciled.
const READY: &str = "Ready";

struct RecordReconciler {
    dns: Dns,
}

pub fn register(manager: &Manager, app: &App) -> Result<()> {
    let dns = app.dns.clone();
    Controller::<Record>::new("record").register(manager, RecordReconciler { dns })
}

/// A record has the uid of its object as its key: an object that is created again under the same name has another record, so a
/// late request for the old object does not touch it.
fn key(object: &Record) -> String {
    object.uid().unwrap_or_default()
}

impl Reconciler<Record> for RecordReconciler {
    fn finalizer(&self) -> Option<&str> {
        Some(FINALIZER)
    }

    async fn reconcile(&self, cx: &Context<Record>, object: Arc<Record>) -> Result<Action> {
        // After a restart the cache may contain an object that is deleted, whose record would be created once more and then
        // stay. The API server protects children from that, but no other system.
        let Some(live) = cx.live().await? else {
            return Ok(Action::Done);
        };
        if live.metadata.deletion_timestamp.is_some() {
            return Ok(Action::Done);
        }
        let spec = &object.spec;
        let record =
            json!({ "name": object.name_any(), "target": spec.target, "type": spec.r#type });
        self.dns.put(&key(&object), &record).await?;
        let ready = cx.condition(READY, true, "Recorded", "the DNS service has the record");
        // The patch is sent only if it changes something.
        cx.patch_status(|status| {
            status.observed_generation = object.metadata.generation;
            status.conditions.set(ready);
        })
        .await?;
        Ok(Action::Done)
    }

    async fn cleanup(&self, _cx: &Context<Record>, object: Arc<Record>) -> Result<Cleanup> {
        self.dns.delete(&key(&object)).await?;
        Ok(Cleanup::Done)
    }
}
