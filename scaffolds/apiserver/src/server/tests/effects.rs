//! The effects of writes of definitions.

use serde_json::{Value, json};
use tokio::{
    task::yield_now,
    time::{Duration, timeout},
};

use super::{DEFINITIONS, Phase, definition, give_up, held, probe, send, server};

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
async fn definitions_and_objects_are_written_while_objects_of_a_definition_are_deleted() {
    let server = server();
    let foo = "/apis/example.com/v1/namespaces/default/foos";
    send(&server, &format!("POST {DEFINITIONS}"), definition()).await;
    let object = json!({"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "a"}});
    let (code, answer) = send(&server, &format!("POST {foo}"), object).await;
    assert_eq!(code, 201, "{answer}");
    let status = probe::hold(Phase::Mutating, "status");
    let path = "DELETE /apis/apiextensions.k8s.io/v1/customresourcedefinitions/foos.example.com";
    let deletion = held(&server, path, Value::Null).await;
    let object = probe::hold(Phase::Mutating, "");
    status.notify_one();
    while !probe::is_holding() {
        yield_now().await;
    }
    // A webhook for the deletion of the object may do both.
    for path in [format!("{foo}/a"), format!("{DEFINITIONS}/foos.example.com")] {
        let request = format!("PATCH {path}");
        let written = send(&server, &request, json!({"metadata": {"labels": {"a": "b"}}}));
        let (code, answer) = timeout(Duration::from_secs(10), written).await.unwrap();
        assert_eq!(code, 200, "{answer}");
    }
    object.notify_one();
    assert_eq!(deletion.await.unwrap().0, 200);
    let (code, _) = send(&server, &format!("GET {DEFINITIONS}/foos.example.com"), Value::Null).await;
    assert_eq!(code, 404);
}
