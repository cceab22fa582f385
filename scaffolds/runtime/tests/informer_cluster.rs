//! The informer on a real API server: what the scripted one of the other tests may get wrong itself.
#![cfg(feature = "testing")]

mod informer_server;

use std::time::Duration;

use informer_server::{Diary, FooBar, Running};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kubewright_runtime::{
    Informer, InformerConfig, ObjectKey,
    testing::{TestCluster, wait_for},
};
use serde_json::json;

/// A definition from before its author thought of validation: anything is stored.
fn lenient_crd() -> CustomResourceDefinition {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    serde_json::from_value(json!({
        "metadata": {"name": "foobars.test.example.com"},
        "spec": {
            "group": "test.example.com", "scope": "Namespaced",
            "names": {"kind": "FooBar", "plural": "foobars", "singular": "foobar"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
    }))
    .expect("a definition")
}

#[tokio::test]
#[ignore = "needs KUBEBUILDER_ASSETS"]
async fn a_real_server_is_followed_from_before_its_kind_exists() {
    let cluster = TestCluster::start().await.expect("a cluster");
    let (client, namespace) = (cluster.client(), cluster.namespace().to_owned());
    let config = InformerConfig {
        page_size: 2,
        keep_managers: vec!["us".to_owned()],
        ..Default::default()
    };
    let informer = Informer::<FooBar>::new(client.clone(), config);
    let diary = Diary::of(&informer);
    let running = Running::start(&informer);
    wait_for("the missing kind to be named", async || {
        Ok(informer.last_error().is_some())
    })
    .await
    .expect("in time");
    let error = informer.last_error().unwrap_or_default();
    assert!(
        error.starts_with("watch of foobars.test.example.com in all namespaces: 404 "),
        "{error}"
    );

    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    crds.create(&PostParams::default(), &lenient_crd())
        .await
        .expect("created");
    let objects: Api<DynamicObject> =
        Api::namespaced_with(client.clone(), &namespace, &ApiResource::erase::<FooBar>(&()));
    let object = |name: &str, target: serde_json::Value| json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "metadata": {"name": name}, "spec": {"target": target}});
    let us = PatchParams::apply("us").force();
    wait_for("the kind to be served", async || {
        Ok(objects
            .patch("a", &us, &Patch::Apply(object("a", json!("x"))))
            .await
            .is_ok())
    })
    .await
    .expect("in time");
    for (name, target) in [("b", json!(7)), ("c", json!("x")), ("d", json!({})), ("e", json!("x"))] {
        objects
            .patch(name, &us, &Patch::Apply(object(name, target)))
            .await
            .expect("stored");
    }
    tokio::time::timeout(Duration::from_secs(60), informer.synced())
        .await
        .expect("the bad ones do not block it");
    let store = informer.store();
    wait_for("all objects", async || Ok((store.len(), store.invalid_len()) == (3, 2)))
        .await
        .expect("in time");
    assert_eq!(informer.last_error(), None);
    let stored = store.get(&ObjectKey::new(Some(&namespace), "a")).expect("stored");
    assert_eq!(stored.metadata.managed_fields.as_ref().map(Vec::len), Some(1));

    // Our own write is read at once, and the watch then has nothing to add.
    diary.read();
    let typed: Api<FooBar> = Api::namespaced(client.clone(), &namespace);
    let ours = typed
        .patch("a", &us, &Patch::Apply(object("a", json!("ours"))))
        .await
        .expect("written");
    assert!(informer.observe_write(ours, None));
    assert_eq!(
        store
            .get(&ObjectKey::new(Some(&namespace), "a"))
            .map(|a| a.spec.target.clone())
            .as_deref(),
        Some("ours")
    );
    objects
        .patch("b", &us, &Patch::Apply(object("b", json!("repaired"))))
        .await
        .expect("written");
    typed.delete("c", &DeleteParams::default()).await.expect("deleted");
    objects.delete("d", &DeleteParams::default()).await.expect("deleted");
    wait_for("the changes", async || Ok((store.len(), store.invalid_len()) == (3, 0)))
        .await
        .expect("in time");
    let told: Vec<String> = diary
        .read()
        .iter()
        .map(|line| line.split('@').next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(told, ["updated a", "added b", "deleted c"]);
    running.stop().await;
}
