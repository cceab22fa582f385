//! ClusterRoles that aggregate others: their rules are those of all ClusterRoles that their selectors choose.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::act;
use crate::{
    meta,
    select::LabelSelector,
    server::Core,
    store::{Key, Range},
};

pub(super) const RESOURCE: &str = "rbac.authorization.k8s.io/clusterroles";
/// Who writes, as managedFields name the controller upstream.
const MANAGER: &str = "clusterrole-aggregation-controller";

/// Brings every role that aggregates others up to date. Where one of these aggregates too, its own change comes next.
pub(super) fn gather(core: &Core) {
    let Ok(page) = core.store.list(&Range::new(RESOURCE, ""), None, None, 0) else {
        return;
    };
    let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
    // By name, as the store keeps them and upstream sorts them.
    let roles: Vec<Value> = page.records.iter().filter_map(|record| read(&record.object)).collect();
    for role in &roles {
        let Some(selectors) = selectors(role) else { continue };
        let rules = rules(role, &selectors, &roles);
        if rules != of(role) {
            let name = meta::text(role, "name");
            let mut wanted = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                "metadata": {"name": name}});
            // No rules are none that are applied, and then nobody manages them.
            if !rules.is_empty() {
                wanted["rules"] = Value::from(rules);
            }
            // One that is gone or changed meanwhile comes here again with that change.
            let _ = act::apply(core, &Key::new(RESOURCE, "", name), MANAGER, &wanted);
        }
    }
}

fn selectors(role: &Value) -> Option<Vec<LabelSelector>> {
    let list = role.pointer("/aggregationRule/clusterRoleSelectors")?.as_array()?;
    Some(list.iter().map(LabelSelector::of).collect())
}

/// In the order of the selectors, each rule once.
fn rules(role: &Value, selectors: &[LabelSelector], roles: &[Value]) -> Vec<Value> {
    let name = meta::text(role, "name");
    let mut rules = Vec::new();
    for selector in selectors {
        let chosen = roles.iter().filter(|other| meta::text(other, "name") != name);
        for other in chosen.filter(|other| selector.matches(&labels(other))) {
            for rule in of(other) {
                if !rules.contains(rule) {
                    rules.push(rule.clone());
                }
            }
        }
    }
    rules
}

fn of(role: &Value) -> &[Value] {
    role["rules"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn labels(role: &Value) -> BTreeMap<String, String> {
    let labels = meta::of(role).get("labels").and_then(Value::as_object);
    let labels = labels.into_iter().flatten();
    labels
        .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
        .collect()
}
