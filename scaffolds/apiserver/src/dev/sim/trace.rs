//! The comparison of two runs that have to be the same: the first request that differs, and the reconciler that sends it.

use serde_json::Value;

use super::{plan::Run, world::TracedRequest};

/// The first difference between two runs of one schedule.
pub(super) fn difference(one: &Run, other: &Run) -> Option<String> {
    let (one, other) = (&one.requests, &other.requests);
    let most = one.len().max(other.len());
    let n = (0..most).find(|&n| match (one.get(n), other.get(n)) {
        (Some(one), Some(other)) => !is_same(one, other),
        _ => true,
    })?;
    let (one, other) = (one.get(n), other.get(n));
    let sender = one.or(other).map(sender).unwrap_or_default();
    Some(match (one, other) {
        (Some(one), Some(other)) if one.text == other.text && one.at == other.at => {
            let [one_value, other_value] = [one, other].map(value);
            let (pointer, one_value, other_value) = first(&one_value, &other_value, String::new());
            let text = &one.text;
            format!("{sender} {text} with {one_value} at `{pointer}`, and then with {other_value}")
        }
        _ => format!("{sender}: `{}`, and then `{}`", described(one), described(other)),
    })
}

fn is_same(one: &TracedRequest, other: &TracedRequest) -> bool {
    let is_alike = one.at == other.at && one.text == other.text && one.reconcile == other.reconcile;
    is_alike && (one.body == other.body || value(one) == value(other))
}

/// A body: the order of its fields means nothing.
fn value(request: &TracedRequest) -> Value {
    serde_json::from_slice(&request.body).unwrap_or_default()
}

fn sender(request: &TracedRequest) -> String {
    match request.reconcile.as_deref().and_then(|it| it.split_once(' ')) {
        Some((controller, object)) => format!("controller `{controller}`, object `{object}`"),
        None => "no controller".to_owned(),
    }
}

fn described(request: Option<&TracedRequest>) -> String {
    request.map_or_else(
        || "nothing".to_owned(),
        |request| format!("{} after {:.3} s", request.text, request.at.as_secs_f64()),
    )
}

/// The first value that differs, and the pointer to it.
fn first<'a>(one: &'a Value, other: &'a Value, pointer: String) -> (String, &'a Value, &'a Value) {
    let below: Option<(String, &Value, &Value)> = match (one, other) {
        (Value::Object(fields), Value::Object(_)) => fields
            .iter()
            .find(|(name, value)| other[name.as_str()] != **value)
            .map(|(name, value)| (name.clone(), value, &other[name.as_str()])),
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            let mut pairs = items.iter().zip(others).enumerate();
            let pair = pairs.find(|(_, (one, other))| one != other);
            pair.map(|(n, (one, other))| (n.to_string(), one, other))
        }
        _ => None,
    };
    match below {
        Some((name, one, other)) => first(one, other, format!("{pointer}/{name}")),
        None => (pointer, one, other),
    }
}
