//! ClusterRoles that aggregate others: their rules are those of all ClusterRoles that their selectors match.
//!
//! The matching roles of each aggregate are kept, so that a change of a role affects only the aggregates that it
//! matches.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
};

use serde_json::{Value, json};

use super::{act, isolated, retries::Retries};
use crate::{
    effects::Cluster,
    select::LabelSelector,
    state::Core,
    status::Status,
    store::{Change, ChangeKind, Key, Record},
};

pub(super) const RESOURCE: &str = "rbac.authorization.k8s.io/clusterroles";
/// The controller's field manager upstream.
const MANAGER: &str = "clusterrole-aggregation-controller";

/// The ClusterRoles that aggregate others.
#[derive(Default)]
pub(super) struct ClusterRoles {
    aggregates: BTreeMap<String, Aggregate>,
    /// The aggregates whose rules may be out of date.
    stale: BTreeSet<String>,
    /// The aggregates whose update was refused.
    pub retries: Retries<String>,
}

/// One aggregating ClusterRole.
struct Aggregate {
    rule: Value,
    selectors: Vec<LabelSelector>,
    /// The names of the roles that its selectors match.
    chosen: BTreeSet<String>,
}

impl ClusterRoles {
    /// Adds all existing roles.
    pub fn begin(&mut self, core: &Core, records: &[Arc<Record>]) {
        let roles = records.iter().filter(|record| &*record.key.resource == RESOURCE);
        for role in roles {
            self.seen(core, role);
        }
    }

    /// Processes a change of a role.
    pub fn follow(&mut self, core: &Core, change: &Change) {
        let name = &change.record.key.name;
        if change.kind != ChangeKind::Deleted {
            return self.seen(core, &change.record);
        }
        self.aggregates.remove(name);
        self.stale.remove(name);
        self.retries.forget(name);
        for (other, aggregate) in &mut self.aggregates {
            if aggregate.chosen.remove(name) {
                self.stale.insert(other.clone());
            }
        }
    }

    pub fn is_idle(&self) -> bool {
        self.stale.is_empty()
    }

    /// Updates the aggregates that may be out of date. If another aggregate matches one of them, the change that
    /// follows updates that one.
    pub async fn work(&mut self, cluster: &Arc<Cluster>) {
        self.stale.extend(self.retries.due(cluster.core.now()));
        for name in std::mem::take(&mut self.stale) {
            if let Some(aggregate) = self.aggregates.get(&name) {
                match isolated(aggregate.write(cluster, &name)).await {
                    Err(_) => self.retries.failed(&name, cluster.core.now()),
                    Ok(()) => self.retries.forget(&name),
                }
            }
        }
    }

    fn seen(&mut self, core: &Core, record: &Record) {
        let name = &record.key.name;
        let role = record.value();
        self.aggregate(core, name, &role["aggregationRule"]);
        for (other, aggregate) in &mut self.aggregates {
            let is_chosen = other != name && aggregate.chooses(record);
            let was_chosen = match is_chosen {
                true => !aggregate.chosen.insert(name.clone()),
                false => aggregate.chosen.remove(name),
            };
            if is_chosen || was_chosen || other == name {
                self.stale.insert(other.clone());
            }
        }
    }

    /// Adds, changes or removes an aggregate. Reads all roles only if its rule is new.
    fn aggregate(&mut self, core: &Core, name: &str, rule: &Value) {
        let Some(selectors) = rule["clusterRoleSelectors"].as_array() else {
            self.aggregates.remove(name);
            return;
        };
        if self.aggregates.get(name).is_some_and(|known| known.rule == *rule) {
            return;
        }
        let mut aggregate = Aggregate {
            rule: rule.clone(),
            selectors: selectors.iter().map(LabelSelector::of).collect(),
            chosen: BTreeSet::new(),
        };
        let all = core.store.all(RESOURCE, "").into_iter();
        let chosen = all.filter(|other| other.key.name != name && aggregate.chooses(other));
        aggregate.chosen = chosen.map(|other| other.key.name.clone()).collect();
        self.aggregates.insert(name.to_owned(), aggregate);
    }
}

impl Aggregate {
    fn chooses(&self, role: &Record) -> bool {
        self.selectors.iter().any(|selector| selector.matches(role.labels()))
    }

    async fn write(&self, cluster: &Arc<Cluster>, name: &str) -> Result<(), Status> {
        let Some(role) = cluster.core.store.get(&Key::new(RESOURCE, "", name)) else {
            return Ok(());
        };
        let rules = self.rules(&cluster.core);
        if rules == of(&role) {
            return Ok(());
        }
        let mut wanted = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name}});
        // Omit empty rules, so that no manager owns them.
        if !rules.is_empty() {
            wanted["rules"] = Value::from(rules);
        }
        act::apply(cluster, &Key::new(RESOURCE, "", name), MANAGER, &wanted).await?;
        Ok(())
    }

    /// The rules in the order of the selectors, then of the roles' names, each rule once.
    fn rules(&self, core: &Core) -> Vec<Value> {
        let chosen = self.chosen.iter();
        let chosen: Vec<_> = chosen
            .filter_map(|name| core.store.get(&Key::new(RESOURCE, "", name)))
            .collect();
        let (mut rules, mut known) = (Vec::new(), HashSet::new());
        for selector in &self.selectors {
            for role in chosen.iter().filter(|role| selector.matches(role.labels())) {
                let new = of(role).into_iter().filter(|rule| known.insert(rule.clone()));
                rules.extend(new.collect::<Vec<_>>());
            }
        }
        rules
    }
}

fn of(role: &Record) -> Vec<Value> {
    let mut role = role.value();
    match role["rules"].take() {
        Value::Array(rules) => rules,
        _ => Vec::new(),
    }
}
