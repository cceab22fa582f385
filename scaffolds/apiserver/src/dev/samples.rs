//! The objects of a folder, such as `config/samples`, applied as soon as their kinds are served.

use std::{fs, path::Path, sync::Arc, time::Duration};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tokio::time::{Instant, sleep};
use tower::ServiceExt;

use crate::{request::yaml, resource::Resource, server::ApiServer};

/// How long a kind may take until it is served: the operator installs its CRDs at once.
const PATIENCE: Duration = Duration::from_secs(30);
const PERIOD: Duration = Duration::from_millis(20);

/// Applies every document of every file, in the order of their names; says which.
///
/// # Errors
/// The first that cannot be read or is refused, with the server's words.
pub(super) async fn apply(server: &ApiServer, folder: &Path) -> Result<(), String> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    let mut files: Vec<_> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    files.sort();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.ends_with(".yaml") || name == "kustomization.yaml" {
            continue;
        }
        let text = fs::read_to_string(&file).map_err(|error| format!("cannot read `{}`: {error}", file.display()))?;
        for document in text.split("\n---") {
            apply_one(server, document)
                .await
                .map_err(|error| format!("`{}`: {error}", file.display()))?;
        }
    }
    Ok(())
}

async fn apply_one(server: &ApiServer, document: &str) -> Result<(), String> {
    let (object, _) = yaml::read(document.as_bytes())?;
    if object.is_null() {
        return Ok(());
    }
    let path = path(server, &object).await?;
    let request = Request::patch(format!("{path}?fieldManager=dev&force=true"))
        .header("content-type", "application/apply-patch+yaml")
        .body(Full::new(Bytes::from(document.to_owned())));
    let answer = server
        .service()
        .oneshot(request.map_err(|error| error.to_string())?)
        .await;
    let answer = answer.map_err(|error| error.to_string())?;
    if answer.status().is_success() {
        println!(
            "applied:    {} {}",
            text(&object, "/kind"),
            text(&object, "/metadata/name")
        );
        return Ok(());
    }
    let body = answer
        .into_body()
        .collect()
        .await
        .map_err(|error| error.to_string())?
        .to_bytes();
    let status: Value = serde_json::from_slice(&body).unwrap_or_default();
    Err(text(&status, "/message").to_owned())
}

/// Where the object is to be had, once its kind is served.
async fn path(server: &ApiServer, object: &Value) -> Result<String, String> {
    let deadline = Instant::now() + PATIENCE;
    let (api_version, kind) = (text(object, "/apiVersion"), text(object, "/kind"));
    loop {
        if let Some(resource) = served(server, api_version, kind) {
            let prefix = if resource.group.is_empty() { "/api" } else { "/apis" };
            let namespace = match (resource.namespaced, text(object, "/metadata/namespace")) {
                (false, _) => String::new(),
                (true, "") => "/namespaces/default".to_owned(),
                (true, other) => format!("/namespaces/{other}"),
            };
            let (plural, name) = (&resource.names.plural, text(object, "/metadata/name"));
            return Ok(format!("{prefix}/{api_version}{namespace}/{plural}/{name}"));
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
