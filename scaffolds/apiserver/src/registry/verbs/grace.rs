//! Graceful deletion: a Pod that runs somewhere is told to stop first, and goes when whoever runs it says so.

use serde_json::{Value, json};

use crate::{meta, resource::Resource};

/// What there is to do before an object goes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Grace {
    /// Nothing: it goes at once.
    None,
    /// The object was marked; it has so many seconds, and goes at once when that is 0.
    Marked(i64),
    /// It was told before, and has not more time than is asked for now.
    Pending,
}

/// Seconds that a Pod has unless it says otherwise, as upstream.
const DEFAULT: i64 = 30;

/// Decides, and marks the object. `now` is in seconds since 1970.
pub fn decide(resource: &Resource, object: &mut Value, asked: Option<i64>, now: i64) -> Grace {
    if (resource.group.as_str(), resource.names.kind.as_str()) != ("", "Pod") {
        return Grace::None;
    }
    if meta::is_deleting(object) {
        return again(object, asked, now);
    }
    let period = period(object, asked);
    mark(object, now.saturating_add(period), period);
    meta::system::next_generation(object);
    Grace::Marked(period)
}

/// Only Pods that run have time.
fn period(pod: &Value, asked: Option<i64>) -> i64 {
    let text = |pointer: &str| pod.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    if text("/spec/nodeName").is_empty() || ["Succeeded", "Failed"].contains(&text("/status/phase")) {
        return 0;
    }
    let own = pod
        .pointer("/spec/terminationGracePeriodSeconds")
        .and_then(Value::as_i64);
    let period = asked.or(own).unwrap_or(DEFAULT);
    if period < 0 { 1 } else { period }
}

/// A deletion that has begun can only be made quicker.
fn again(object: &mut Value, asked: Option<i64>, now: i64) -> Grace {
    let had = meta::number(object, "deletionGracePeriodSeconds").unwrap_or_default();
    if had == 0 {
        return Grace::None;
    }
    let Some(asked) = asked.filter(|asked| *asked < had) else {
        return Grace::Pending;
    };
    let end = meta::time::seconds(meta::text(object, "deletionTimestamp")).unwrap_or(now);
    let begun = end.saturating_sub(had);
    let end = begun.saturating_add(asked);
    let (end, period) = if end < now { (now, asked.min(1)) } else { (end, asked) };
    mark(object, end, period);
    Grace::Marked(period)
}

fn mark(object: &mut Value, end: i64, period: i64) {
    meta::set(object, "deletionTimestamp", Some(json!(meta::time::text(end))));
    meta::set(object, "deletionGracePeriodSeconds", Some(json!(period)));
}
