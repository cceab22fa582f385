//! The kustomize component `config/webhook`: the configurations, and what their Service and certificates need.

use std::collections::BTreeMap;

use kubewright_runtime::{
    Rule,
    component::certificates::{CONFIGURATIONS, Configured, Converting},
};
use kubewright_schema::webhook::{SECRET, SERVICE};
use kubewright_schema::yaml;
use serde_json::{Value, json};

use super::registered::{Hooked, Purpose};

/// The operator's namespace in what `make manifests` writes. Kustomize replaces it.
pub(crate) const NAMESPACE: &str = "system";
/// The group of the configurations.
const GROUP: &str = "admissionregistration.k8s.io";
/// The Deployment that `init` wrote, and that the author may have edited.
const DEPLOYMENT: &str = "config/manager/deployment.yaml";
/// The field of the Deployment that spreads its Pods.
const SPREAD: &str = "/spec/template/spec/topologySpreadConstraints";
/// The port of the server, by default.
const PORT: u16 = 9443;

/// The entries of those of these webhooks that are in this configuration.
fn entries(it: Configured, hooks: &[Hooked]) -> impl Iterator<Item = &Value> {
    hooks.iter().filter_map(move |hook| match &hook.purpose {
        Purpose::Admission { mutating, entry } if *mutating == it.mutating => Some(entry),
        _ => None,
    })
}

/// The configurations that an operator with these webhooks has.
pub(crate) fn configured(hooks: &[Hooked]) -> Vec<Configured> {
    let all = CONFIGURATIONS.into_iter();
    all.filter(|it| entries(*it, hooks).next().is_some()).collect()
}

/// The files of `config/webhook` for an operator of this name; none if it has no webhooks.
pub(crate) fn files(hooks: &[Hooked], operator: &str) -> BTreeMap<String, Vec<Value>> {
    if hooks.is_empty() {
        return BTreeMap::new();
    }
    let labels = json!({"app.kubernetes.io/name": operator, "control-plane": "controller-manager"});
    let named =
        |name: &str| json!({"name": name, "namespace": NAMESPACE, "labels": {"app.kubernetes.io/name": operator}});
    let service = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": named(SERVICE),
        "spec": {
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": "webhook"}],
            "selector": labels,
        },
    });
    // Without data, which is the operator's alone.
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": named(SECRET), "type": "Opaque"});
    let budget = json!({
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": named("controller-manager"),
        // Not minAvailable, with which one replica blocks the drain of its node.
        // A Pod that is not ready serves nothing, and does not stop a drain.
        "spec": {
            "maxUnavailable": 1,
            "selector": {"matchLabels": labels},
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    });
    let configurations = configurations(hooks);
    let mut files = vec![
        ("deployment_patch.yaml", vec![deployment(&labels, &written())]),
        ("kustomization.yaml", vec![kustomization(!configurations.is_empty())]),
        ("kustomizeconfig.yaml", vec![references()]),
        ("pod_disruption_budget.yaml", vec![budget]),
        ("secret.yaml", vec![secret]),
        ("service.yaml", vec![service]),
    ];
    // Conversions are in no configuration.
    if !configurations.is_empty() {
        files.push(("manifests.yaml", configurations));
    }
    let named = files.into_iter().map(|(name, documents)| (name.to_owned(), documents));
    named.collect()
}

/// The configurations with the webhooks, each sorted by name: the API server calls mutating webhooks in this order.
fn configurations(hooks: &[Hooked]) -> Vec<Value> {
    let document = |it: Configured| {
        let mut entries: Vec<_> = entries(it, hooks).cloned().collect();
        entries.sort_by_key(|entry| entry["name"].as_str().unwrap_or_default().to_owned());
        json!({
            "apiVersion": format!("{GROUP}/v1"),
            "kind": it.kind,
            "metadata": {"name": it.name},
            "webhooks": entries,
        })
    };
    configured(hooks).into_iter().map(document).collect()
}

fn kustomization(has_configurations: bool) -> Value {
    let resources = [
        "manifests.yaml",
        "service.yaml",
        "secret.yaml",
        "pod_disruption_budget.yaml",
    ];
    json!({
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "resources": &resources[usize::from(!has_configurations)..],
        "configurations": ["kustomizeconfig.yaml"],
        "patches": [{"path": "deployment_patch.yaml", "target": {"kind": "Deployment", "name": "controller-manager"}}],
    })
}

/// The fields that contain the names of the configurations and of the operator's namespace. Kustomize has a list of its own
/// for the names of Services and Secrets.
fn references() -> Value {
    let reference = |kind: &str| {
        let place = json!({"kind": "ClusterRole", "group": "rbac.authorization.k8s.io", "path": "rules/resourceNames"});
        json!({"kind": kind, "group": GROUP, "fieldSpecs": [place]})
    };
    let left_out = CONFIGURATIONS.map(
        |it| json!({"kind": it.kind, "group": GROUP, "path": "webhooks/namespaceSelector/matchExpressions/values"}),
    );
    let namespace = json!({"kind": "Namespace", "version": "v1", "fieldSpecs": left_out});
    let named = CONFIGURATIONS.map(|it| reference(it.kind));
    json!({"nameReference": named.into_iter().chain([namespace]).collect::<Vec<_>>()})
}

