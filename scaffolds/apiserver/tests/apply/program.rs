//! A program: a sequence of writes to one object, with the real server's answers.

use serde_json::{Value, json};

/// The sequence of writes to one object.
#[derive(Clone, Debug)]
pub struct Program {
    pub kind: String,
    pub steps: Vec<Step>,
}

/// One write.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// `POST`, `PUT` or `PATCH`.
    pub method: String,
    /// For example `apps/v1`.
    pub version: String,
    /// `status` or empty.
    pub subresource: String,
    /// For example `apply-patch+yaml`.
    pub media: String,
    /// The field manager; if empty, the user agent determines it.
    pub manager: String,
    pub force: bool,
    pub body: Value,
    /// The answer, and when it came.
    pub code: u64,
    pub now: String,
    pub answer: Value,
}

impl Program {
    pub fn all(text: &str) -> Vec<Self> {
        let all: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("a program per line"))
            .collect();
        all.iter().map(Self::from_json).collect()
    }

    pub fn to_json(&self) -> Value {
        json!({"kind": self.kind, "steps": self.steps.iter().map(Step::to_json).collect::<Vec<_>>()})
    }

    fn from_json(it: &Value) -> Self {
        let steps = it["steps"]
            .as_array()
            .into_iter()
            .flatten()
            .map(Step::from_json)
            .collect();
        Self {
            kind: text(&it["kind"]),
            steps,
        }
    }
}

impl Step {
    fn to_json(&self) -> Value {
        json!([
            self.method,
            self.version,
            self.subresource,
            self.media,
            self.manager,
            self.force,
            self.body,
            self.code,
            self.now,
            self.answer
        ])
    }

    fn from_json(it: &Value) -> Self {
        Self {
            method: text(&it[0]),
            version: text(&it[1]),
            subresource: text(&it[2]),
            media: text(&it[3]),
            manager: text(&it[4]),
            force: it[5] == true,
            body: it[6].clone(),
            code: it[7].as_u64().expect("a code"),
            now: text(&it[8]),
            answer: it[9].clone(),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
