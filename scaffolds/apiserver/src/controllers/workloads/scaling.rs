//! Scales a Deployment that is paused, or whose replicas changed: during a rollout, in proportion to the sizes of its
//! ReplicaSets.

use std::cmp::Reverse;

use serde_json::Value;

use super::{
    fields::int,
    sets::{Bounds, MAXIMUM, Set, is_rolling, total},
    write::Write,
};

/// The writes that scale the ReplicaSets.
pub(super) fn scale(deployment: &Value, new: Option<&Set>, old: &[Set]) -> Vec<Write> {
    let bounds = Bounds::of(deployment);
    let mut sets: Vec<Set> = old
        .iter()
        .chain(new)
        .filter(|set| set.replicas() > 0)
        .cloned()
        .collect();
    if sets.len() <= 1 {
        let newest = || new.or_else(|| old.iter().max_by_key(|set| set.age())).cloned();
        let only = sets.pop().or_else(newest);
        let only = only.filter(|only| only.replicas() != bounds.replicas);
        return only
            .and_then(|mut only| only.scale(bounds.replicas, bounds))
            .into_iter()
            .collect();
    }
    if new.is_some_and(|new| new.is_saturated(bounds)) {
        let old = old.iter().filter(|set| set.replicas() > 0);
        return old.filter_map(|set| set.clone().scale(0, bounds)).collect();
    }
    match is_rolling(deployment) {
        true => in_proportion(deployment, sets, bounds),
        false => Vec::new(),
    }
}

fn in_proportion(deployment: &Value, mut sets: Vec<Set>, bounds: Bounds) -> Vec<Write> {
    let allowed = if bounds.replicas > 0 { bounds.maximum() } else { 0 };
    let more = allowed - total(&sets, Set::replicas);
    // The largest first; of the same size, the newest if there are to be more, and the oldest if there are to be fewer.
    match more > 0 {
        true => sets.sort_by_key(|set| (Reverse(set.replicas()), Reverse(set.age()))),
        false => sets.sort_by_key(|set| (Reverse(set.replicas()), set.age())),
    }
    let mut added = 0;
    let mut sizes = Vec::new();
    for set in &sets {
        let left = more - added;
        let part = share(deployment, set, bounds);
        let part = match more.signum() {
            1 => part.min(left),
            -1 => part.max(left),
            _ => 0,
        };
        let part = if left == 0 { 0 } else { part };
        added += part;
        sizes.push(set.replicas() + part);
    }
    if let Some(largest) = sizes.first_mut() {
        *largest = (*largest + more - added).max(0);
    }
    let all = sets.iter_mut().zip(sizes);
    all.filter_map(|(set, size)| set.scale(size, bounds)).collect()
}

/// By how much a ReplicaSet would grow or shrink with the maximum of the Deployment.
fn share(deployment: &Value, set: &Set, bounds: Bounds) -> i64 {
    let size = set.replicas();
    if bounds.replicas == 0 {
        return -size;
    }
    let noted = set.number(MAXIMUM).filter(|maximum| *maximum != 0);
    let before = noted.unwrap_or_else(|| int(deployment, "/status/replicas"));
    if before <= 0 {
        return 0;
    }
    // Rounded to the nearest integer.
    (2 * size * bounds.maximum() + before) / (2 * before) - size
}
