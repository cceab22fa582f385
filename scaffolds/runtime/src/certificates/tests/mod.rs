//! Certificates at work: an API server calls webhooks that a replica of an operator serves.

mod conversion;
mod metrics;
mod rotation;
mod story;

use std::{future::pending, time::Duration};

use clap::Parser;
use http::Request;
use kube::{Client, client::Body};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::*;
use crate::{
    manager::Manager,
    options::Options,
    server::{Held, Webhooks},
    webhook::component::{configured, converting},
};

/// What kustomize does to names.
const PREFIX: &str = "foobar-operator-";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// The name of the operator.
const OPERATOR: &str = "foobar-operator";

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    operator: Options,
}

/// A replica of the operator: its webhook server and the task that keeps the certificates.
struct Replica {
    server: Webhooks,
    standing: Standing,
}

/// Serves the webhooks of a manager.
fn replica(manager: &Manager, namespace: &str, pace: Pace) -> Replica {
    replica_reached(manager, namespace, pace, false)
}

/// As above; API servers reach its converters by its URL, or through the Service.
fn replica_reached(manager: &Manager, namespace: &str, pace: Pace, by_url: bool) -> Replica {
    let held = Held::new();
    let options = Flags::parse_from(["operator", "--webhook-bind-address=127.0.0.1:0"]).operator;
    let hooks = manager.hooks();
    let endpoints = hooks.iter().map(|hook| hook.endpoint.clone()).collect();
    let server = Webhooks::start(&options, endpoints, manager.metrics(), &held)
        .unwrap()
        .unwrap();
    let settings = Settings {
        shown: Shown::WEBHOOKS,
        client: manager.client().clone(),
        operator: OPERATOR.to_owned(),
        namespace: namespace.to_owned(),
        prefix: PREFIX.to_owned(),
        hosts: vec!["127.0.0.1".to_owned()],
        configured: configured(&hooks),
        converting: converting(&hooks),
        reach: Reach {
            address: Some(server.address()),
            url: by_url.then(|| format!("https://{}", server.address())),
            in_cluster: false,
        },
        pace,
    };
    let keeper = Keeper::new(settings, held, manager.metrics());
    let standing = keeper.standing();
    tokio::spawn(keeper.keep(pending));
    Replica { server, standing }
}

/// Sends a request with this body, and returns code and body of the answer.
async fn send(client: &Client, request: http::request::Builder, body: &Value) -> (u16, Value) {
    let request = request.body(Body::from(body.to_string().into_bytes())).unwrap();
    let answer = client.send(request).await.unwrap();
    let code = answer.status().as_u16();
    let body = answer.into_body().collect_bytes().await.unwrap();
    // A path that is not served yet is answered with text.
    (code, serde_json::from_slice(&body).unwrap_or_default())
}

/// Applies an object of a collection as `kubectl apply --server-side --force-conflicts` does.
async fn apply(client: &Client, collection: &str, object: &Value) -> (u16, Value) {
    let name = object["metadata"]["name"].as_str().unwrap();
    let request = Request::patch(format!("{collection}/{name}?fieldManager=kubectl&force=true"));
    send(
        client,
        request.header("content-type", "application/apply-patch+yaml"),
        object,
    )
    .await
}

async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so().await {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        sleep(Duration::from_millis(50)).await;
    }
}
