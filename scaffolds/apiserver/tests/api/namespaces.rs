//! The initial namespaces, and the deletion of namespaces, compared with the states that kube-controller-manager 1.37.2
//! produced.

use crate::common::{Wire, wire};
use serde_json::{Value, json};
use std::time::Duration;

const NAMESPACES: &str = "/api/v1/namespaces";

async fn make(wire: &Wire, path: &str, body: Value) {
    let answer = wire.post(path, body.to_string()).await;
    assert_eq!(answer.code, 201, "{}", answer.text);
}

/// Waits until the namespace is gone or no longer changes.
async fn settled(wire: &Wire, name: &str) -> Option<Value> {
    let answer = wire.settled(&format!("{NAMESPACES}/{name}")).await;
    (answer.code == 200).then(|| answer.json())
}

fn condition<'a>(namespace: &'a Value, kind: &str) -> &'a Value {
    let conditions = namespace["status"]["conditions"].as_array().unwrap();
    conditions.iter().find(|it| it["type"] == kind).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_new_server_has_four_namespaces_and_a_service() {
    let wire = wire();
    let list = wire.get(NAMESPACES).await.json();
    let names: Vec<&Value> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["metadata"]["name"])
        .collect();
    assert_eq!(names, ["default", "kube-node-lease", "kube-public", "kube-system"]);
    let service = wire.get("/api/v1/namespaces/default/services/kubernetes").await.json();
    assert_eq!(service["spec"]["clusterIP"], "10.0.0.1");
}

