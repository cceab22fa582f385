//! The table of owners and dependents among workloads, and an index for each kind of dependents.

use std::{collections::HashSet, sync::Arc};

use serde_json::{Value, json};

use super::{
    family::{Family, Relation},
    jobs::JOBS,
    services::SERVICE_NAME,
    write::{
        BUDGETS, CLAIMS, DAEMON_SETS, DEPLOYMENTS, PODS, REPLICA_SETS, REPLICATION_CONTROLLERS, REVISIONS, SERVICES,
        SLICES, STATEFUL_SETS,
    },
};
use crate::store::{Key, Record};

/// The kinds of owners, and of what they own.
const OWNERS: [(&str, &str); 12] = [
    (DEPLOYMENTS, REPLICA_SETS),
    (REPLICA_SETS, PODS),
    (REPLICATION_CONTROLLERS, PODS),
    (STATEFUL_SETS, PODS),
    (DAEMON_SETS, PODS),
    (JOBS, PODS),
    (STATEFUL_SETS, REVISIONS),
    (DAEMON_SETS, REVISIONS),
    (STATEFUL_SETS, CLAIMS),
    (BUDGETS, PODS),
    (SERVICES, PODS),
    (SERVICES, SLICES),
];

/// The indexes, by the kind of the dependents.
pub(super) struct Families {
    replica_sets: Family,
    pods: Family,
    revisions: Family,
    /// A claim may have no owner, and concerns its StatefulSet nevertheless.
    claims: Family,
    /// The Pods again, for those who only select them.
    selected: Family,
    /// The EndpointSlices, by the name of their Service.
    slices: Family,
}

impl Default for Families {
    fn default() -> Self {
        Self {
            replica_sets: Family::default(),
            pods: Family::default(),
            revisions: Family::default(),
            claims: Family::by_selector(),
            selected: Family::by_selector(),
            slices: Family::by_selector(),
        }
    }
}

impl Families {
    /// Whether objects of this resource are owners or dependents.
    pub fn contain(resource: &str) -> bool {
        OWNERS.iter().any(|pair| pair.0 == resource || pair.1 == resource)
    }

    fn of(&self, pair: [&str; 2]) -> &Family {
        match pair {
            [_, SLICES] => &self.slices,
            [BUDGETS | SERVICES, _] => &self.selected,
            [_, REPLICA_SETS] => &self.replica_sets,
            [_, REVISIONS] => &self.revisions,
            [_, CLAIMS] => &self.claims,
            _ => &self.pods,
        }
    }

    fn of_mut(&mut self, pair: [&str; 2]) -> &mut Family {
        match pair {
            [_, SLICES] => &mut self.slices,
            [BUDGETS | SERVICES, _] => &mut self.selected,
            [_, REPLICA_SETS] => &mut self.replica_sets,
            [_, REVISIONS] => &mut self.revisions,
            [_, CLAIMS] => &mut self.claims,
            _ => &mut self.pods,
        }
    }

    /// Indexes the state of an object, or that it is gone; returns the owners that this concerns.
    pub fn look(&mut self, key: &Key, record: Option<&Arc<Record>>, object: &Value) -> Vec<Key> {
        let present = &object["spec"]["selector"];
        for (owners, dependents) in OWNERS.iter().filter(|pair| pair.0 == &*key.resource) {
            let family = self.of_mut([owners, dependents]);
            match (present.is_object(), [*owners, *dependents]) {
                (false, _) => family.remove_owner(key),
                (true, [SERVICES, SLICES]) => {
                    let name = json!({"matchLabels": {SERVICE_NAME: key.name}});
                    family.set_owner(key, object, &name);
                }
                (true, [SERVICES | REPLICATION_CONTROLLERS, _]) => {
                    family.set_owner(key, object, &json!({"matchLabels": present}))
                }
                (true, _) => family.set_owner(key, object, present),
            }
        }
        let mut concerned = HashSet::new();
        for (owners, dependents) in OWNERS.iter().filter(|pair| pair.1 == &*key.resource) {
            let family = self.of_mut([owners, dependents]);
            concerned.extend(match record {
                Some(record) => family.set_dependent(record, object),
                None => family.remove_dependent(key),
            });
        }
        let mut concerned: Vec<Key> = concerned.into_iter().collect();
        concerned.sort_by(|one, other| (&one.resource, &one.name).cmp(&(&other.resource, &other.name)));
        concerned
    }

    /// The dependents of an owner of this resource, and the orphans and strays that it has to adopt or to release.
    pub fn dependents(&self, owner: &Key, resource: &str) -> Vec<(Relation, Arc<Record>)> {
        self.of([&owner.resource, resource]).dependents(owner)
    }

    /// The owners of this resource, in no order.
    pub fn owners(&self, resource: &str) -> Vec<Key> {
        self.of([resource, PODS]).owners(resource)
    }

    /// The controller of a dependent, if it is a known owner.
    pub fn owner_of(&self, dependent: &Key) -> Option<&Key> {
        self.of(["", &dependent.resource]).owner_of(dependent)
    }
}