/// The Deployment in the folder of the project, where `make manifests` runs; null if there is none.
fn written() -> Value {
    let text = std::fs::read_to_string(DEPLOYMENT).unwrap_or_default();
    let documents = yaml::documents(&text).unwrap_or_default();
    let mut deployments = documents.into_iter().filter(|it| it["kind"] == "Deployment");
    deployments.next().unwrap_or_default()
}

/// Two replicas on different nodes, one of which always runs: without any, writes fail. What the author has set in the Deployment stays.
fn deployment(labels: &Value, written: &Value) -> Value {
    let spread = json!({
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": labels},
    });
    // On the network of their nodes, a new Pod needs the ports of an old one.
    let surge = u8::from(written.pointer("/spec/template/spec/hostNetwork") != Some(&Value::Bool(true)));
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": 1 - surge}});
    let port = json!({"name": "webhook", "containerPort": PORT, "protocol": "TCP"});
    let is_set = |path: &str| written.pointer(path).is_some_and(|value| !value.is_null());
    // The Deployment of a new project has one replica.
    let is_scaled = is_set("/spec/replicas") && written["spec"]["replicas"] != 1;
    let added = [
        ("/spec/replicas", json!(2), is_scaled),
        ("/spec/strategy", strategy, is_set("/spec/strategy")),
        (SPREAD, json!([spread]), is_set(SPREAD)),
        ("/spec/template/spec/containers/0/ports/-", port, false),
    ];
    let added = added.into_iter().filter(|(_, _, is_set)| !is_set);
    let added = added.map(|(path, value, _)| json!({"op": "add", "path": path, "value": value}));
    let test = json!({"op": "test", "path": "/spec/template/spec/containers/0/name", "value": "manager"});
    [test].into_iter().chain(added).collect()
}

/// The conversions among these webhooks.
pub(crate) fn converting(hooks: &[Hooked]) -> Vec<Converting> {
    let converting = hooks.iter().filter_map(|hook| match &hook.purpose {
        Purpose::Admission { .. } => None,
        Purpose::Conversion {
            definition,
            api_version,
            stored,
        } => Some(Converting {
            definition: definition.clone(),
            api_version: api_version.clone(),
            path: hook.endpoint.path().to_owned(),
            stored: stored.clone(),
            named: Default::default(),
        }),
    });
    converting.collect()
}

/// The permissions for the operator's certificates: one Secret, its own configurations, and the definitions of the kinds
/// that it converts, whose objects it reads. If it works in named
/// namespaces only, it has no configurations of its own to write.
pub(crate) fn rules(hooks: &[Hooked]) -> Vec<Rule> {
    const VERBS: [&str; 4] = ["get", "list", "watch", "patch"];
    if hooks.is_empty() {
        return Vec::new();
    }
    let secret = Rule::new(&[""], &["secrets"], &VERBS)
        .names(&[SECRET])
        .in_own_namespace();
    let configurations = configured(hooks).into_iter();
    let configurations = configurations.map(|it| Rule::new(&[GROUP], &[it.plural], &VERBS).names(&[it.name]));
    let converting = converting(hooks);
    let definitions: Vec<_> = converting.iter().map(|it| it.definition.as_str()).collect();
    let definitions = (!definitions.is_empty())
        .then(|| Rule::new(&["apiextensions.k8s.io"], &["customresourcedefinitions"], &VERBS).names(&definitions));
    // To write objects that one version shows with nothing but metadata.
    let kinds = converting.iter().filter_map(|it| it.definition.split_once('.'));
    let kinds = kinds.map(|(plural, group)| Rule::new(&[group], &[plural], &["get"]));
    let rules = [secret].into_iter().chain(configurations).chain(definitions);
    rules.chain(kinds).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patch_keeps_what_the_author_has_set_in_the_deployment() {
        let paths = |written: Value| -> Vec<String> {
            let patch = deployment(&json!({}), &written);
            let operations = patch.as_array().unwrap().iter().skip(1);
            operations
                .map(|it| it["path"].as_str().unwrap().rsplit('/').next().unwrap().to_owned())
                .collect()
        };
        let all = ["replicas", "strategy", "topologySpreadConstraints", "-"];
        assert_eq!(paths(Value::Null), all);
        assert_eq!(paths(json!({"spec": {"replicas": 1}})), all);
        let spread = json!([{"maxSkew": 2}]);
        let on_host = json!({"spec": {"template": {"spec": {"hostNetwork": true}}}});
        for (written, surge, unavailable) in [(Value::Null, 1, 0), (on_host, 0, 1)] {
            let patch = deployment(&json!({}), &written);
            let rolling = json!({"maxSurge": surge, "maxUnavailable": unavailable});
            assert_eq!(patch[2]["value"]["rollingUpdate"], rolling, "{patch}");
        }
        let written = json!({"spec": {
            "replicas": 3, "strategy": {"type": "Recreate"}, "template": {"spec": {"topologySpreadConstraints": spread}},
        }});
        assert_eq!(paths(written), ["-"]);
    }
}
