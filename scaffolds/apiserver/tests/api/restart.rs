//! A server in a directory that is killed or stopped: its successor has everything that it has acknowledged.
#![cfg(feature = "persist")]

use crate::common::Wire;
use kubewright_apiserver::{ApiServer, Options};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    env,
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

/// The directory of a child process; only set for children.
const CHILD: &str = "KUBEWRIGHT_RESTART_TEST_DIRECTORY";

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/test.example.com/v1/namespaces/default/widgets";
const SERVICES: &str = "/api/v1/namespaces/default/services";

fn open(directory: &Path) -> Wire {
    crate::common::to(ApiServer::open(directory, Options::default()).unwrap())
}

fn definition() -> Value {
    let spec = json!({"type": "object", "properties": {
        "size": {"type": "integer", "minimum": 1}, "color": {"type": "string", "default": "red"}}});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.test.example.com"},
        "spec": {"group": "test.example.com", "scope": "Namespaced",
            "names": {"kind": "Widget", "plural": "widgets", "shortNames": ["wd"]},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}}]}})
}

fn widget(name: &str, size: i64) -> String {
    json!({"apiVersion": "test.example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": size}})
        .to_string()
}

fn service(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
        "spec": {"type": "NodePort", "ports": [{"port": 80}]}})
}

/// Writes the objects that are checked later: a kind, an object of it with a status and generation 2, and Services.
async fn furnish(wire: &Wire) {
    assert_eq!(wire.post(CRDS, definition().to_string()).await.code, 201);
    assert_eq!(wire.post(WIDGETS, widget("one", 1)).await.code, 201);
    let merge = wire.with("content-type", "application/merge-patch+json");
    let path = format!("{WIDGETS}/one");
    assert_eq!(merge.send("PATCH", &path, r#"{"spec":{"size":2}}"#).await.code, 200);
    let status = r#"{"status":{"phase":"Ready"}}"#;
    assert_eq!(merge.send("PATCH", &format!("{path}/status"), status).await.code, 200);
    for name in ["a", "b", "gone"] {
        assert_eq!(wire.post(SERVICES, service(name).to_string()).await.code, 201);
    }
    assert_eq!(wire.send("DELETE", &format!("{SERVICES}/gone"), "").await.code, 200);
}

/// The state of all these objects.
async fn state(wire: &Wire) -> Value {
    json!({
        "widget": wire.get(&format!("{WIDGETS}/one")).await.json(),
        "services": wire.get(SERVICES).await.json()["items"],
        "definition": wire.get(&format!("{CRDS}/widgets.test.example.com")).await.json(),
        "discovery": wire.get("/apis/test.example.com/v1").await.json(),
    })
}

/// Checks the answers of a server whose predecessor's state was `before`.
async fn check(wire: &Wire, before: &Value) {
    assert_eq!(&state(wire).await, before);
    let one = &before["widget"];
    assert_eq!(
        (&one["metadata"]["generation"], &one["status"]["phase"]),
        (&json!(2), &json!("Ready"))
    );
    goes_on(wire, one).await;
    hands_out_nothing_twice(wire, before).await;
}

/// The custom kind still has its schema, its endpoints and its revisions.
async fn goes_on(wire: &Wire, one: &Value) {
    let refused = wire.post(WIDGETS, widget("bad", 0)).await;
    assert_eq!(refused.code, 422, "{}", refused.text);
    let made = wire.post(WIDGETS, widget("two", 1)).await.json();
    assert_eq!(made["spec"]["color"], "red");
    assert_ne!(made["metadata"]["uid"], one["metadata"]["uid"]);
    let revision = |object: &Value| {
        let text = object["metadata"]["resourceVersion"].as_str().unwrap();
        text.parse::<u64>().unwrap()
    };
    assert!(revision(&made) > revision(one));
    let merge = wire.with("content-type", "application/merge-patch+json");
    let path = format!("{WIDGETS}/one");
    let changed = merge.send("PATCH", &path, r#"{"spec":{"size":3}}"#).await.json();
    assert_eq!(changed["metadata"]["generation"], 3);
    assert_eq!(changed["metadata"]["uid"], one["metadata"]["uid"]);
    let stale = wire
        .with("content-type", "application/json")
        .send("PUT", &path, one.to_string())
        .await;
    assert_eq!(stale.code, 409);
    let watch = wire
        .get(&format!("{WIDGETS}?watch=1&timeoutSeconds=1&resourceVersion=2"))
        .await;
    assert!(watch.text.contains("too old resource version"), "{}", watch.text);
}

async fn hands_out_nothing_twice(wire: &Wire, before: &Value) {
    // Without the Service `kubernetes`, which has no node port.
    let held = |field: &str| -> BTreeSet<String> {
        let services = before["services"].as_array().unwrap();
        let ours = services.iter().filter(|it| it["spec"]["type"] == "NodePort");
        ours.map(|it| it.pointer(field).unwrap().to_string()).collect()
    };
    let (addresses, ports) = (held("/spec/clusterIP"), held("/spec/ports/0/nodePort"));
    assert_eq!((addresses.len(), ports.len()), (2, 2));
    for number in 0..50 {
        let made = wire
            .post(SERVICES, service(&format!("new-{number}")).to_string())
            .await
            .json();
        assert!(!addresses.contains(&made["spec"]["clusterIP"].to_string()), "{made}");
        assert!(
            !ports.contains(&made["spec"]["ports"][0]["nodePort"].to_string()),
            "{made}"
        );
    }
    let mut taken = service("taken");
    taken["spec"]["clusterIP"] = before["services"][0]["spec"]["clusterIP"].clone();
    let refused = wire.post(SERVICES, taken.to_string()).await;
    assert!(
        refused.code == 422 && refused.text.contains("already allocated"),
        "{}",
        refused.text
    );
}

/// Not a test of its own: the child process that is killed once it has printed its state.
#[tokio::test(flavor = "multi_thread")]
async fn child() {
    let Ok(directory) = env::var(CHILD) else { return };
    let wire = open(Path::new(&directory));
    furnish(&wire).await;
    println!("state {}", state(&wire).await);
    std::future::pending().await
}

#[tokio::test]
async fn after_a_sigkill_the_next_server_continues() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["restart::child", "--exact", "--nocapture"])
        .env(CHILD, directory.path())
        .stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok);
    let said = lines.find_map(|line| Some(line.split_once("state ")?.1.to_owned()));
    child.kill().unwrap();
    child.wait().unwrap();
    let before = serde_json::from_str(&said.unwrap()).unwrap();
    check(&open(directory.path()), &before).await;
}

#[tokio::test]
async fn after_a_stop_the_next_server_continues() {
    let directory = tempfile::tempdir().unwrap();
    let wire = open(directory.path());
    furnish(&wire).await;
    let before = state(&wire).await;
    drop(wire);
    // The directory is released when the controllers no longer use the server.
    let next = async {
        loop {
            match ApiServer::open(directory.path(), Options::default()) {
                Ok(server) => return crate::common::to(server),
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
            }
        }
    };
    let next = tokio::time::timeout(std::time::Duration::from_secs(60), next)
        .await
        .unwrap();
    check(&next, &before).await;
}
