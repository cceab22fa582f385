//! The garbage collector, compared with the results of kube-controller-manager 1.37.2 for the same objects.

use crate::common::{Wire, wire};
use serde_json::{Value, json};
use std::time::Duration;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// Creates a ConfigMap with these owners, and returns it.
async fn make(wire: &Wire, name: &str, owners: &[&Value], blocks: bool) -> Value {
    let owners: Vec<Value> = owners.iter().map(|owner| reference(owner, blocks)).collect();
    let body = json!({"metadata": {"name": name, "ownerReferences": owners}});
    let answer = wire.post(MAPS, body.to_string()).await;
    assert_eq!(answer.code, 201, "{}", answer.text);
    answer.json()
}

fn reference(owner: &Value, blocks: bool) -> Value {
    let (kind, metadata) = (&owner["kind"], &owner["metadata"]);
    json!({
        "apiVersion": "v1", "kind": kind, "name": metadata["name"], "uid": metadata["uid"], "blockOwnerDeletion": blocks,
    })
}

/// The names of the remaining objects, once nothing changes any more.
async fn names(wire: &Wire) -> Vec<String> {
    let list = wire.settled(MAPS).await.json();
    let name = |item: &Value| item["metadata"]["name"].as_str().unwrap().to_owned();
    list["items"].as_array().unwrap().iter().map(name).collect()
}

async fn delete(wire: &Wire, name: &str, policy: &str) {
    let answer = wire
        .send("DELETE", &format!("{MAPS}/{name}?propagationPolicy={policy}"), "")
        .await;
    assert_eq!(answer.code, 200, "{}", answer.text);
}

#[tokio::test(start_paused = true)]
async fn an_object_is_deleted_with_its_last_owner_and_keeps_its_remaining_owners() {
    let wire = wire();
    let a = make(&wire, "a", &[], false).await;
    let other = make(&wire, "other", &[], false).await;
    let b = make(&wire, "b", &[&a], false).await;
    make(&wire, "of-b", &[&b], false).await;
    make(&wire, "of-both", &[&other, &a], false).await;
    delete(&wire, "a", "Background").await;
    assert_eq!(names(&wire).await, ["of-both", "other"]);
    let left = wire.get(&format!("{MAPS}/of-both")).await.json();
    assert_eq!(left["metadata"]["ownerReferences"], json!([reference(&other, false)]));
}

