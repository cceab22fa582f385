//! The cases of `scaffolds/apiserver/tests/kinds/cases.txt`, which explains its own format: the server's answer to
//! each body, for a test that needs no server.

use anyhow::{Context, Result, ensure};
use control_plane::root;
use recordings::Exchange;
use serde_json::{Value, json};

use super::{
    Lines, Pick, Real,
    cases::{self, Case},
};
use crate::{Answer, Step};

const CASES: &str = "scaffolds/apiserver/tests/kinds/cases.txt";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// A line for each case.
pub(super) async fn lines(real: &Real, pick: &Pick<'_>) -> Result<Lines> {
    let cases = cases::read(&std::fs::read_to_string(root().join(CASES))?)?;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": cases::NAMESPACE}});
    let made = ask(real, "POST /api/v1/namespaces".to_owned(), &namespace).await?;
    ensure!(matches!(made.code, 201 | 409), "no namespace: {}", made.body);
    let mut lines = Lines::new();
    for position in pick.of(cases.len()) {
        let case = &cases[position];
        let recorded = record(real, case).await.with_context(|| case.text.clone())?;
        lines.insert(position, serde_json::to_string(&recorded)?);
    }
    Ok(lines)
}

async fn ask(real: &Real, line: String, body: &Value) -> Result<Answer> {
    let step = Step {
        r#do: line,
        body: Some(body.clone()),
        ..Step::default()
    };
    real.target.send(&step).await
}

async fn record(real: &Real, case: &Case) -> Result<Exchange<Value, Value>> {
    let mut record = Exchange {
        asked: json!({"case": case.text, "kind": case.kind, "sent": case.sent}),
        answered: json!({}),
    };
    let answer = match &case.change {
        None => create(real, case, &mut record).await?,
        Some(edits) => update(real, case, edits, &mut record).await?,
    };
    let answered = &mut record.answered;
    answered["code"] = json!(answer.code);
    if let Some(warnings) = answer.headers.get("warning") {
        answered["warnings"] = json!(warnings);
    }
    match answer.body["kind"].as_str() {
        Some("Status") => {
            answered["message"] = answer.body["message"].clone();
            answered["causes"] = answer.body["details"]["causes"].clone();
        }
        _ => answered["object"] = without_managers(answer.body),
    }
    Ok(record)
}

async fn create(real: &Real, case: &Case, record: &mut Exchange<Value, Value>) -> Result<Answer> {
    // A dry run gives a Service other addresses than a create.
    let stays = case.kind == "v1 Service";
    let query = if stays { "" } else { "?dryRun=All" };
    let line = format!("POST {}{query}", case.collection);
    let answer = ask(real, line.clone(), &case.sent).await?;
    match (stays, answer.code < 300) {
        (true, true) => delete(real, case).await?,
        (false, true) => record.answered["cells"] = cells(real, line, &case.sent).await?,
        _ => {}
    }
    Ok(answer)
}

async fn update(real: &Real, case: &Case, edits: &str, record: &mut Exchange<Value, Value>) -> Result<Answer> {
    let first = ask(real, format!("POST {}", case.collection), &case.sent).await?;
    ensure!(first.code < 300, "the object to change is refused: {}", first.body);
    let old = without_managers(first.body);
    let mut sent = old.clone();
    cases::edit(&mut sent, edits)?;
    record.asked["old"] = old;
    record.asked["sent"] = sent.clone();
    record.asked["subresource"] = json!(case.subresource);
    let slash = if case.subresource.is_empty() { "" } else { "/" };
    let (collection, subresource) = (&case.collection, &case.subresource);
    let line = format!("PUT {collection}/{}{slash}{subresource}?dryRun=All", case.name()?);
    let answer = ask(real, line.clone(), &sent).await?;
    if answer.code < 300 {
        record.answered["cells"] = cells(real, line, &sent).await?;
    }
    delete(real, case).await?;
    Ok(answer)
}

/// The row of the Table in the answer to the same request.
async fn cells(real: &Real, line: String, body: &Value) -> Result<Value> {
    let step = Step {
        r#do: line,
        body: Some(body.clone()),
        accept: Some(TABLE.to_owned()),
        ..Step::default()
    };
    let answer = real.target.send(&step).await?;
    Ok(answer.body.pointer("/rows/0/cells").cloned().unwrap_or_default())
}

async fn delete(real: &Real, case: &Case) -> Result<()> {
    let path = format!("{}/{}", case.collection, case.name()?);
    let freed = Step {
        r#do: format!("PATCH {path}"),
        r#as: Some("application/merge-patch+json".to_owned()),
        body: Some(json!({"metadata": {"finalizers": null}})),
        ..Step::default()
    };
    real.target.send(&freed).await?;
    let deleted = Step {
        r#do: format!("DELETE {path}?gracePeriodSeconds=0&propagationPolicy=Background"),
        ..Step::default()
    };
    real.target.send(&deleted).await?;
    Ok(())
}

fn without_managers(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("managedFields");
    }
    object
}
