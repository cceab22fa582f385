//! Graceful deletion: an object with running processes (a Pod) is marked first, and removed once they have stopped.

use kubewright_machinery::time;
use serde_json::{Value, json};

use crate::{meta, resource::Resource};

/// The graceful part of a deletion.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Grace {
    /// No grace period: the object is removed at once.
    None,
    /// The object was marked, with this grace period in seconds; it is removed at once if that is 0.
    Marked(i64),
    /// The object was marked before, and the request does not shorten its grace period.
    Pending,
}

/// Decides, and marks the object. `now` is in seconds since 1970.
pub fn decide(resource: &Resource, object: &mut Value, asked: Option<i64>, now: i64) -> Grace {
    let Some(grace_seconds) = resource.rules().deletion.grace_seconds else {
        return Grace::None;
    };
    if meta::is_deleting(object) {
        return again(object, asked, now);
    }
    let period = grace_seconds(object, asked);
    mark(object, now.saturating_add(period), period);
    meta::system::next_generation(object);
    Grace::Marked(period)
}

/// A further deletion can only shorten the grace period.
fn again(object: &mut Value, asked: Option<i64>, now: i64) -> Grace {
    let had = meta::number(object, "deletionGracePeriodSeconds").unwrap_or_default();
    if had == 0 {
        return Grace::None;
    }
    let Some(asked) = asked.filter(|asked| *asked < had) else {
        return Grace::Pending;
    };
    let end = time::seconds(meta::text(object, "deletionTimestamp")).unwrap_or(now);
    let begun = end.saturating_sub(had);
    let end = begun.saturating_add(asked);
    let (end, period) = if end < now { (now, asked.min(1)) } else { (end, asked) };
    mark(object, end, period);
    Grace::Marked(period)
}

fn mark(object: &mut Value, end: i64, period: i64) {
    meta::set(object, "deletionTimestamp", Some(json!(time::text(end))));
    meta::set(object, "deletionGracePeriodSeconds", Some(json!(period)));
}
