//! The effects of writes of definitions.

use serde_json::{Value, json};
use tokio::time::{Duration, sleep};

use super::{DEFINITIONS, Operation, Phase, definition, give_up, held, probe, send, server};

#[tokio::test]
async fn effects_of_a_write_complete_after_its_client_disconnects() {
    let server = server();
    // The definition is stored, and its status is being written.
    let gate = probe::hold(Phase::Mutating, "status");
    let path = "POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    give_up(held(&server, path, definition()).await).await;
    assert!(server.catalogue().resource("example.com", "v1", "foos").is_none());
    gate.notify_one();
    // The next write of a definition waits for the effects of the first.
    let (code, _) = send(&server, &format!("PATCH {DEFINITIONS}/foos.example.com"), json!({})).await;
    assert_eq!(code, 200);
    assert!(server.catalogue().resource("example.com", "v1", "foos").is_some());
}

#[tokio::test]
async fn admission_does_not_see_the_deletion_of_a_definitions_objects() {
    let server = server();
    let foos = "/apis/example.com/v1/namespaces/default/foos";
    send(&server, &format!("POST {DEFINITIONS}"), definition()).await;
    for metadata in [json!({"name": "a"}), json!({"name": "b", "finalizers": ["x/y"]})] {
        let object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": metadata});
        let (code, answer) = send(&server, &format!("POST {foos}"), object).await;
        assert_eq!(code, 201, "{answer}");
    }
    probe::seen();
    let definition = format!("{DEFINITIONS}/foos.example.com");
    send(&server, &format!("DELETE {definition}"), Value::Null).await;
    assert!(probe::seen().iter().all(|seen| !seen.resource.contains("foos")));
    let (_, list) = send(&server, &format!("GET {foos}"), Value::Null).await;
    assert_eq!(list["items"].as_array().map(Vec::len), Some(1));
    assert!(list["items"][0]["metadata"]["deletionTimestamp"].is_string(), "{list}");
    let free = json!({"metadata": {"finalizers": null}});
    send(&server, &format!("PATCH {foos}/b"), free).await;
    assert_eq!(send(&server, &format!("GET {definition}"), Value::Null).await.0, 404);
}

#[tokio::test(start_paused = true)]
async fn a_refused_status_of_a_definition_is_written_later() {
    let server = server();
    let status = (
        Operation::Update,
        "apiextensions.k8s.io/customresourcedefinitions/status",
        409,
    );
    let is_served = || server.catalogue().resource("example.com", "v1", "foos").is_some();
    let later = async || {
        sleep(Duration::from_secs(5)).await;
        probe::deny(None);
        sleep(Duration::from_secs(5)).await;
    };
    probe::deny(Some(status));
    send(&server, &format!("POST {DEFINITIONS}"), definition()).await;
    assert!(!is_served());
    later().await;
    assert!(is_served());
    probe::deny(Some(status));
    send(&server, &format!("DELETE {DEFINITIONS}/foos.example.com"), Value::Null).await;
    assert!(is_served());
    later().await;
    assert!(!is_served());
}
