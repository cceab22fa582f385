//! Programs of requests, and their answers without values that differ from run to run.

use serde_json::{Value, json};
use std::{fs, path::PathBuf};

pub const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// One request.
#[derive(Clone)]
pub struct Step {
    pub method: &'static str,
    pub path: String,
    pub media: &'static str,
    pub accept: &'static str,
    pub body: String,
}

/// A request with a JSON body, or without one if it is null.
pub fn send(method: &'static str, path: impl Into<String>, body: Value) -> Step {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    Step {
        method,
        path: path.into(),
        media: "application/json",
        accept: "application/json",
        body,
    }
}

pub fn get(path: impl Into<String>) -> Step {
    send("GET", path, Value::Null)
}

pub fn merge(path: impl Into<String>, body: Value) -> Step {
    Step {
        media: "application/merge-patch+json",
        ..send("PATCH", path, body)
    }
}

impl Step {
    pub fn accepting(self, accept: &'static str) -> Self {
        Self { accept, ..self }
    }
}

/// An answer.
pub struct Answer {
    pub code: u16,
    pub warnings: Vec<String>,
    pub body: String,
}

impl Answer {
    /// The answer in a form that can be compared: UIDs, revisions, times and ports are replaced by placeholders.
    pub fn normal(&self) -> Value {
        let lines: Vec<Value> = self
            .body
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let mut body = match serde_json::from_str::<Value>(&self.body) {
            Ok(value) => value,
            Err(_) if !lines.is_empty() && lines.len() == self.body.lines().count() => Value::Array(lines),
            Err(_) => json!(self.body.trim_end()),
        };
        stand_in(&mut body);
        json!({"code": self.code, "warnings": self.warnings, "body": body})
    }
}

fn stand_in(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(stand_in),
        Value::String(text) if is_age(text) => *value = json!("AGE"),
        Value::Object(fields) => {
            // Entries are sorted by their times, which are equal here but seconds apart in a recording.
            if let Some(Value::Array(entries)) = fields.get_mut("managedFields") {
                entries
                    .sort_by_key(|entry| format!("{}{}{}", entry["manager"], entry["operation"], entry["subresource"]));
            }
            for (key, value) in fields {
                let name = match key.as_str() {
                    "uid" => "UID",
                    "resourceVersion" => "REVISION",
                    "time" | "creationTimestamp" | "deletionTimestamp" | "lastTransitionTime" => "TIME",
                    "serverAddress" => "ADDRESS",
                    _ => {
                        stand_in(value);
                        continue;
                    }
                };
                if value.as_str().is_some_and(|text| !text.is_empty()) {
                    *value = json!(name);
                }
            }
        }
        _ => {}
    }
}

/// An age of a few seconds, as tables show it.
fn is_age(text: &str) -> bool {
    text.strip_suffix('s')
        .is_some_and(|it| it.len() == 1 && it.chars().all(|c| c.is_ascii_digit()))
}

/// Compares our answers with the recorded ones, step by step.
pub async fn compare(name: &str, steps: Vec<Step>) {
    let text = fs::read_to_string(file(name)).expect("a recording");
    let recorded: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    let answers = crate::ours::run(&steps).await;
    assert_eq!(recorded.len(), answers.len(), "{name}: record again");
    for ((step, theirs), ours) in steps.iter().zip(recorded).zip(answers) {
        let ours = ours.normal();
        let show = |value: &Value| serde_json::to_string_pretty(value).expect("JSON");
        assert!(
            ours == theirs,
            "{name}: {} {}\n{}\nours:\n{}\ntheirs:\n{}",
            step.method,
            step.path,
            step.body,
            show(&ours),
            show(&theirs)
        );
    }
}

/// Records the real server's answers.
pub fn record(name: &str, steps: &[Step]) {
    let answers: Vec<Value> = crate::real::run(steps).iter().map(Answer::normal).collect();
    let text = serde_json::to_string_pretty(&answers).expect("JSON");
    fs::write(file(name), text + "\n").expect("a file");
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/custom/recorded")
        .join(format!("{name}.json"))
}
