//! Prints an object as a row of a Table.

use kubewright_machinery::time::{self, human_duration};
use serde_json::{Value, json};

use crate::kinds::located::Located;

/// An object to be printed.
pub(in crate::kinds) struct Row<'a> {
    pub at: Located<'a>,
    /// The present time, in seconds since 1970.
    pub now: i64,
}

impl<'a> Row<'a> {
    pub fn get(&self, path: &str) -> Located<'a> {
        self.at.at(path)
    }

    pub fn text(&self, path: &str) -> Value {
        json!(self.get(path).str())
    }

    pub fn int(&self, path: &str) -> Value {
        json!(self.get(path).int())
    }

    pub fn name(&self) -> Value {
        self.text("metadata.name")
    }

    pub fn age(&self) -> Value {
        json!(self.since("metadata.creationTimestamp"))
    }

    /// The age of the time at `path`.
    pub fn since(&self, path: &str) -> String {
        since(&self.get(path), self.now)
    }

    pub fn is_deleted(&self) -> bool {
        self.get("metadata.deletionTimestamp").is_set()
    }
}

pub(in crate::kinds) fn since(at: &Located<'_>, now: i64) -> String {
    match time::seconds(at.str()) {
        Some(then) => human_duration(now.saturating_sub(then)),
        None => "<unknown>".to_owned(),
    }
}

/// A text, or `fallback` if it is empty.
pub(in crate::kinds) fn or(text: &str, fallback: &str) -> Value {
    json!(if text.is_empty() { fallback } else { text })
}

/// The first three texts, and how many more there are.
pub(in crate::kinds) fn at_most_three(texts: &[String]) -> String {
    match texts.get(..3) {
        Some(first) if texts.len() > 3 => format!("{} + {} more...", first.join(","), texts.len() - 3),
        _ => texts.join(","),
    }
}

/// A string or number as text.
pub(in crate::kinds) fn shown_or(at: &Located<'_>, fallback: &str) -> Value {
    match at.value {
        Value::Null => json!(fallback),
        Value::String(text) => json!(text),
        other => json!(other.to_string()),
    }
}
