//! The arrangement of endpoints in slices: each stays in its slice, new ones go where slices change anyway, then into one
//! slice that has room for all, then into new slices.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::slices::{PortGroup, SlicePlan, identity};
use crate::controllers::workloads::fields::items;

/// The most endpoints of a slice, as kube-controller-manager has it without a flag.
const MOST: usize = 100;

/// Adds the changes of the slices with the ports of a group to the plan. `new` is a slice without endpoints.
pub(super) fn arrange(plan: &mut SlicePlan, new: &Value, present: Vec<&Value>, group: &mut PortGroup) {
    let left = &mut group.endpoints;
    let (mut changed, mut unchanged) = (Vec::new(), Vec::new());
    for slice in present {
        let before = items(slice, "/endpoints");
        let kept: Vec<Value> = before.iter().filter_map(|it| left.remove(&identity(it))).collect();
        let mut next = slice.clone();
        next["metadata"]["labels"] = new["metadata"]["labels"].clone();
        if kept == before {
            let list = if next == *slice { &mut unchanged } else { &mut changed };
            list.push(next);
        } else if kept.is_empty() {
            plan.deleted.push(next);
        } else {
            next["endpoints"] = kept.into();
            changed.push(next);
        }
    }
    changed.sort_by_key(|slice| std::cmp::Reverse(count(slice)));
    changed.iter_mut().for_each(|slice| fill(slice, left));
    while !left.is_empty() {
        let fits = |slice: &&Value| left.len() < MOST && count(slice) + left.len() <= MOST;
        let fullest = unchanged.iter().filter(fits).max_by_key(|slice| count(slice)).cloned();
        let is_new = fullest.is_none();
        let mut slice = fullest.unwrap_or_else(|| new.clone());
        unchanged.retain(|it| it["metadata"]["name"] != slice["metadata"]["name"]);
        fill(&mut slice, left);
        let list = if is_new { &mut plan.created } else { &mut changed };
        list.push(slice);
    }
    plan.updated.extend(changed);
}

fn count(slice: &Value) -> usize {
    items(slice, "/endpoints").len()
}

fn fill(slice: &mut Value, left: &mut BTreeMap<String, Value>) {
    let mut endpoints = items(slice, "/endpoints").to_vec();
    while endpoints.len() < MOST
        && let Some((_, endpoint)) = left.pop_first()
    {
        endpoints.push(endpoint);
    }
    slice["endpoints"] = json!(endpoints);
}
