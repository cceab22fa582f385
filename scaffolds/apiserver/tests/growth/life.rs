//! The work for each request in the life of a FooBar with an owned ConfigMap, among many others.

use kubewright_apiserver::testing::store::Store;
use serde_json::{Value, json};

use crate::{
    common::Wire,
    step::{FEW, Looks, MANY, copy, counted, on, send, server},
};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const FOOBARS: &str = "/apis/test.example.com/v1/namespaces/default/foobars";
const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const FINALIZER: &str = "test.example.com/cleanup";

fn definition() -> Value {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({"metadata": {"name": "foobars.test.example.com"},
        "spec": {"group": "test.example.com", "scope": "Namespaced", "names": {"kind": "FooBar", "plural": "foobars"},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": open, "status": open}}}}]}})
}

fn foobar(name: &str) -> Value {
    json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "metadata": {"name": name}, "spec": {"target": "a"}})
}

fn child(name: &str, owner: &Value) -> Value {
    let reference = json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": name, "controller": true,
        "uid": owner["metadata"]["uid"], "blockOwnerDeletion": true});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "ownerReferences": [reference]},
        "data": {"a": "1"}})
}

/// A server with this many objects: FooBars, each with a ConfigMap.
async fn among(count: usize) -> Wire {
    let store = Store::default();
    let wire = on(store.clone());
    send(&wire, ("POST", CRDS), &definition()).await;
    let owner = send(&wire, ("POST", FOOBARS), &foobar("first")).await;
    let child = send(&wire, ("POST", MAPS), &child("first", &owner)).await;
    for number in 0..count / 2 {
        copy(&store, ("test.example.com/foobars", &owner), number);
        copy(&store, ("/configmaps", &child), number);
    }
    wire
}

async fn live(wire: &Wire) -> Looks {
    let (one, map) = (format!("{FOOBARS}/one"), format!("{MAPS}/one"));
    let (status, apply) = (
        format!("{one}/status"),
        format!("{map}?fieldManager=operator&force=true"),
    );
    let others = wire.get(MAPS).await.json()["items"].as_array().unwrap().len();
    let mut looks = Looks::new();
    let finalizers = |list: Value| json!({"metadata": {"finalizers": list}});
    let owner = counted(wire, &mut looks, "create", (("POST", FOOBARS), &foobar("one"))).await;
    let child = child("one", &owner);
    let mut applied = child.clone();
    applied["data"]["a"] = json!("2");
    let none = Value::Null;
    let requests: [(&'static str, &str, &str, &Value); 12] = [
        ("finalizer", "PATCH", &one, &finalizers(json!([FINALIZER]))),
        ("owned child", "POST", MAPS, &child),
        ("status", "PATCH", &status, &json!({"status": {"ready": true}})),
        ("spec", "PATCH", &one, &json!({"spec": {"target": "b"}})),
        ("apply", "PATCH", &apply, &applied),
        ("get", "GET", &one, &none),
        (
            "list of one name",
            "GET",
            &format!("{FOOBARS}?fieldSelector=metadata.name%3Done"),
            &none,
        ),
        ("child's deletion", "DELETE", &map, &none),
        ("child again", "POST", MAPS, &child),
        ("deletion", "DELETE", &one, &none),
        ("finalizer off", "PATCH", &one, &finalizers(none.clone())),
        ("a new one", "POST", FOOBARS, &foobar("two")),
    ];
    for (name, method, path, body) in requests {
        counted(wire, &mut looks, name, ((method, path), body)).await;
    }
    // The FooBar and its ConfigMap are gone.
    assert_eq!(wire.get(&one).await.code, 404);
    assert_eq!(wire.get(&map).await.code, 404);
    // All others remain.
    assert_eq!(wire.get(MAPS).await.json()["items"].as_array().unwrap().len(), others);
    looks
}

#[tokio::test(start_paused = true)]
async fn no_request_in_an_objects_life_visits_more_among_many_objects() {
    assert_eq!(live(&among(FEW).await).await, live(&among(MANY).await).await);
}

#[tokio::test(start_paused = true)]
async fn foreground_and_orphan_deletions_visit_each_dependent_equally_often_among_many() {
    let mut each = Vec::new();
    for count in [50, 500] {
        let wire = server();
        let mut looks = Looks::new();
        for policy in ["Foreground", "Orphan"] {
            let owner = send(&wire, ("POST", MAPS), &json!({"metadata": {"name": "owner"}})).await;
            for number in 0..count {
                let mut child = child(&format!("child-{number}"), &owner);
                let reference = &mut child["metadata"]["ownerReferences"][0];
                (reference["apiVersion"], reference["kind"]) = (json!("v1"), json!("ConfigMap"));
                reference["name"] = json!("owner");
                send(&wire, ("POST", MAPS), &child).await;
            }
            let path = format!("{MAPS}/owner?propagationPolicy={policy}");
            counted(&wire, &mut looks, "deletion", (("DELETE", &path), &Value::Null)).await;
            assert_eq!(wire.get(&format!("{MAPS}/owner")).await.code, 404);
            let left = wire.get(MAPS).await.json()["items"].as_array().unwrap().len();
            assert_eq!(left, if policy == "Orphan" { count } else { 0 });
        }
        each.push(
            looks
                .iter()
                .map(|(_, looks)| looks.div_ceil(count as u64))
                .collect::<Vec<_>>(),
        );
    }
    assert_eq!(each[0], each[1]);
}
