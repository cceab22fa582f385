//! Several writers of one object: one succeeds, the others get a conflict, and no write is lost.

use crate::common::wire;
use serde_json::json;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_writers_from_the_same_state_one_succeeds() {
    let wire = wire();
    let seen = wire.post(MAPS, r#"{"metadata":{"name":"a"}}"#).await.json();
    let writers = (0..8).map(|writer| {
        let (wire, mut object) = (wire.with("content-type", "application/json"), seen.clone());
        object["data"] = json!({"writer": writer.to_string()});
        tokio::spawn(async move { wire.send("PUT", &format!("{MAPS}/a"), object.to_string()).await.code })
    });
    let mut codes = Vec::new();
    for writer in writers.collect::<Vec<_>>() {
        codes.push(writer.await.unwrap());
    }
    codes.sort_unstable();
    assert_eq!(codes, [200, 409, 409, 409, 409, 409, 409, 409]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_patches_are_all_kept() {
    let wire = wire();
    wire.post(MAPS, r#"{"metadata":{"name":"a"}}"#).await;
    let writers = (0..8).map(|writer| {
        let wire = wire.with("content-type", "application/merge-patch+json");
        tokio::spawn(async move {
            for number in 0..25 {
                let patch = json!({"data": {format!("{writer}-{number}"): "x"}});
                assert_eq!(
                    wire.send("PATCH", &format!("{MAPS}/a"), patch.to_string()).await.code,
                    200
                );
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let object = wire.get(&format!("{MAPS}/a")).await.json();
    assert_eq!(object["data"].as_object().unwrap().len(), 200);
}

#[tokio::test]
async fn an_apply_that_creates_needs_the_right_to_create() {
    let wire = wire();
    let rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";
    let role = json!({"metadata": {"name": "patcher"},
        "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"]}]});
    let binding = json!({"metadata": {"name": "patcher"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "patcher"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "bob"}]});
    wire.post(&format!("{rbac}/roles"), role.to_string()).await;
    wire.post(&format!("{rbac}/rolebindings"), binding.to_string()).await;
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}).to_string();
    let path = format!("{MAPS}/a?fieldManager=m");
    let wire = wire.with("content-type", "application/apply-patch+yaml");
    let bob = wire.with("impersonate-user", "bob");
    let refused = bob.send("PATCH", &path, map.clone()).await;
    assert_eq!(
        (refused.code, refused.json()["message"].as_str().unwrap()),
        (
            403,
            "configmaps \"a\" is forbidden: User \"bob\" cannot create resource \"configmaps\" in API group \"\" in the \
             namespace \"default\""
        )
    );
    assert_eq!(wire.send("PATCH", &path, map.clone()).await.code, 201);
    assert_eq!(bob.send("PATCH", &path, map).await.code, 200);
}