/// The labels and managed fields of kube-apiserver 1.37.2.
#[tokio::test(start_paused = true)]
async fn a_namespace_with_a_generated_name_has_the_label_with_that_name() {
    const LABEL: &str = "kubernetes.io/metadata.name";
    let managed = [
        (json!({}), json!({"f:generateName": {}})),
        (
            json!({"labels": {"a": "b"}}),
            json!({"f:generateName": {}, "f:labels": {".": {}, "f:a": {}}}),
        ),
        (
            json!({"labels": {"a": "b", LABEL: "x"}}),
            json!({"f:generateName": {}, "f:labels": {".": {}, "f:a": {}, "f:kubernetes.io/metadata.name": {}}}),
        ),
    ];
    let wire = wire();
    for (mut metadata, fields) in managed {
        metadata["generateName"] = json!("g-");
        let answer = wire
            .post(NAMESPACES, json!({ "metadata": metadata }).to_string())
            .await
            .json();
        assert_eq!(answer["metadata"]["labels"][LABEL], answer["metadata"]["name"]);
        assert_eq!(answer["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"], fields);
        let name = answer["metadata"]["name"].as_str().unwrap();
        let list = wire.get(&format!("{NAMESPACES}?labelSelector={LABEL}%3D{name}")).await;
        assert_eq!(list.json()["items"].as_array().unwrap().len(), 1, "{}", list.text);
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_namespace_is_deleted_at_once() {
    let wire = wire();
    make(&wire, NAMESPACES, json!({"metadata": {"name": "empty"}})).await;
    let answer = wire.send("DELETE", &format!("{NAMESPACES}/empty"), "").await;
    assert_eq!(answer.json()["status"]["phase"], "Terminating");
    assert_eq!(settled(&wire, "empty").await, None);
}

#[tokio::test(start_paused = true)]
async fn a_namespace_reports_its_remaining_content_and_is_deleted_with_the_last_object() {
    let wire = wire();
    make(&wire, NAMESPACES, json!({"metadata": {"name": "full"}})).await;
    let maps = format!("{NAMESPACES}/full/configmaps");
    make(&wire, &maps, json!({"metadata": {"name": "a", "finalizers": ["x/y"]}})).await;
    make(
        &wire,
        &maps,
        json!({"metadata": {"name": "b", "finalizers": ["x/y", "z/w"]}}),
    )
    .await;
    make(&wire, &maps, json!({"metadata": {"name": "c"}})).await;
    wire.send("DELETE", &format!("{NAMESPACES}/full"), "").await;
    let namespace = settled(&wire, "full").await.unwrap();
    let remaining = condition(&namespace, "NamespaceContentRemaining");
    assert_eq!(remaining["reason"], "SomeResourcesRemain");
    assert_eq!(
        remaining["message"],
        "Some resources are remaining: configmaps. has 2 resource instances"
    );
    assert_eq!(
        condition(&namespace, "NamespaceFinalizersRemaining")["message"],
        "Some content in the namespace has finalizers remaining: x/y in 2 resource instances, z/w in 1 resource instances"
    );
    assert_eq!(
        condition(&namespace, "NamespaceDeletionContentFailure")["status"],
        "False"
    );
    let answer = wire
        .post(&maps, json!({"metadata": {"name": "late"}}).to_string())
        .await
        .json();
    assert_eq!(
        (&answer["code"], &answer["details"]["causes"][0]["reason"]),
        (&json!(403), &json!("NamespaceTerminating"))
    );
    let patch = wire.with("content-type", "application/merge-patch+json");
    for name in ["a", "b"] {
        patch
            .send(
                "PATCH",
                &format!("{maps}/{name}"),
                r#"{"metadata":{"finalizers":null}}"#,
            )
            .await;
    }
    assert_eq!(settled(&wire, "full").await, None);
    assert_eq!(wire.get(&format!("{maps}/b")).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn other_objects_remain_until_terminating_pods_are_gone() {
    let wire = wire();
    make(&wire, NAMESPACES, json!({"metadata": {"name": "busy"}})).await;
    let spec = json!({"nodeName": "n", "containers": [{"name": "c", "image": "i"}]});
    make(
        &wire,
        &format!("{NAMESPACES}/busy/pods"),
        json!({"metadata": {"name": "p"}, "spec": spec}),
    )
    .await;
    make(
        &wire,
        &format!("{NAMESPACES}/busy/configmaps"),
        json!({"metadata": {"name": "needed"}}),
    )
    .await;
    wire.send("DELETE", &format!("{NAMESPACES}/busy"), "").await;
    let namespace = settled(&wire, "busy").await.unwrap();
    assert_eq!(condition(&namespace, "NamespaceContentRemaining")["status"], "False");
    assert_eq!(
        wire.get(&format!("{NAMESPACES}/busy/configmaps/needed")).await.code,
        200
    );
    wire.send("DELETE", &format!("{NAMESPACES}/busy/pods/p?gracePeriodSeconds=0"), "")
        .await;
    assert_eq!(settled(&wire, "busy").await, None);
}

#[tokio::test(start_paused = true)]
async fn a_namespace_reports_refused_deletions_and_tries_them_again() {
    let wire = wire();
    make(&wire, NAMESPACES, json!({"metadata": {"name": "kept"}})).await;
    for name in ["a", "b"] {
        let path = format!("{NAMESPACES}/kept/configmaps");
        make(&wire, &path, json!({"metadata": {"name": name}})).await;
    }
    make(
        &wire,
        &format!("{NAMESPACES}/kept/secrets"),
        json!({"metadata": {"name": "s"}}),
    )
    .await;
    wire.refuse("DELETE", "/configmaps").await;
    wire.send("DELETE", &format!("{NAMESPACES}/kept"), "").await;
    let namespace = settled(&wire, "kept").await.unwrap();
    let failure = condition(&namespace, "NamespaceDeletionContentFailure");
    assert_eq!(
        (&failure["status"], &failure["reason"]),
        (&json!("True"), &json!("ContentDeletionFailed"))
    );
    assert_eq!(
        failure["message"],
        "Failed to delete all resource types, 1 remaining: configmaps \"a\" is forbidden: ValidatingAdmissionPolicy 'refuse' \
         with binding 'refuse' denied request: not now"
    );
    let remaining = condition(&namespace, "NamespaceContentRemaining");
    assert_eq!(
        remaining["message"],
        "Some resources are remaining: configmaps. has 2 resource instances"
    );
    tokio::time::sleep(Duration::from_secs(30)).await;
    wire.allow().await;
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(settled(&wire, "kept").await, None);
}
