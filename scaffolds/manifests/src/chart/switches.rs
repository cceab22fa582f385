//! The switches of a chart: values that leave out a part of the release.

use super::marks::Blocks;
use super::names::Names;
use super::pod;
use crate::rendered::text;
use kubewright_schema::webhook::{SECRET, SERVICE};
use kubewright_schema::yaml;
use serde_json::{Map, Value, json};

/// A part of a release that the value `<key>.enabled` leaves out.
pub(super) struct Switch {
    pub key: &'static str,
    /// The excluded part, in the comment of the value.
    pub about: &'static str,
    /// Whether the value `<key>.labels` has more labels of its objects.
    pub labels: bool,
    /// Whether the part is installed by default, if the project has it.
    on: bool,
    /// The way to add the part to a project.
    remedy: &'static str,
}

pub(super) const METRICS: &str = "metrics";
pub(super) const WEBHOOKS: &str = "webhooks";
pub(super) const SERVICE_MONITOR: &str = "serviceMonitor";
const RULES: &str = "prometheusRule";
const POLICY: &str = "networkPolicy";
const CERT_MANAGER: &str = "certManager";
pub(super) const BUDGET: &str = "podDisruptionBudget";

const PROMETHEUS: &str = "add ../prometheus to the components of config/default, and run make chart";

/// All of them, in the order of values.yaml.
pub(super) const SWITCHES: [Switch; 7] = [
    Switch {
        key: METRICS,
        about: "Whether the operator serves metrics, with the Service and the roles for them.",
        labels: false,
        on: true,
        remedy: "add ../metrics to the components of config/default, and run make chart",
    },
    Switch {
        key: SERVICE_MONITOR,
        about: "Whether there is a ServiceMonitor, and more labels of it; it needs the CRDs of the Prometheus operator, and metrics.enabled. \
                Its `authorization` replaces the token of Prometheus.",
        labels: true,
        on: false,
        remedy: PROMETHEUS,
    },
    Switch {
        key: RULES,
        about: "Whether there are alerts, and more labels of their PrometheusRule; they need the CRDs of the Prometheus operator, and metrics.enabled.",
        labels: true,
        on: false,
        remedy: PROMETHEUS,
    },
    Switch {
        key: POLICY,
        about: "Whether there are NetworkPolicies.",
        labels: false,
        on: true,
        remedy: "add ../network-policy to the components of config/default, and run make chart",
    },
    Switch {
        key: WEBHOOKS,
        about: "Whether the operator serves webhooks, with their configurations, Service and Secret.",
        labels: false,
        on: true,
        remedy: "run kubewright create webhook, and make chart",
    },
    Switch {
        key: CERT_MANAGER,
        about: "Whether there are Certificates and Issuers of cert-manager. Without, their Secrets are yours to create.",
        labels: false,
        on: true,
        remedy: "add your Certificate to config/default, and run make chart",
    },
    Switch {
        key: BUDGET,
        about: "Whether a PodDisruptionBudget lets a drain evict only one Pod at a time.",
        labels: false,
        on: true,
        remedy: "", // Every chart has one.
    },
];

/// The alert of `config/prometheus/rules.yaml` on a metric that only an election has.
const NO_LEADER: &str = "OperatorHasNoLeader";

/// Objects of `config/metrics` and `config/prometheus`, without their prefix.
const OF_METRICS: [&str; 8] = [
    "metrics-auth-role",
    "metrics-auth-rolebinding",
    "metrics-reader",
    "controller-manager-metrics-service",
    "metrics-server-cert",
    "metrics-server-ca",
    "metrics-certificate-role",
    "metrics-certificate-rolebinding",
];

