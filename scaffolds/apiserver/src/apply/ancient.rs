//! Limits the number of Update entries: the oldest are merged into one entry `ancient-changes` per version.

use std::collections::BTreeMap;

use super::managed::{Managed, Manager, Operation};

/// If there are more Update entries than this, the oldest are merged; Apply entries do not count.
const MAX_UPDATERS: usize = 10;
const NAME: &str = "ancient-changes";

pub(super) fn cap(managed: &mut Managed) {
    let updaters = managed.owners.keys().filter(|it| it.operation == Operation::Update);
    let mut updaters: Vec<Manager> = updaters.cloned().collect();
    updaters.sort_by(|left, right| {
        let time = |it| managed.times.get(it).map(String::as_str).unwrap_or_default();
        (time(left), left).cmp(&(time(right), right))
    });
    let mut left = updaters.len();
    let mut firsts: BTreeMap<String, Manager> = BTreeMap::new();
    for manager in updaters {
        if left <= MAX_UPDATERS {
            return;
        }
        let Some(version) = managed.owners.get(&manager).map(|it| it.api_version.clone()) else {
            continue;
        };
        match firsts.get(&version) {
            // The first entry of its version; merged when a second one is found.
            None => drop(firsts.insert(version, manager)),
            Some(first) => {
                merge(managed, first, &manager);
                left -= 1;
            }
        }
    }
}

fn merge(managed: &mut Managed, first: &Manager, manager: &Manager) {
    let Some(mut owned) = managed.owners.remove(manager) else {
        return;
    };
    let bucket = Manager::updating(NAME, &owned.api_version, "");
    let earlier = managed.owners.remove(&bucket).or_else(|| managed.owners.remove(first));
    if let Some(earlier) = earlier {
        owned.set = owned.set.union(&earlier.set);
    }
    match managed.times.get(manager).cloned() {
        Some(time) => drop(managed.times.insert(bucket.clone(), time)),
        None => drop(managed.times.remove(&bucket)),
    }
    managed.owners.insert(bucket, owned);
}
