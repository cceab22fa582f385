//! The permissions in the CSV: the rules of all roles that are bound to the ServiceAccounts of the Deployments.

use super::{BundleError, ProjectObjects, kinds::named};
use crate::rendered::text;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The permissions of a CSV.
#[derive(Debug, Default)]
pub(super) struct Permissions {
    /// `permissions` and `clusterPermissions`.
    pub granted: Map<String, Value>,
    /// The positions of the objects that are in there.
    pub used: BTreeSet<usize>,
}

/// The rules of each ServiceAccount, by its name.
type Rules<'a> = BTreeMap<&'a str, Vec<Value>>;

/// The permissions that the objects grant to these ServiceAccounts.
pub(super) fn of(project: &ProjectObjects<'_>, accounts: &BTreeSet<String>) -> Result<Permissions, BundleError> {
    let mut out = Permissions::default();
    // OLM makes only the ServiceAccounts that have an entry, and each of its installations for all namespaces needs a Role.
    let mut namespaced: Rules<'_> = accounts.iter().map(|name| (name.as_str(), Vec::new())).collect();
    let mut cluster = Rules::new();
    let (mut granted, mut kept) = (BTreeSet::new(), BTreeSet::new());
    for (at, binding) in project.objects.iter().enumerate() {
        let rules = match text(binding, "/kind") {
            "RoleBinding" => &mut namespaced,
            "ClusterRoleBinding" => &mut cluster,
            _ => continue,
        };
        let role = project.find(text(binding, "/roleRef/kind"), text(binding, "/roleRef/name"));
        let bound = bound(project, binding, accounts)?;
        if bound.is_empty() {
            kept.extend(role.map(|(place, _)| place));
            continue;
        }
        let (place, role) = role
            .filter(|(_, role)| role.get("aggregationRule").is_none())
            .ok_or_else(|| unknown(binding))?;
        for account in bound {
            let rules = rules.entry(account).or_default();
            rules.extend(role["rules"].as_array().into_iter().flatten().cloned());
        }
        out.used.insert(at);
        granted.insert(place);
    }
    // A role that others are bound to as well stays.
    out.used.extend(granted.difference(&kept));
    let used = project.objects.iter().enumerate().filter(|(_, object)| {
        text(object, "/kind") == "ServiceAccount" && accounts.contains(text(object, "/metadata/name"))
    });
    out.used.extend(used.map(|(at, _)| at));
    out.granted.insert("permissions".to_owned(), entries(namespaced));
    cluster.retain(|_, rules| !rules.is_empty());
    if !cluster.is_empty() {
        out.granted.insert("clusterPermissions".to_owned(), entries(cluster));
    }
    Ok(out)
}

/// The operator's ServiceAccounts in a binding: all its subjects, or no subject. A mixed binding is an error.
fn bound<'a>(
    project: &ProjectObjects<'_>,
    binding: &Value,
    accounts: &'a BTreeSet<String>,
) -> Result<Vec<&'a str>, BundleError> {
    let subjects = binding["subjects"].as_array().map(Vec::as_slice).unwrap_or_default();
    let ours = subjects.iter().filter_map(|subject| {
        let is_here = text(subject, "/namespace") == project.names.namespace;
        let account = accounts.get(text(subject, "/name"));
        account.filter(|_| is_here && text(subject, "/kind") == "ServiceAccount")
    });
    let ours: Vec<_> = ours.map(String::as_str).collect();
    match ours.is_empty() || ours.len() == subjects.len() {
        true => Ok(ours),
        false => Err(BundleError::Mixed(named(binding))),
    }
}

fn unknown(binding: &Value) -> BundleError {
    BundleError::Role {
        binding: named(binding),
        role: format!("{}/{}", text(binding, "/roleRef/kind"), text(binding, "/roleRef/name")),
    }
}

fn entries(rules: Rules<'_>) -> Value {
    rules
        .into_iter()
        .map(|(account, rules)| json!({"serviceAccountName": account, "rules": rules}))
        .collect()
}
