//! Sends the cases of `scaffolds/apiserver/tests/kinds/cases.txt` to a real server and records its responses, for a
//! test that replays them without one. Run it with that folder; the case file explains its own format.

mod cases;

use std::{fmt::Write, path::PathBuf};

use anyhow::{Context, Result, bail};
use cases::Case;
use control_plane::{Assets, ControlPlane, Settings};
use http::{Method, Request};
use kube::{Client, client::Body};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).context("name the folder of the cases")?);
    let plane = ControlPlane::start(&Assets::find()?, Settings::default()).await?;
    let client = plane.client().await?;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": cases::NAMESPACE}});
    send(&client, Method::POST, "/api/v1/namespaces", Some(&namespace)).await?;
    let mut out = String::new();
    for case in cases::read(&std::fs::read_to_string(folder.join("cases.txt"))?)? {
        let record = record(&client, &case).await.with_context(|| case.text.clone())?;
        writeln!(out, "{record}")?;
    }
    std::fs::write(folder.join("recorded.jsonl"), out)?;
    Ok(())
}

/// A server's response.
struct Answer {
    code: u16,
    body: Value,
    warnings: Vec<String>,
}

async fn send(client: &Client, method: Method, path: &str, body: Option<&Value>) -> Result<Answer> {
    ask(client, method, path, body, "application/json").await
}

async fn ask(client: &Client, method: Method, path: &str, body: Option<&Value>, accept: &str) -> Result<Answer> {
    let bytes = body.map(serde_json::to_vec).transpose()?.unwrap_or_default();
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json");
    let request = request.header("accept", accept);
    let response = client.send(request.body(Body::from(bytes))?).await?;
    let warnings = response
        .headers()
        .get_all("warning")
        .iter()
        .filter_map(|value| value.to_str().ok());
    let warnings = warnings.map(str::to_owned).collect();
    let code = response.status().as_u16();
    let body = response.into_body().collect_bytes().await?;
    Ok(Answer {
        code,
        body: serde_json::from_slice(&body)?,
        warnings,
    })
}

async fn record(client: &Client, case: &Case) -> Result<Value> {
    let mut record = json!({"case": case.text, "kind": case.kind, "sent": case.sent});
    let answer = match &case.change {
        None => create(client, case, &mut record).await?,
        Some(edits) => update(client, case, edits, &mut record).await?,
    };
    record["code"] = json!(answer.code);
    if !answer.warnings.is_empty() {
        record["warnings"] = json!(answer.warnings);
    }
    match answer.body["kind"].as_str() {
        Some("Status") => {
            record["message"] = answer.body["message"].clone();
            record["causes"] = answer.body["details"]["causes"].clone();
        }
        _ => record["object"] = without_managers(answer.body),
    }
    Ok(record)
}

async fn create(client: &Client, case: &Case, record: &mut Value) -> Result<Answer> {
    // A dry run of a Service has other results than a real request.
    let stays = case.kind == "v1 Service";
    let query = if stays { "" } else { "?dryRun=All" };
    let answer = send(
        client,
        Method::POST,
        &format!("{}{query}", case.collection),
        Some(&case.sent),
    )
    .await?;
    if !stays && answer.code < 300 {
        let path = format!("{}{query}", case.collection);
        record["cells"] = cells(client, Method::POST, &path, &case.sent).await?;
    }
    if stays && answer.code < 300 {
        delete(client, case).await?;
    }
    Ok(answer)
}

async fn update(client: &Client, case: &Case, edits: &str, record: &mut Value) -> Result<Answer> {
    let first = send(client, Method::POST, &case.collection, Some(&case.sent)).await?;
    if first.code >= 300 {
        bail!("the object to change is refused: {}", first.body);
    }
    record["old"] = without_managers(first.body);
    let mut sent = record["old"].clone();
    cases::edit(&mut sent, edits)?;
    record["sent"] = sent.clone();
    record["subresource"] = json!(case.subresource);
    let slash = if case.subresource.is_empty() { "" } else { "/" };
    let path = format!(
        "{}/{}{slash}{}?dryRun=All",
        case.collection,
        case.name()?,
        case.subresource
    );
    let answer = send(client, Method::PUT, &path, Some(&sent)).await?;
    if answer.code < 300 {
        record["cells"] = cells(client, Method::PUT, &path, &sent).await?;
    }
    delete(client, case).await?;
    Ok(answer)
}

/// The row of the Table in the response to the same request.
async fn cells(client: &Client, method: Method, path: &str, body: &Value) -> Result<Value> {
    let answer = ask(
        client,
        method,
        path,
        Some(body),
        "application/json;as=Table;v=v1;g=meta.k8s.io",
    )
    .await?;
    Ok(answer.body.pointer("/rows/0/cells").cloned().unwrap_or_default())
}

async fn delete(client: &Client, case: &Case) -> Result<()> {
    let path = format!("{}/{}", case.collection, case.name()?);
    let freed = json!({"metadata": {"finalizers": null}});
    let request = Request::builder().method(Method::PATCH).uri(&path);
    let request = request.header("content-type", "application/merge-patch+json");
    client
        .send(request.body(Body::from(serde_json::to_vec(&freed)?))?)
        .await?;
    send(
        client,
        Method::DELETE,
        &format!("{path}?gracePeriodSeconds=0&propagationPolicy=Background"),
        None,
    )
    .await?;
    Ok(())
}

fn without_managers(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    object
}
