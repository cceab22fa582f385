//! Prints an object as a row of a Table.

use serde_json::{Value, json};

use crate::kinds::{located::Located, time};

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
    match time::epoch(at.str()) {
        Some(then) => duration(now.saturating_sub(then)),
        None => "<unknown>".to_owned(),
    }
}

/// A duration for people, as apimachinery's `HumanDuration`.
pub(in crate::kinds) fn duration(seconds: i64) -> String {
    let (minutes, hours) = (seconds / 60, seconds / 3_600);
    let two = |large: i64, unit: char, small: i64, rest: char| match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit}{small}{rest}"),
    };
    match seconds {
        i64::MIN..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, 'm', seconds % 60, 's'),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, 'h', minutes % 60, 'm'),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(hours / 24, 'd', hours % 24, 'h'),
        691_200..63_072_000 => format!("{}d", hours / 24),
        63_072_000..252_288_000 => two(hours / 24 / 365, 'y', hours / 24 % 365, 'd'),
        _ => format!("{}y", hours / 24 / 365),
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
