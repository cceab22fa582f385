//! Requests and answers.

use serde_json::Value;

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
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }
}
