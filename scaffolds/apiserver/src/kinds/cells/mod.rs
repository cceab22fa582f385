//! The cells of Tables: one value per recorded column.

mod network;
mod objects;
mod pod;
mod workloads;

use serde_json::{Value, json};

use super::{at::At, time};

/// The cells of an object of the kind with this definition.
pub(super) fn cells(definition: &str, object: &Value, now: i64) -> Vec<Value> {
    let row = Row {
        at: At::root(object),
        now,
    };
    let (package, kind) = definition.rsplit_once('.').unwrap_or_default();
    let found = match (package, kind) {
        ("core.v1", "Pod") => Some(pod::cells(&row)),
        ("apps.v1" | "batch.v1" | "autoscaling.v2" | "policy.v1", _) => workloads::cells(kind, &row),
        _ => network::cells(kind, &row)
            .or_else(|| workloads::core(kind, &row))
            .or_else(|| objects::cells(kind, &row)),
    };
    found.unwrap_or_else(|| vec![row.name(), row.age()])
}

/// An object about to be printed.
struct Row<'a> {
    at: At<'a>,
    /// Seconds since 1970.
    now: i64,
}

impl<'a> Row<'a> {
    fn get(&self, path: &str) -> At<'a> {
        self.at.at(path)
    }

    fn text(&self, path: &str) -> Value {
        json!(self.get(path).str())
    }

    fn int(&self, path: &str) -> Value {
        json!(self.get(path).int())
    }

    fn name(&self) -> Value {
        self.text("metadata.name")
    }

    fn age(&self) -> Value {
        json!(self.since("metadata.creationTimestamp"))
    }

    /// How long ago the time at `path` was.
    fn since(&self, path: &str) -> String {
        since(&self.get(path), self.now)
    }

    fn is_deleted(&self) -> bool {
        self.get("metadata.deletionTimestamp").is_set()
    }
}

fn since(at: &At<'_>, now: i64) -> String {
    match time::epoch(at.str()) {
        Some(then) => duration(now.saturating_sub(then)),
        None => "<unknown>".to_owned(),
    }
}

/// Seconds for people, as apimachinery's `HumanDuration`.
fn duration(seconds: i64) -> String {
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

/// A text, or `fallback` for an empty one.
fn or(text: &str, fallback: &str) -> Value {
    json!(if text.is_empty() { fallback } else { text })
}

/// `k=v,…`, `<none>` without any.
fn labels(at: &At<'_>) -> Value {
    let pairs: Vec<String> = at
        .entries()
        .map(|(key, value)| format!("{key}={}", value.str()))
        .collect();
    or(&pairs.join(","), "<none>")
}

/// A label selector in one line.
fn selector(at: &At<'_>) -> Value {
    let mut parts: Vec<(String, String)> = at
        .get("matchLabels")
        .entries()
        .map(|(key, value)| (key.to_owned(), format!("{key}={}", value.str())))
        .collect();
    for expression in at.get("matchExpressions").items() {
        let key = expression.get("key").str();
        let values = expression.get("values");
        let mut values: Vec<&str> = values.items().filter_map(|value| value.value.as_str()).collect();
        values.sort_unstable();
        let values = values.join(",");
        let text = match expression.get("operator").str() {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            _ => format!("!{key}"),
        };
        parts.push((key.to_owned(), text));
    }
    parts.sort_by(|left, right| left.0.cmp(&right.0));
    let texts: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
    or(&texts.join(","), "<none>")
}

/// Names and images of containers.
fn containers(at: &At<'_>) -> [Value; 2] {
    let joined = |field: &str| {
        let texts: Vec<&str> = at.items().map(|container| container.get(field).str()).collect();
        json!(texts.join(","))
    };
    [joined("name"), joined("image")]
}

/// At most three, and how many more there are.
fn at_most_three(texts: &[String]) -> String {
    match texts.get(..3) {
        Some(first) if texts.len() > 3 => format!("{} + {} more...", first.join(","), texts.len() - 3),
        _ => texts.join(","),
    }
}
