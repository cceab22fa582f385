//! The kustomize component `config/webhook`: the configurations, and what their Service and certificates need.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{manager::Hooked, rbac::Rule};

/// The Service, as in kubebuilder's projects. Kustomize puts a prefix before it and the other names.
pub(crate) const SERVICE: &str = "webhook-service";
/// The Secret with the certificates, as in kubebuilder's projects.
pub(crate) const SECRET: &str = "webhook-server-cert";
/// The group of the configurations.
const GROUP: &str = "admissionregistration.k8s.io";
/// The port of the server, by default.
const PORT: u16 = 9443;

/// One of the two kinds of configurations, under kubebuilder's names.
#[derive(Clone, Copy)]
pub(crate) struct Configured {
    pub(crate) plural: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) name: &'static str,
    /// Whether its webhooks may change objects.
    pub(crate) mutating: bool,
}

/// Both kinds.
pub(crate) const CONFIGURATIONS: [Configured; 2] = [
    Configured {
        plural: "mutatingwebhookconfigurations",
        kind: "MutatingWebhookConfiguration",
        name: "mutating-webhook-configuration",
        mutating: true,
    },
    Configured {
        plural: "validatingwebhookconfigurations",
        kind: "ValidatingWebhookConfiguration",
        name: "validating-webhook-configuration",
        mutating: false,
    },
];

impl Configured {
    /// Those of these webhooks that are in it.
    fn of(self, hooks: &[Hooked]) -> impl Iterator<Item = &Hooked> {
        hooks.iter().filter(move |hook| hook.mutating == self.mutating)
    }
}

/// The configurations that an operator with these webhooks has.
pub(crate) fn configured(hooks: &[Hooked]) -> Vec<Configured> {
    let all = CONFIGURATIONS.into_iter();
    all.filter(|it| it.of(hooks).next().is_some()).collect()
}

/// The files of `config/webhook` for an operator of this name; none if it has no webhooks.
pub(crate) fn files(hooks: &[Hooked], operator: &str) -> BTreeMap<String, Vec<Value>> {
    if hooks.is_empty() {
        return BTreeMap::new();
    }
    let labels = json!({"app.kubernetes.io/name": operator, "control-plane": "controller-manager"});
    let named =
        |name: &str| json!({"name": name, "namespace": "system", "labels": {"app.kubernetes.io/name": operator}});
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
        "spec": {"minAvailable": 1, "selector": {"matchLabels": labels}},
    });
    let files = [
        ("deployment_patch.yaml", vec![deployment(&labels)]),
        ("kustomization.yaml", vec![kustomization()]),
        ("kustomizeconfig.yaml", vec![references()]),
        ("manifests.yaml", configurations(hooks)),
        ("pod_disruption_budget.yaml", vec![budget]),
        ("secret.yaml", vec![secret]),
        ("service.yaml", vec![service]),
    ];
    files.map(|(name, documents)| (name.to_owned(), documents)).into()
}

/// The configurations with the webhooks, each sorted by name: the API server calls mutating webhooks in this order.
fn configurations(hooks: &[Hooked]) -> Vec<Value> {
    let document = |it: Configured| {
        let mut entries: Vec<_> = it.of(hooks).map(|hook| hook.entry.clone()).collect();
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

fn kustomization() -> Value {
    json!({
        "apiVersion": "kustomize.config.k8s.io/v1alpha1",
        "kind": "Component",
        "resources": ["manifests.yaml", "service.yaml", "secret.yaml", "pod_disruption_budget.yaml"],
        "configurations": ["kustomizeconfig.yaml"],
        "patches": [{"path": "deployment_patch.yaml", "target": {"kind": "Deployment", "name": "controller-manager"}}],
    })
}

/// Where kustomize has to look for the names of the configurations; it knows where those of Services and Secrets are.
fn references() -> Value {
    let reference = |kind: &str| {
        let place = json!({"kind": "ClusterRole", "group": "rbac.authorization.k8s.io", "path": "rules/resourceNames"});
        json!({"kind": kind, "group": GROUP, "fieldSpecs": [place]})
    };
    json!({"nameReference": CONFIGURATIONS.map(|it| reference(it.kind))})
}

/// Two replicas on different nodes, of which one is always there: while none is, writes fail.
fn deployment(labels: &Value) -> Value {
    let spread = json!({
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": labels},
    });
    let strategy = json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}});
    let port = json!({"name": "webhook", "containerPort": PORT, "protocol": "TCP"});
    json!([
        {"op": "test", "path": "/spec/template/spec/containers/0/name", "value": "manager"},
        {"op": "add", "path": "/spec/replicas", "value": 2},
        {"op": "add", "path": "/spec/strategy", "value": strategy},
        {"op": "add", "path": "/spec/template/spec/topologySpreadConstraints", "value": [spread]},
        {"op": "add", "path": "/spec/template/spec/containers/0/ports/-", "value": port},
    ])
}

/// What the operator needs to keep its certificates: one Secret, and its own configurations. If it works in named
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
    [secret].into_iter().chain(configurations).collect()
}
