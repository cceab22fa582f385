//! The roles and bindings of a new real server, after its controllers have aggregated them. Those of the cluster's own
//! components are left out.

use std::time::Duration;

use anyhow::Result;
use control_plane::{Settings, eventually};
use serde_json::{Map, Value};

use super::Real;

const PLURALS: [&str; 4] = ["clusterroles", "clusterrolebindings", "roles", "rolebindings"];
/// The names of the recorded roles, which are recorded with their bindings.
const KEPT: [&str; 14] = [
    "admin",
    "cluster-admin",
    "edit",
    "extension-apiserver-authentication-reader",
    "system:aggregate-to-admin",
    "system:aggregate-to-edit",
    "system:aggregate-to-view",
    "system:auth-delegator",
    "system:basic-user",
    "system:discovery",
    "system:monitoring",
    "system:public-info-viewer",
    "system:service-account-issuer-discovery",
    "view",
];
/// The time limit for aggregation, which takes less than a second.
const PATIENCE: Duration = Duration::from_secs(180);

/// A line for each object.
pub(super) async fn text() -> Result<String> {
    // A server of its own, because controllers would change what other recorders record.
    let settings = Settings {
        controllers: true,
        ..Settings::default()
    };
    let real = Real::with(settings).await?;
    eventually("the roles to be aggregated", PATIENCE, async || {
        let roles = list(&real, "clusterroles").await?;
        let is_done = |role: &Value| role.get("aggregationRule").is_none() || has_all_rules(role, &roles);
        Ok((roles.len() > KEPT.len() && roles.iter().all(is_done)).then_some(()))
    })
    .await?;
    let mut lines = Vec::new();
    for plural in PLURALS {
        let mut objects = list(&real, plural).await?;
        objects.retain(is_kept);
        lines.extend(objects.into_iter().map(|object| line(plural, object)));
    }
    Ok(lines.join("\n"))
}

/// Whether an aggregating role has the rules of all roles that it selects. It may have a part of them: `admin` selects `edit`,
/// which selects `view`.
fn has_all_rules(role: &Value, roles: &[Value]) -> bool {
    let selectors = role["aggregationRule"]["clusterRoleSelectors"].as_array();
    let selects = |other: &&Value| {
        selectors.into_iter().flatten().any(|selector| {
            let labels = selector["matchLabels"].as_object();
            labels.is_some_and(|labels| {
                labels
                    .iter()
                    .all(|(name, value)| other["metadata"]["labels"][name] == *value)
            })
        })
    };
    let rules = |role: &Value| role["rules"].as_array().cloned();
    let Some(own) = rules(role) else { return false };
    roles
        .iter()
        .filter(selects)
        .all(|other| rules(other).unwrap_or_default().iter().all(|rule| own.contains(rule)))
}

async fn list(real: &Real, plural: &str) -> Result<Vec<Value>> {
    let mut list = real
        .get(&format!("/apis/rbac.authorization.k8s.io/v1/{plural}"))
        .await?;
    match list["items"].take() {
        Value::Array(items) => Ok(items),
        _ => Ok(Vec::new()),
    }
}

fn is_kept(object: &Value) -> bool {
    let role = object.pointer("/roleRef/name").unwrap_or(&object["metadata"]["name"]);
    KEPT.iter().any(|kept| role == kept)
}

/// Plural, namespace (`-` for none), name, and the object with placeholders for values that differ between servers.
fn line(plural: &str, mut object: Value) -> String {
    let kind = match plural {
        "clusterroles" => "ClusterRole",
        "clusterrolebindings" => "ClusterRoleBinding",
        "roles" => "Role",
        _ => "RoleBinding",
    };
    object["kind"] = kind.into();
    object["apiVersion"] = "rbac.authorization.k8s.io/v1".into();
    let metadata = &mut object["metadata"];
    metadata["uid"] = "<uid>".into();
    metadata["resourceVersion"] = "<rv>".into();
    metadata["creationTimestamp"] = "<time>".into();
    for entry in metadata["managedFields"].as_array_mut().into_iter().flatten() {
        entry
            .as_object_mut()
            .map(|entry: &mut Map<String, Value>| entry.insert("time".to_owned(), "<time>".into()));
    }
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or("-");
    format!("{plural} {} {} {object}", text("namespace"), text("name"))
}
