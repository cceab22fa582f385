//! Whole documents about custom kinds. Tests compare the parts that the in-process server has too.

use std::{fs, time::Duration};

use anyhow::{Context, Result, ensure};
use control_plane::{eventually, root};
use serde_json::Value;

use super::{Real, line_of};
use crate::Step;

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const FOLDER: &str = "scaffolds/apiserver/tests/api/custom";
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/// The limit for what the server does with a definition, usually within seconds.
const PATIENCE: Duration = Duration::from_secs(180);

/// Discovery, in both forms.
pub(super) async fn discovery(real: &Real) -> Result<String> {
    let group = "documents.example.com";
    let definition = definition_of("bars.json")?;
    with_definition(real, &definition, async || {
        let groups = eventually("the group's discovery", PATIENCE, async || {
            let groups = real.get_as("/apis", AGGREGATED).await?;
            let is_there = groups["items"]
                .as_array()
                .is_some_and(|all| all.iter().any(|it| is_group(it, group)));
            Ok(is_there.then_some(groups))
        });
        let mut documents = [
            (get("/apis", Some(AGGREGATED)), groups.await?),
            (get("/api", Some(AGGREGATED)), real.get_as("/api", AGGREGATED).await?),
            (get("/apis", None), real.get("/apis").await?),
        ];
        for ((_, document), list) in documents.iter_mut().zip(["items", "items", "groups"]) {
            let groups = document[list].as_array_mut().context("no list of groups")?;
            // Probes that run at the same time have groups of their own.
            groups.retain(|it| is_group(it, group) || !name_of(it).ends_with(".example.com"));
        }
        lines(&documents)
    })
    .await
}

fn get(path: &str, accept: Option<&str>) -> Step {
    Step {
        r#do: format!("GET {path}"),
        accept: accept.map(str::to_owned),
        ..Step::default()
    }
}

fn lines(documents: &[(Step, Value)]) -> Result<String> {
    let lines = documents.iter().map(|(step, document)| line_of(step, document));
    Ok(lines.collect::<Result<Vec<_>>>()?.join("\n"))
}

fn is_group(item: &Value, group: &str) -> bool {
    name_of(item) == group
}

fn name_of(item: &Value) -> &str {
    let name = item.pointer("/metadata/name").or_else(|| item.get("name"));
    name.and_then(Value::as_str).unwrap_or_default()
}

/// OpenAPI v3 of the group, and its definitions in v2.
pub(super) async fn openapi(real: &Real) -> Result<String> {
    let definition = definition_of("foobar.json")?;
    with_definition(real, &definition, async || {
        let path = "/openapi/v3/apis/openapi.example.com/v1";
        let v3 = eventually("OpenAPI v3", PATIENCE, async || Ok(real.get(path).await.ok()));
        let v3 = v3.await?;
        let v2 = eventually("OpenAPI v2", PATIENCE, async || {
            let mut document = real.get("/openapi/v2").await?;
            let definitions = document["definitions"].as_object_mut().context("no definitions")?;
            definitions.retain(|name, _| name.starts_with("com.example.openapi."));
            Ok((!definitions.is_empty()).then(|| document["definitions"].take()))
        });
        lines(&[(get(path, None), v3), (get("/openapi/v2", None), v2.await?)])
    })
    .await
}

fn definition_of(file: &str) -> Result<String> {
    Ok(fs::read_to_string(root().join(FOLDER).join(file))?)
}

/// Runs `f` while the server has the definition.
async fn with_definition(real: &Real, text: &str, ask: impl AsyncFnOnce() -> Result<String>) -> Result<String> {
    let definition: Value = serde_json::from_str(text)?;
    let name = definition["metadata"]["name"].as_str().context("no name")?;
    let delete = Step {
        r#do: format!("DELETE {CRDS}/{name}"),
        ..Step::default()
    };
    let create = Step {
        r#do: format!("POST {CRDS}"),
        body: Some(definition.clone()),
        ..Step::default()
    };
    let made = real.target.send(&create).await?;
    ensure!(made.code == 201, "{name}: {} {}", made.code, made.body);
    let said = ask().await;
    real.target.send(&delete).await?;
    said
}