/// The switch that leaves out an object.
pub(super) fn of_object(object: &Value, names: &Names) -> Option<&'static str> {
    let (group, _) = text(object, "/apiVersion").split_once('/').unwrap_or_default();
    match (group, text(object, "/kind")) {
        ("monitoring.coreos.com", "PrometheusRule") => Some(RULES),
        ("monitoring.coreos.com", _) => Some(SERVICE_MONITOR),
        ("networking.k8s.io", "NetworkPolicy") => Some(POLICY),
        ("policy", "PodDisruptionBudget") => Some(BUDGET),
        ("admissionregistration.k8s.io", kind) if kind.ends_with("WebhookConfiguration") => Some(WEBHOOKS),
        (group, _) if group == "cert-manager.io" || group.ends_with(".cert-manager.io") => Some(CERT_MANAGER),
        ("" | "rbac.authorization.k8s.io", _) => of_name(names.short(text(object, "/metadata/name"))),
        _ => None,
    }
}

/// The switch of an object with this name, without its prefix.
fn of_name(name: &str) -> Option<&'static str> {
    match name {
        SERVICE | SECRET => Some(WEBHOOKS),
        name if OF_METRICS.contains(&name) => Some(METRICS),
        _ => None,
    }
}

/// The switch of an item in a list of the operator's container: an argument or a port.
pub(super) fn of_item(item: &Value) -> Option<&'static str> {
    let argument = item.as_str().unwrap_or_default();
    match text(item, "/name") {
        "metrics" => Some(METRICS),
        "webhook" => Some(WEBHOOKS),
        // This argument alone serves no metrics.
        _ if argument == "--metrics-bind-address=0" => None,
        _ => argument.starts_with("--metrics-").then_some(METRICS),
    }
}

/// The switch of a volume: the switch of its Secret or ConfigMap.
pub(super) fn of_volume(volume: &Value, names: &Names) -> Option<&'static str> {
    let paths = ["/secret/secretName", "/configMap/name"];
    // A Secret that is not among the objects has no prefix.
    paths.iter().find_map(|path| of_name(names.short(text(volume, path))))
}

/// Adds the labels of the values to an object whose part has some: a Prometheus may select its objects by them.
pub(super) fn labels(object: &mut Value, names: &Names, blocks: &mut Blocks) {
    let part = of_object(object, names);
    if let Some(part) = SWITCHES.iter().find(|it| it.labels && Some(it.key) == part) {
        pod::more(
            &mut object["metadata"],
            "labels",
            &format!("{}.labels", part.key),
            blocks,
        );
    }
}

/// Lets a value replace the token of a ServiceMonitor: a Prometheus operator may forbid token files.
pub(super) fn authorization(monitor: &mut Value, blocks: &mut Blocks) {
    let endpoints = monitor.pointer_mut("/spec/endpoints").and_then(Value::as_array_mut);
    for endpoint in endpoints.into_iter().flatten() {
        let mut block = pod::collection("authorization", &format!("{SERVICE_MONITOR}.authorization"));
        let given: Map<_, _> = ["bearerTokenFile", "authorization"]
            .into_iter()
            .filter_map(|field| Some((field.to_owned(), pod::take(endpoint, field)?)))
            .collect();
        if !given.is_empty() {
            block = pod::or_else(&block, &yaml::to_string(&Value::Object(given)));
        }
        blocks.insert(endpoint, block);
    }
}

/// Renders the alert that there is no leader only with an election: without one, it would fire for ever.
pub(super) fn alerts(rules: &mut Value, blocks: &mut Blocks) {
    let switch = |rule: &Value| (text(rule, "/alert") == NO_LEADER).then_some("leaderElection.enabled");
    let Some(groups) = rules.pointer_mut("/spec/groups") else {
        return;
    };
    for group in groups.as_array_mut().into_iter().flatten() {
        // A group without rules is invalid.
        if let Some(rules) = group.get_mut("rules")
            && rules
                .as_array()
                .is_some_and(|all| !all.iter().all(|rule| switch(rule).is_some()))
        {
            blocks.switch(rules, switch);
        }
    }
    blocks.switch(groups, |group| {
        let rules = group["rules"].as_array().filter(|rules| !rules.is_empty())?;
        rules
            .iter()
            .all(|rule| switch(rule).is_some())
            .then_some("leaderElection.enabled")
    });
}

