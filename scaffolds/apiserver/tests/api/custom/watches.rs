//! Watches of custom kinds, with a paused clock.

use super::{
    exchange::{CRDS, get, merge, send},
    ours::ask,
};
use kubewright_apiserver::{ApiServer, Options};
use serde_json::{Value, json};

const ONE: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/bars.watches.example.com";
const OBJECTS: &str = "/apis/watches.example.com/v1/namespaces/default/bars";

async fn server_with_an_object() -> ApiServer {
    let server = ApiServer::new(Options::default());
    let crd = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "bars.watches.example.com"},
        "spec": {"group": "watches.example.com", "scope": "Namespaced", "names": {"kind": "Bar", "plural": "bars"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}});
    assert_eq!(ask(&server, &send("POST", CRDS, crd)).await.code, 201);
    let object = json!({"apiVersion": "watches.example.com/v1", "kind": "Bar", "metadata": {"name": "a"}});
    assert_eq!(ask(&server, &send("POST", OBJECTS, object)).await.code, 201);
    server
}

fn types(body: &str) -> Vec<String> {
    let event = |line: &str| serde_json::from_str::<Value>(line).expect("an event");
    body.lines()
        .map(|line| event(line)["type"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_with_its_kind_after_all_events() {
    let server = server_with_an_object().await;
    let started = tokio::time::Instant::now();
    let watch = get(format!("{OBJECTS}?watch=true&timeoutSeconds=600"));
    let change = async {
        tokio::task::yield_now().await;
        ask(&server, &merge(ONE, json!({"metadata": {"labels": {"a": "b"}}}))).await;
        ask(&server, &send("DELETE", ONE, Value::Null)).await
    };
    let (watched, deleted) = tokio::join!(ask(&server, &watch), change);
    assert_eq!(deleted.code, 200);
    assert_eq!(types(&watched.body), ["ADDED", "DELETED"]);
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    assert_eq!(ask(&server, &get(ONE)).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn watches_see_each_state_of_a_definition() {
    let server = server_with_an_object().await;
    ask(&server, &send("DELETE", ONE, Value::Null)).await;
    let watch = get(format!(
        "{CRDS}?watch=true&timeoutSeconds=1&resourceVersion=1&fieldSelector=metadata.name%3Dbars.watches.example.com"
    ));
    let body = ask(&server, &watch).await.body;
    let states = body.lines().map(|line| {
        let event: Value = serde_json::from_str(line).expect("an event");
        let conditions = event["object"]["status"]["conditions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let reasons: Vec<&str> = conditions.iter().filter_map(|it| it["reason"].as_str()).collect();
        format!("{} {}", event["type"].as_str().unwrap_or_default(), reasons.join(" "))
    });
    // Recorded from the real server.
    let expected = [
        "ADDED ",
        "MODIFIED NoConflicts Installing",
        "MODIFIED NoConflicts InitialNamesAccepted",
        "MODIFIED NoConflicts InitialNamesAccepted InstanceDeletionPending",
        "MODIFIED NoConflicts InitialNamesAccepted InstanceDeletionInProgress",
        "DELETED NoConflicts InitialNamesAccepted InstanceDeletionInProgress",
    ];
    assert_eq!(states.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_definition_is_deleted_with_the_last_of_its_objects() {
    let server = server_with_an_object().await;
    let hold = |finalizers: Value| merge(format!("{OBJECTS}/a"), json!({"metadata": {"finalizers": finalizers}}));
    assert_eq!(ask(&server, &hold(json!(["example.com/hold"]))).await.code, 200);
    ask(&server, &send("DELETE", ONE, Value::Null)).await;
    assert_eq!(ask(&server, &get(ONE)).await.code, 200);
    assert_eq!(ask(&server, &hold(Value::Null)).await.code, 200);
    assert_eq!(ask(&server, &get(ONE)).await.code, 404);
    assert_eq!(ask(&server, &get(OBJECTS)).await.body, "404 page not found\n");
}