#[tokio::test(start_paused = true)]
async fn a_foreground_deletion_waits_for_the_dependents_that_block_it() {
    let wire = wire();
    let a = make(&wire, "a", &[], false).await;
    let b = make(&wire, "b", &[&a], true).await;
    make(&wire, "c", &[&a], false).await;
    make(&wire, "of-b", &[&b], true).await;
    let patch = wire.with("content-type", "application/merge-patch+json");
    patch
        .send("PATCH", &format!("{MAPS}/b"), r#"{"metadata":{"finalizers":["x/y"]}}"#)
        .await;
    delete(&wire, "a", "Foreground").await;
    assert_eq!(names(&wire).await, ["a", "b"]);
    let waiting = wire.get(&format!("{MAPS}/a")).await.json();
    assert_eq!(waiting["metadata"]["finalizers"], json!(["foregroundDeletion"]));
    patch
        .send("PATCH", &format!("{MAPS}/b"), r#"{"metadata":{"finalizers":null}}"#)
        .await;
    assert!(names(&wire).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_foreground_deletion_in_a_circle_of_owners_is_completed() {
    let wire = wire();
    let a = make(&wire, "a", &[], true).await;
    let b = make(&wire, "b", &[&a], true).await;
    let c = make(&wire, "c", &[&b], true).await;
    let circle = json!({"metadata": {"ownerReferences": [reference(&c, true)]}});
    let patching = wire.with("content-type", "application/merge-patch+json");
    let answer = patching.send("PATCH", &format!("{MAPS}/a"), circle.to_string()).await;
    assert_eq!(answer.code, 200, "{}", answer.text);
    delete(&wire, "a", "Foreground").await;
    assert_eq!(names(&wire).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn orphaned_dependents_remain_without_the_owner_reference() {
    let wire = wire();
    let a = make(&wire, "a", &[], false).await;
    make(&wire, "b", &[&a], false).await;
    delete(&wire, "a", "Orphan").await;
    assert_eq!(names(&wire).await, ["b"]);
    let orphan = wire.get(&format!("{MAPS}/b")).await.json();
    assert_eq!(orphan["metadata"].get("ownerReferences"), None);
}

#[tokio::test(start_paused = true)]
async fn an_owner_must_match_in_uid_and_be_in_the_same_namespace_or_cluster_scoped() {
    let wire = wire();
    let a = make(&wire, "a", &[], false).await;
    let mut another = a.clone();
    another["metadata"]["uid"] = json!("11111111-1111-1111-1111-111111111111");
    make(&wire, "of-another-uid", &[&another], false).await;
    let namespace = wire.get("/api/v1/namespaces/default").await.json();
    make(&wire, "of-the-namespace", &[&namespace], false).await;
    let mut strange = a.clone();
    strange["kind"] = json!("Strange");
    make(&wire, "of-a-kind-unknown", &[&strange], false).await;
    let elsewhere = "/api/v1/namespaces/kube-public/configmaps";
    let body = json!({"metadata": {"name": "elsewhere", "ownerReferences": [reference(&a, false)]}});
    assert_eq!(wire.post(elsewhere, body.to_string()).await.code, 201);
    assert_eq!(names(&wire).await, ["a", "of-a-kind-unknown", "of-the-namespace"]);
    assert_eq!(wire.get(&format!("{elsewhere}/elsewhere")).await.code, 404);
}

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const FOOBARS: &str = "/apis/test.example.com/v1/namespaces/default/foobars";

async fn define(wire: &Wire) {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let definition = json!({"metadata": {"name": "foobars.test.example.com"},
        "spec": {"group": "test.example.com", "scope": "Namespaced", "names": {"kind": "FooBar", "plural": "foobars"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}});
    assert_eq!(wire.post(CRDS, definition.to_string()).await.code, 201);
}

/// Creates FooBars, each with a ConfigMap of the same name.
async fn furnish(wire: &Wire, count: usize) {
    define(wire).await;
    for number in 0..count {
        let name = format!("foobar-{number}");
        let body = json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "metadata": {"name": name}});
        let owner = wire.post(FOOBARS, body.to_string()).await.json();
        make_of(wire, (&name, &owner["metadata"]["uid"])).await;
    }
}

/// Creates a ConfigMap whose owner is the FooBar with this name and UID.
async fn make_of(wire: &Wire, (name, uid): (&str, &Value)) {
    let reference = json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": name, "uid": uid});
    let body = json!({"metadata": {"name": name, "ownerReferences": [reference]}});
    assert_eq!(wire.post(MAPS, body.to_string()).await.code, 201);
}

#[tokio::test(start_paused = true)]
async fn dependents_are_deleted_when_their_owners_kind_is_removed() {
    let wire = wire();
    furnish(&wire, 3).await;
    let elsewhere = json!({"metadata": {"name": "not-one", "uid": "1-2-3"}, "kind": "FooBar"});
    make(&wire, "of-a-kind-unknown", &[&elsewhere], false).await;
    assert_eq!(names(&wire).await.len(), 4);
    wire.send("DELETE", &format!("{CRDS}/foobars.test.example.com"), "")
        .await;
    assert_eq!(names(&wire).await, ["of-a-kind-unknown"]);
}

#[tokio::test(start_paused = true)]
async fn dependents_are_deleted_even_if_their_owners_deletion_was_compacted() {
    let options = kubewright_apiserver::Options {
        history: Some(5),
        ..Default::default()
    };
    let wire = crate::common::to(kubewright_apiserver::ApiServer::new(options));
    furnish(&wire, 20).await;
    assert_eq!(names(&wire).await.len(), 20);
    wire.send("DELETE", &format!("{CRDS}/foobars.test.example.com"), "")
        .await;
    assert!(names(&wire).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_dependent_of_an_unserved_kind_is_examined_once_the_kind_is_served() {
    let wire = wire();
    make_of(&wire, ("early", &json!("11111111-1111-1111-1111-111111111111"))).await;
    assert_eq!(names(&wire).await, ["early"]);
    define(&wire).await;
    assert!(names(&wire).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn dependents_of_an_unserved_kind_are_orphaned_once_the_kind_is_served() {
    let wire = wire();
    define(&wire).await;
    let owner = make(&wire, "owner", &[], false).await;
    let body = json!({"apiVersion": "test.example.com/v1", "kind": "FooBar",
        "metadata": {"name": "one", "ownerReferences": [reference(&owner, false)]}});
    assert_eq!(wire.post(FOOBARS, body.to_string()).await.code, 201);
    let serve = async |is_served: bool| {
        let path = format!("{CRDS}/foobars.test.example.com");
        let patch = json!([{"op": "replace", "path": "/spec/versions/0/served", "value": is_served}]);
        let wire = wire.with("content-type", "application/json-patch+json");
        let answer = wire.send("PATCH", &path, patch.to_string()).await;
        assert_eq!(answer.code, 200, "{}", answer.text);
    };
    serve(false).await;
    delete(&wire, "owner", "Orphan").await;
    assert_eq!(names(&wire).await, ["owner"]);
    serve(true).await;
    assert!(names(&wire).await.is_empty());
    let freed = wire.get(&format!("{FOOBARS}/one")).await.json();
    assert_eq!(freed["metadata"].get("ownerReferences"), None);
}

#[tokio::test(start_paused = true)]
async fn a_dependent_whose_deletion_was_refused_is_deleted_later() {
    let wire = wire();
    let owner = json!({"metadata": {"name": "owner"}});
    let answer = wire.post("/api/v1/namespaces/default/secrets", owner.to_string()).await;
    let mut owner = answer.json();
    owner["kind"] = json!("Secret");
    make(&wire, "dependent", &[&owner], true).await;
    wire.refuse("DELETE", "/configmaps").await;
    let path = "/api/v1/namespaces/default/secrets/owner";
    wire.send("DELETE", &format!("{path}?propagationPolicy=Foreground"), "")
        .await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(names(&wire).await, ["dependent"]);
    wire.allow().await;
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert!(names(&wire).await.is_empty());
    assert_eq!(wire.get(path).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn a_definition_is_deleted_with_its_objects_although_a_policy_refuses_their_deletion() {
    let wire = wire();
    furnish(&wire, 2).await;
    let definition = format!("{CRDS}/foobars.test.example.com");
    wire.refuse("DELETE", "test.example.com/foobars").await;
    wire.send("DELETE", &definition, "").await;
    assert_eq!(wire.get(&definition).await.code, 404);
    assert_eq!(wire.get(FOOBARS).await.code, 404);
}
