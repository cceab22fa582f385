//! Certificates of the metrics server at work. Tests about the webhook server are in `kubewright-webhooks`.

mod metrics;

use std::{future::pending, time::Duration};

use clap::Parser;
use http::Request;
use kube::{Client, client::Body};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::*;
use crate::{options::Options, server::Held};

/// The prefix that kustomize adds to names.
const PREFIX: &str = "foobar-operator-";
/// The name of the operator.
const OPERATOR: &str = "foobar-operator";

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    operator: Options,
}

/// Applies an object of a collection as `kubectl apply --server-side --force-conflicts` does.
async fn apply(client: &Client, collection: &str, object: &Value) -> (u16, Value) {
    let name = object["metadata"]["name"].as_str().unwrap();
    let request = Request::patch(format!("{collection}/{name}?fieldManager=kubectl&force=true"));
    let request = request.header("content-type", "application/apply-patch+yaml");
    send(client, request, object).await
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

async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so().await {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        sleep(Duration::from_millis(50)).await;
    }
}
