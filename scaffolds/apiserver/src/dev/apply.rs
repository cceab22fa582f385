//! Applies objects to the server as its administrator, as soon as their kinds are served.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tokio::time::{Instant, sleep};
use tower::ServiceExt;

use super::{NAMESPACE, manifests::Manifest, print};
use crate::{resource::Resource, server::ApiServer};

/// The time to wait until a kind is served: the operator itself may create the kind of a sample.
const PATIENCE: Duration = Duration::from_secs(30);
const PERIOD: Duration = Duration::from_millis(20);
/// The server's error about a webhook that does not answer.
const NOT_CALLED: &str = "failed calling webhook";

/// Applies the objects in order, and prints each.
///
/// # Errors
/// The first object that is refused, with the server's message.
pub(super) async fn apply_all(server: &ApiServer, manifests: &[Manifest]) -> Result<(), String> {
    for manifest in manifests {
        apply(server, manifest).await?;
        let object = &manifest.object;
        print(&format!(
            "applied:    {} {}\n",
            text(object, "/kind"),
            text(object, "/metadata/name")
        ))?;
    }
    Ok(())
}

/// Applies one object. If a webhook cannot be called, it is tried again: the operator may not have started yet.
///
/// # Errors
/// The server's message when it refuses the object.
pub(super) async fn apply(server: &ApiServer, manifest: &Manifest) -> Result<(), String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let applied = once(server, manifest).await;
        let is_early = |error: &String| error.contains(NOT_CALLED) && Instant::now() < deadline;
        if !applied.as_ref().is_err_and(is_early) {
            return applied;
        }
        sleep(PERIOD * 10).await;
    }
}

/// Applies one object, with one request.
///
/// # Errors
/// The server's message when it refuses the object.
pub(super) async fn once(server: &ApiServer, manifest: &Manifest) -> Result<(), String> {
    let applied = async {
        let path = path(server, &manifest.object).await?;
        let path = format!("{path}?fieldManager=dev&force=true");
        let request = Request::builder().method(Method::PATCH).uri(path);
        let request = request.header("content-type", "application/apply-patch+yaml");
        send(server, request, &manifest.object).await
    };
    let outcome = applied.await;
    outcome
        .map(|_| ())
        .map_err(|error| format!("`{}`: {error}", manifest.file.display()))
}

/// Sends a request with this body, and returns the answer's body.
///
/// # Errors
/// The message of the Status, when the answer is an error.
pub(super) async fn send(server: &ApiServer, request: http::request::Builder, body: &Value) -> Result<Value, String> {
    let request = request
        .body(Full::new(Bytes::from(body.to_string())))
        .map_err(|error| error.to_string())?;
    let answer = server.service().oneshot(request).await;
    let answer = answer.map_err(|error| error.to_string())?;
    let is_success = answer.status().is_success();
    let body = answer.into_body().collect().await;
    let body = body.map_err(|error| error.to_string())?.to_bytes();
    let answered: Value = serde_json::from_slice(&body).unwrap_or_default();
    match is_success {
        true => Ok(answered),
        false => Err(text(&answered, "/message").to_owned()),
    }
}

/// The path of the object, once its kind is served.
async fn path(server: &ApiServer, object: &Value) -> Result<String, String> {
    let collection = collection(server, object).await?;
    Ok(format!("{collection}/{}", text(object, "/metadata/name")))
}

/// The path of the object's collection, once its kind is served.
///
/// # Errors
/// The kind is not served after [`PATIENCE`].
pub(super) async fn collection(server: &ApiServer, object: &Value) -> Result<String, String> {
    let deadline = Instant::now() + PATIENCE;
    let (api_version, kind) = (text(object, "/apiVersion"), text(object, "/kind"));
    loop {
        if let Some(resource) = served(server, api_version, kind) {
            let prefix = if resource.group.is_empty() { "/api" } else { "/apis" };
            let namespace = match (resource.namespaced, text(object, "/metadata/namespace")) {
                (false, _) => String::new(),
                (true, "") => format!("/namespaces/{NAMESPACE}"),
                (true, other) => format!("/namespaces/{other}"),
            };
            let plural = &resource.names.plural;
            return Ok(format!("{prefix}/{api_version}{namespace}/{plural}"));
        }
        if Instant::now() >= deadline {
            return Err(format!(
                "{api_version} {kind} is not served after {} s",
                PATIENCE.as_secs()
            ));
        }
        sleep(PERIOD).await;
    }
}

fn served(server: &ApiServer, api_version: &str, kind: &str) -> Option<Arc<Resource>> {
    let resources = server.catalogue().snapshot();
    let mut all = resources.all();
    all.find(|it| it.names.kind == kind && it.api_version() == api_version)
        .cloned()
}

fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
