//! Pods that an object keeps, as a ReplicaSet does.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::api::core::v1::{Container, Pod, PodSpec};
use kube::{ResourceExt, api::ObjectMeta};
use kubewright_runtime::{Action, Context, Controller, EventType, Manager, Reconciler, Result, label_value};

use crate::foobar::FooBar;

const REPLICAS: i32 = 3;

/// Keeps three Pods for each FooBar.
pub struct FooBarReconciler;

// ANCHOR: register
pub fn register(manager: &Manager) -> Result<()> {
    Controller::<FooBar>::new("foobar")
        .claims::<Pod>(labels)
        .register(manager, FooBarReconciler)
}

/// The labels by which an object selects its Pods.
fn labels(foobar: &FooBar) -> BTreeMap<String, String> {
    BTreeMap::from([("test.example.com/foobar".to_owned(), label_value(&foobar.name_any()))])
}
// ANCHOR_END: register

impl Reconciler<FooBar> for FooBarReconciler {
    async fn reconcile(&self, cx: &Context<FooBar>, foobar: Arc<FooBar>) -> Result<Action> {
        // ANCHOR: keep
        let kept = cx.keep_pods(REPLICAS, &pod(&foobar)).await?;
        if kept.created > 0 {
            cx.event(EventType::Normal, "Created", format!("made {} Pods", kept.created));
        }
        // ANCHOR_END: keep
        Ok(Action::Done)
    }
}

fn pod(foobar: &FooBar) -> Pod {
    Pod {
        metadata: ObjectMeta {
            name: Some(foobar.name_any()),
            labels: Some(labels(foobar)),
            ..ObjectMeta::default()
        },
        spec: Some(PodSpec {
            containers: vec![Container {
                name: "main".to_owned(),
                image: Some("registry.k8s.io/pause:3.10".to_owned()),
                ..Container::default()
            }],
            ..PodSpec::default()
        }),
        ..Pod::default()
    }
}
