//! Sends a request and counts the visited objects and changes until the controllers are idle.

use std::time::Duration;

use kubewright_apiserver::{
    ApiServer, Controllers, Options,
    testing::store::{Key, Store},
};
use serde_json::{Value, json};

use crate::common::{self, Wire};

pub const FEW: usize = 100;
pub const MANY: usize = 5_000;

/// The number of visited objects and changes for each request, with its name.
pub type Looks = Vec<(&'static str, u64)>;

/// A server with all controllers. The tests in this folder pause the clock, so a sleep ends when all tasks are idle.
pub fn server() -> Wire {
    on(Store::default())
}

/// The same on a store that a test fills.
pub fn on(store: Store) -> Wire {
    let controllers = Controllers {
        service_accounts: true,
        ..Controllers::default()
    };
    common::to(ApiServer::on(
        store,
        Options {
            controllers,
            ..Options::default()
        },
    ))
}

/// Copies an object in the store, with another name and UID, as fast as the store allows. The owner of a copy is the
/// copy of the original's owner with the same number.
pub fn copy(store: &Store, (resource, object): (&str, &Value), number: usize) {
    let mut object = object.clone();
    let metadata = &mut object["metadata"];
    let uid = |kind: &str| json!(format!("{number:08}-{kind}-4000-8000-000000000000"));
    metadata["name"] = json!(format!("other-{number}"));
    metadata["uid"] = uid(if metadata["ownerReferences"].is_null() {
        "aaaa"
    } else {
        "bbbb"
    });
    if let Some(owner) = metadata.pointer_mut("/ownerReferences/0") {
        owner["name"] = json!(format!("other-{number}"));
        owner["uid"] = uid("aaaa");
    }
    let key = Key::new(resource, "default", &format!("other-{number}"));
    let text = |revision: u64| {
        let mut object = object.clone();
        object["metadata"]["resourceVersion"] = json!(revision.to_string());
        object.to_string().into()
    };
    store.create(&key, &text).unwrap();
}

pub async fn settled() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// Sends a request that must succeed.
pub async fn send(wire: &Wire, (method, path): (&str, &str), body: &Value) -> Value {
    let kind = match method {
        "PATCH" if path.contains("fieldManager") => "application/apply-patch+yaml",
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let answer = wire.with("content-type", kind).send(method, path, body).await;
    assert!(answer.code < 300, "{method} {path}: {}", answer.text);
    serde_json::from_str(&answer.text).unwrap_or_default()
}

/// The same, with the number of visited objects and changes.
pub async fn counted(
    wire: &Wire,
    looks: &mut Looks,
    name: &'static str,
    (request, body): ((&str, &str), &Value),
) -> Value {
    settled().await;
    let before = wire.server.looked();
    let answer = send(wire, request, body).await;
    settled().await;
    looks.push((name, wire.server.looked() - before));
    answer
}
