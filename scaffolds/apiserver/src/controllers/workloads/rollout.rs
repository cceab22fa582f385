//! Deployments: the next step of a rollout, from the present state of its ReplicaSets.

use serde_json::Value;

use super::{
    Decision, fields,
    progress::{self, Seen},
    revisions, scaling,
    sets::{Bounds, DESIRED, Set, is_rolling, total},
    write::Write,
};
use crate::meta;

/// The writes of the next step, and when progress has to be estimated again. Their effects cause the step after it.
pub(super) fn decide(deployment: &Value, mut sets: Vec<Set>, now: i64) -> Decision {
    let new = revisions::take_new(deployment, &mut sets);
    let old = sets;
    if meta::is_deleting(deployment) {
        return seen(deployment, new.as_ref(), &old).status(now);
    }
    if let Some(changed) = progress::paused(deployment, now) {
        return Write::Status(changed).into();
    }
    if let Some(write) = new.as_ref().and_then(|new| revisions::sync(deployment, new, &old, now)) {
        return write.into();
    }
    if deployment["spec"]["paused"] == true || is_scaled(deployment, new.as_ref(), &old) {
        return scale(deployment, new, old, now);
    }
    match is_rolling(deployment) {
        true => roll(deployment, new, old, now),
        false => recreate(deployment, new, old, now),
    }
}

/// The replicas with which the ReplicaSet of a new template begins.
pub(super) fn first_size(deployment: &Value, old: &[Set]) -> i64 {
    let bounds = Bounds::of(deployment);
    match is_rolling(deployment) {
        true => grown(0, bounds, total(old, Set::replicas)),
        false => bounds.replicas,
    }
}

/// The replicas of the new ReplicaSet, which has `size` of all present ones, once there is room for more.
fn grown(size: i64, bounds: Bounds, all: i64) -> i64 {
    size + (bounds.maximum() - all).clamp(0, (bounds.replicas - size).max(0))
}

fn seen<'a>(deployment: &'a Value, new: Option<&'a Set>, old: &'a [Set]) -> Seen<'a> {
    Seen { deployment, new, old }
}

/// Whether the Deployment was scaled after its ReplicaSets were.
fn is_scaled(deployment: &Value, new: Option<&Set>, old: &[Set]) -> bool {
    let wanted = fields::int(deployment, "/spec/replicas");
    let mut active = old.iter().chain(new).filter(|set| set.replicas() > 0);
    active.any(|set| set.number(DESIRED).is_some_and(|desired| desired != wanted))
}

fn scale(deployment: &Value, new: Option<Set>, old: Vec<Set>, now: i64) -> Decision {
    let mut writes = scaling::scale(deployment, new.as_ref(), &old);
    if deployment["spec"]["paused"] == true && writes.is_empty() {
        writes = revisions::clean(deployment, old.clone());
    }
    seen(deployment, new.as_ref(), &old).status(now).after(writes)
}

fn roll(deployment: &Value, new: Option<Set>, mut old: Vec<Set>, now: i64) -> Decision {
    let Some(mut new) = new else {
        return revisions::create(deployment, &old, now).into();
    };
    let bounds = Bounds::of(deployment);
    let all = total(&old, Set::replicas) + new.replicas();
    let size = match new.replicas() > bounds.replicas {
        true => bounds.replicas,
        false => grown(new.replicas(), bounds, all),
    };
    let mut writes = Vec::new();
    if size != new.replicas() {
        let before = new.clone();
        writes.extend(new.scale(size, bounds));
        return seen(deployment, Some(&before), &old).rollout_status(now).after(writes);
    }
    let before = old.clone();
    writes.extend(shrink(&mut old, &new, bounds));
    if writes.is_empty() && progress::is_complete(deployment, &deployment["status"]) {
        writes = revisions::clean(deployment, old);
    }
    seen(deployment, Some(&new), &before).rollout_status(now).after(writes)
}

/// Scales old ReplicaSets down: first by their unavailable replicas, then as far as enough replicas are available.
fn shrink(old: &mut [Set], new: &Set, bounds: Bounds) -> Vec<Write> {
    let least = bounds.replicas - bounds.unavailable;
    let missing = new.replicas() - new.available();
    let all = total(old, Set::replicas) + new.replicas();
    let mut surplus = all - least - missing;
    if surplus <= 0 {
        return Vec::new();
    }
    old.sort_by_key(Set::age);
    let sizes: Vec<i64> = old.iter().map(Set::replicas).collect();
    for set in old.iter_mut() {
        let less = (set.replicas() - set.available()).clamp(0, surplus.max(0));
        surplus -= less;
        if less > 0 {
            set.scale(set.replicas() - less, bounds);
        }
    }
    let mut surplus = total(old, Set::available) + new.available() - least;
    for set in old.iter_mut() {
        let less = set.replicas().min(surplus.max(0));
        surplus -= less;
        if less > 0 {
            set.scale(set.replicas() - less, bounds);
        }
    }
    let changed = old.iter().zip(sizes).filter(|(set, size)| set.replicas() != *size);
    changed.map(|(set, _)| Write::Update(set.object.clone())).collect()
}

/// Deletes all old Pods before the first new one is created.
fn recreate(deployment: &Value, new: Option<Set>, old: Vec<Set>, now: i64) -> Decision {
    let bounds = Bounds::of(deployment);
    let down = old.iter().filter(|set| set.replicas() > 0);
    let down: Vec<Write> = down.filter_map(|set| set.clone().scale(0, bounds)).collect();
    if !down.is_empty() || old.iter().any(|set| set.runs) {
        return seen(deployment, new.as_ref(), &old).rollout_status(now).after(down);
    }
    let Some(new) = new else {
        return revisions::create(deployment, &old, now).into();
    };
    let mut writes: Vec<Write> = Vec::new();
    if new.replicas() != bounds.replicas {
        writes.extend(new.clone().scale(bounds.replicas, bounds));
    } else if progress::is_complete(deployment, &deployment["status"]) {
        writes = revisions::clean(deployment, old.clone());
    }
    seen(deployment, Some(&new), &old).rollout_status(now).after(writes)
}
