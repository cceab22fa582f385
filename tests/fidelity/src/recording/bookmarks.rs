//! The object in the bookmark of each kind: some fields of Go's structs are written even when they are empty.

use std::fmt::Write;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Real;
use crate::Step;

/// A watch that selects no object, and ends a second after its bookmark.
const QUERY: &str = "watch=true&allowWatchBookmarks=true&timeoutSeconds=1&labelSelector=nope%3Dx&sendInitialEvents=true\
                     &resourceVersionMatch=NotOlderThan";

/// A line for each kind whose empty object has fields.
pub(super) async fn text(real: &Real) -> Result<String> {
    let mut out = String::new();
    for version in versions(real).await? {
        let root = if version.contains('/') { "apis" } else { "api" };
        let list = real.get(&format!("/{root}/{version}")).await?;
        for resource in list["resources"].as_array().into_iter().flatten() {
            let watches = |verbs: &Vec<Value>| verbs.iter().any(|verb| verb == "watch");
            if !resource["verbs"].as_array().is_some_and(watches) {
                continue;
            }
            let plural = resource["name"].as_str().context("a resource without a name")?;
            let object = empty(real, &format!("/{root}/{version}/{plural}")).await?;
            if object.as_object().is_some_and(|fields| !fields.is_empty()) {
                writeln!(out, "{version} {plural} {object}")?;
            }
        }
    }
    Ok(out)
}

/// All group versions, as discovery orders them.
async fn versions(real: &Real) -> Result<Vec<String>> {
    let groups = real.get("/apis").await?;
    let versions = groups["groups"].as_array().into_iter().flatten();
    let versions = versions.flat_map(|group| group["versions"].as_array().into_iter().flatten());
    let named = versions.filter_map(|version| version["groupVersion"].as_str());
    // Other recorders define custom kinds at the same time.
    let built_in = named.filter(|version| !version.contains(".example.com/"));
    Ok(["v1"].into_iter().chain(built_in).map(str::to_owned).collect())
}

async fn empty(real: &Real, path: &str) -> Result<Value> {
    let watch = Step {
        r#do: format!("WATCH {path}?{QUERY}"),
        first: Some(1),
        ..Step::default()
    };
    let mut answer = real.target.send(&watch).await?;
    let mut object = answer.body[0]["object"].take();
    let fields = object
        .as_object_mut()
        .with_context(|| format!("no bookmark of {path}"))?;
    fields.retain(|name, _| name != "apiVersion" && name != "kind");
    // The resource version, and the annotation of a bookmark that ends the initial events.
    let metadata = fields.get_mut("metadata").and_then(Value::as_object_mut);
    let metadata = metadata.with_context(|| format!("no metadata of {path}"))?;
    metadata.remove("resourceVersion");
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        annotations.remove("k8s.io/initial-events-end");
    }
    metadata.retain(|_, value| value.as_object().is_none_or(|inner| !inner.is_empty()));
    if metadata.is_empty() {
        fields.remove("metadata");
    }
    Ok(object)
}
