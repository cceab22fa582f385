//! Lists, selectors, watches and tables, compared answer by answer with kube-apiserver 1.36.3. The transcripts are in
//! `list/`. Placeholders replace UIDs, times and revisions, except revisions to which an earlier step gave a name:
//! `{rv}` in a path or an answer is that revision.

mod common;

use common::{Wire, wire};
use kubewright_machinery::base64::{self, Encoding};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, path::Path};

/// The values that earlier steps have named.
type Names = BTreeMap<String, String>;

struct Replay {
    wire: Wire,
    names: Names,
    different: Vec<String>,
}

impl Replay {
    async fn transcript(&mut self, name: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/list").join(name);
        let steps: Vec<Value> = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        for step in steps {
            self.step(&step).await;
        }
    }

    async fn step(&mut self, step: &Value) {
        let text = |field: &str| step[field].as_str().unwrap_or_default().to_owned();
        let mut path = text("path");
        for (name, value) in &self.names {
            path = path.replace(&format!("{{{name}}}"), value);
        }
        let mut wire = self
            .wire
            .with("content-type", step["ct"].as_str().unwrap_or("application/json"));
        if step["accept"].is_string() {
            wire = wire.with("accept", &text("accept"));
        }
        let body = if step["body"].is_null() {
            String::new()
        } else {
            step["body"].to_string()
        };
        let method = step["method"].as_str().unwrap_or("GET");
        let answer = wire.send(method, &path, body).await;
        let mut got = json!({"code": answer.code});
        if step["events"].is_array() {
            let lines = answer
                .text
                .lines()
                .map(|line| serde_json::from_str::<Value>(line).unwrap());
            let first = usize::try_from(step["first"].as_u64().unwrap_or(u64::MAX)).unwrap();
            got["events"] = normal(lines.take(first).collect(), &self.names);
        } else if step["quiet"].is_null() {
            got["answer"] = match serde_json::from_str(&answer.text) {
                Ok(object) => normal(object, &self.names),
                Err(_) => json!(answer.text),
            };
        }
        for field in ["code", "events", "answer"] {
            if got[field] != step[field] {
                let (got, wanted) = (&got[field], &step[field]);
                self.different.push(format!(
                    "{method} {path} {}\n  got    {got}\n  wanted {wanted}",
                    text("accept")
                ));
            }
        }
        for (name, pointer) in step["save"].as_object().into_iter().flatten() {
            let found = answer
                .json()
                .pointer(pointer.as_str().unwrap())
                .and_then(Value::as_str)
                .map(str::to_owned);
            self.names.insert(name.clone(), found.unwrap_or_default());
        }
    }
}

fn named(text: &str, names: &Names) -> Value {
    let found = names.iter().find(|(_, value)| *value == text);
    json!(found.map_or("<rv>".to_owned(), |(name, _)| format!("{{{name}}}")))
}

fn normal(value: Value, names: &Names) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(|item| normal(item, names)).collect(),
        Value::String(text) => json!(shortened(&text)),
        Value::Object(fields) => {
            // Built-in kinds have no descriptions of their columns, as a row of the ledger says.
            let skipped = if fields.contains_key("priority") {
                "description"
            } else {
                "managedFields"
            };
            let fields = fields.into_iter().filter(|(name, _)| name != skipped);
            fields
                .map(|(name, value)| {
                    let value = field(&name, value, names);
                    (name, value)
                })
                .collect()
        }
        other => other,
    }
}

fn field(name: &str, value: Value, names: &Names) -> Value {
    match (name, value.as_str()) {
        ("resourceVersion", Some(text)) if !text.is_empty() => named(text, names),
        ("uid", _) => json!("<uid>"),
        ("creationTimestamp", Some(_)) => json!("<time>"),
        ("continue", Some(text)) if !text.is_empty() => token(text, names),
        _ => normal(value, names),
    }
}

fn token(text: &str, names: &Names) -> Value {
    let mut token: Value = serde_json::from_slice(&base64::decode(text, Encoding::RawUrl).unwrap()).unwrap();
    if token["rv"].as_i64() > Some(0) {
        token["rv"] = named(&token["rv"].to_string(), names);
    }
    token
}

/// Replaces ages, times and the server's present revision.
fn shortened(text: &str) -> String {
    let is_age = text.ends_with(['s', 'm', 'h']) && text.starts_with(|c: char| c.is_ascii_digit());
    if is_age
        && text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b's' | b'm' | b'h'))
    {
        return "<age>".to_owned();
    }
    if text.len() == 20 && text.starts_with("20") && text.ends_with('Z') {
        return "<time>".to_owned();
    }
    match text.split_once("current: ") {
        Some((before, number)) if number.parse::<u64>().is_ok() => format!("{before}current: N"),
        _ => text.to_owned(),
    }
}

#[tokio::test(start_paused = true)]
async fn reads_are_answered_as_by_a_real_server() {
    let mut replay = Replay {
        wire: wire(),
        names: Names::new(),
        different: Vec::new(),
    };
    for name in ["lists.json", "selectors.json", "watches.json", "tables.json"] {
        replay.transcript(name).await;
    }
    let different = &replay.different;
    assert!(
        different.is_empty(),
        "{} answers differ\n{}",
        different.len(),
        different.join("\n")
    );
}