/// The parts that a project has.
pub(super) struct ProjectParts(Vec<&'static str>);

impl ProjectParts {
    /// The parts that these objects belong to, and the items of the operator's container.
    pub(super) fn of(objects: &[Value], names: &Names, operator: Option<&Value>) -> Self {
        let mut parts: Vec<_> = objects.iter().filter_map(|object| of_object(object, names)).collect();
        let lists = ["args", "ports"]
            .into_iter()
            .filter_map(|list| operator?[list].as_array());
        parts.extend(lists.flatten().filter_map(of_item));
        // Conversions are in no configuration.
        if objects.iter().any(is_converted) {
            parts.push(WEBHOOKS);
        }
        Self(parts)
    }

    /// Whether there is an object of this part.
    pub(super) fn has(&self, key: &str) -> bool {
        self.0.contains(&key)
    }

    /// The values of the switches.
    pub(super) fn values(&self) -> Map<String, Value> {
        let value = |it: &Switch| {
            let mut value = json!({"enabled": it.on && self.has(it.key)});
            if it.labels {
                value["labels"] = json!({});
            }
            if it.key == SERVICE_MONITOR {
                value["authorization"] = json!({});
            }
            (it.key.to_owned(), value)
        };
        SWITCHES.iter().map(value).collect()
    }

    /// The template that refuses values which contradict each other, or that turn on what the chart does not have.
    pub(super) fn checks(&self, objects: &[Value]) -> String {
        let mut out = "{{- /*\n# @generated by make chart; do not edit\n*/ -}}\n".to_owned();
        let mut check = |condition: &str, message: &str| {
            let message = Value::String(message.to_owned());
            out.push_str(&format!(
                "{{{{- if {condition} }}}}\n{{{{- fail {message} }}}}\n{{{{- end }}}}\n"
            ));
        };
        for Switch { key, remedy, .. } in SWITCHES.iter().filter(|it| it.key != BUDGET && !self.has(it.key)) {
            let message = format!("{key}.enabled is true, but this chart has no objects for it: {remedy}");
            check(&format!(".Values.{key}.enabled"), &message);
        }
        for key in [SERVICE_MONITOR, RULES] {
            let message = format!("{key}.enabled is true, but metrics.enabled is false: there is nothing to scrape");
            check(
                &format!("and .Values.{key}.enabled (not .Values.{METRICS}.enabled)"),
                &message,
            );
        }
        if let Some(definition) = objects.iter().find(|it| is_converted(it)) {
            let name = text(definition, "/metadata/name");
            let message = format!(
                "webhooks.enabled is false, but the operator converts the versions of {name}: leave it on, or set crds.enabled to \
                 false too"
            );
            check(
                &format!(
                    "and .Values.crds.enabled (ne .Values.install \"namespace\") (not .Values.{WEBHOOKS}.enabled)"
                ),
                &message,
            );
        }
        check(
            "and (not .Values.leaderElection.enabled) (gt (int .Values.replicas) 1)",
            "leaderElection.enabled is false, but replicas is more than 1: all of them would work at once",
        );
        out
    }
}

/// The names of the CRDs whose versions the operator converts.
pub(super) fn converted(objects: &[Value]) -> Vec<&str> {
    let converted = objects.iter().filter(|object| is_converted(object));
    converted.map(|object| text(object, "/metadata/name")).collect()
}

/// Whether the operator converts the versions of this CRD: it enters its converter there, or is entered already.
fn is_converted(object: &Value) -> bool {
    let paths = [
        "/spec/conversion/strategy",
        "/metadata/annotations/kubewright.dev~1conversion",
    ];
    paths.iter().any(|path| text(object, path) == "Webhook")
}
