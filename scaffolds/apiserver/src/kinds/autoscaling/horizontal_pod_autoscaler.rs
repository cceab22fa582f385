//! HorizontalPodAutoscalers.

use kubewright_machinery::names;
use serde_json::{Value, json};

use crate::{
    kinds::{
        amounts::{NEGATIVE, container_name, quantity},
        edit::{Fields, made, set, within},
        faults::{Faults, quoted},
        format::{label, path_segment},
        kind::BuiltInKind,
        located::Located,
        row::{Row, shown_or},
    },
    strategy::{Generation, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        defaults: &[("autoscaling.v2.HorizontalPodAutoscaler", default)],
        rules: Rules {
            generation: Generation::COUNTED,
            ..Rules::default()
        },
        validate,
        validate_update,
        cells,
        ..BuiltInKind::default()
    }
}

/// The utilization of the CPU that is the target if no metric is set, in percent (DefaultCPUUtilization).
pub(super) const CPU_UTILIZATION: i64 = 80;

fn default(object: &mut Fields) {
    let Some(spec) = within(object, "spec") else { return };
    set(spec, "minReplicas", 1);
    if spec.get("metrics").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        let target = json!({"type": "Utilization", "averageUtilization": CPU_UTILIZATION});
        let metrics = json!([{"type": "Resource", "resource": {"name": "cpu", "target": target}}]);
        spec.insert("metrics".to_owned(), metrics);
    }
    if let Some(behavior) = within(spec, "behavior") {
        let percent = json!({"type": "Percent", "value": 100, "periodSeconds": 15});
        let pods = json!({"type": "Pods", "value": 4, "periodSeconds": 15});
        default_rules(
            behavior,
            "scaleUp",
            json!({"stabilizationWindowSeconds": 0, "policies": [pods, percent.clone()]}),
        );
        default_rules(behavior, "scaleDown", json!({"policies": [percent]}));
    }
}

/// The rules for one direction: missing fields come from `fallback`.
fn default_rules(behavior: &mut Fields, name: &str, fallback: Value) {
    let Some(rules) = made(behavior, name) else {
        return;
    };
    set(rules, "selectPolicy", "Max");
    for (name, value) in fallback.as_object().into_iter().flatten() {
        set(rules, name, value.clone());
    }
}

const SOURCES: [(&str, &str); 5] = [
    ("Object", "object"),
    ("External", "external"),
    ("Pods", "pods"),
    ("Resource", "resource"),
    ("ContainerResource", "containerResource"),
];

const TYPES: [&str; 5] = ["ContainerResource", "External", "Object", "Pods", "Resource"];

pub(super) fn validate(at: &Located<'_>, faults: &mut Faults) {
    scaled(at, true, faults);
}

pub(super) fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let same = |name: &str| {
        let path = format!("spec.scaleTargetRef.{name}");
        new.at(&path).value == old.at(&path).value
    };
    scaled(new, !(same("apiVersion") && same("kind")), faults);
}

/// Checks that an API version names its group, which only kinds of the core group may omit.
fn group(at: &Located<'_>, faults: &mut Faults) {
    let version = at.get("apiVersion");
    let shown = quoted(version.str());
    if names::is_malformed_group_version(version.str()) {
        let detail = format!("unexpected GroupVersion string: {}", version.str());
        faults.invalid_as(&version, &shown, &detail);
    } else if !version.str().contains('/') && at.get("kind").str() != "ReplicationController" {
        faults.invalid_as(&version, &shown, "apiVersion must specify API group");
    }
}

fn scaled(at: &Located<'_>, checks_group: bool, faults: &mut Faults) {
    let spec = at.get("spec");
    let (least, most) = (spec.get("minReplicas"), spec.get("maxReplicas"));
    if least.is_set() && least.int() < 0 {
        faults.invalid(&least, "must be greater than or equal to 0");
    }
    faults.declared(|faults| match most.int() {
        0 => faults.required(&most, ""),
        ..0 => faults.invalid(&most, "must be greater than or equal to 1"),
        _ => {}
    });
    if least.is_set() && most.int() < least.int() {
        faults.invalid(&most, "must be greater than or equal to `minReplicas`");
    }
    target(&spec.get("scaleTargetRef"), faults);
    if checks_group {
        group(&spec.get("scaleTargetRef"), faults);
    }
    let metrics = spec.get("metrics");
    metrics.items().for_each(|item| metric(&item, faults));
    let outside = metrics
        .items()
        .any(|item| matches!(item.get("type").str(), "Object" | "External"));
    if least.is_set() && least.int() == 0 && !outside {
        let detail = "must specify at least one Object or External metric to support scaling to zero replicas";
        faults.forbidden(&metrics, detail);
    }
    for name in ["scaleUp", "scaleDown"] {
        let rules = spec.get("behavior").get(name);
        if rules.is_set() {
            scaling_rules(&rules, faults);
        }
    }
}

fn target(at: &Located<'_>, faults: &mut Faults) {
    for name in ["kind", "name"] {
        faults.required_format(&at.get(name), path_segment);
    }
}

fn metric(at: &Located<'_>, faults: &mut Faults) {
    let r#type = at.get("type");
    if r#type.str().is_empty() {
        faults.required(&r#type, "must specify a metric source type");
    }
    faults.one_of(&r#type, &TYPES);
    let present: Vec<&str> = SOURCES
        .iter()
        .map(|(_, name)| *name)
        .filter(|name| at.get(name).is_set())
        .collect();
    if let Some(name) = present.first() {
        source(name, &at.get(name), faults);
    }
    match SOURCES.iter().find(|(name, _)| *name == r#type.str()) {
        Some((_, name)) if !at.get(name).is_set() => {
            faults.required(&at.get(name), "must populate information for the given metric source");
        }
        Some(_) => {}
        None => faults.not_supported(&r#type, &TYPES),
    }
    let expected = SOURCES
        .iter()
        .find(|(name, _)| *name == r#type.str())
        .map(|(_, name)| *name);
    if present.len() != 1 {
        for name in present.into_iter().filter(|name| Some(*name) != expected) {
            faults.forbidden(&at.get(name), "must populate the given metric source only");
        }
    }
}

fn source(name: &str, at: &Located<'_>, faults: &mut Faults) {
    let wanted = at.get("target");
    let (average, utilization, value) = (
        wanted.get("averageValue"),
        wanted.get("averageUtilization"),
        wanted.get("value"),
    );
    match name {
        "resource" | "containerResource" => {
            let (resource, container) = (at.get("name"), at.get("container"));
            let in_container = name == "containerResource";
            match resource.str() {
                "" => faults.required(&resource, "must specify a resource name"),
                name if in_container => container_name(name, &resource, faults),
                _ => {}
            }
            match container.str() {
                "" if in_container => faults.required(&container, "must specify a container"),
                _ if in_container => faults.format(&container, label),
                _ => {}
            }
            metric_target(&wanted, faults);
            if !utilization.is_set() && !average.is_set() {
                faults.required(
                    &utilization,
                    "must set either a target raw value or a target utilization",
                );
            }
            if utilization.is_set() && average.is_set() {
                faults.forbidden(&average, "may not set both a target raw value and a target utilization");
            }
        }
        "pods" => {
            metric_name(at, faults);
            metric_target(&wanted, faults);
            if quantity(&average).is_none_or(|average| average.sign().is_le()) {
                faults.required(&average, "must specify a positive target averageValue");
            }
        }
        _ => {
            if name == "object" {
                target(&at.get("describedObject"), faults);
            }
            metric_name(at, faults);
            metric_target(&wanted, faults);
            if !value.is_set() && !average.is_set() {
                let detail = match name {
                    "object" => "must set either a target value or averageValue",
                    _ => "must set either a target value for metric or a per-pod target",
                };
                faults.required(&average, detail);
            }
            if value.is_set() && average.is_set() && name == "external" {
                faults.forbidden(
                    &value,
                    "may not set both a target value for metric and a per-pod target",
                );
            }
        }
    }
}

fn metric_name(at: &Located<'_>, faults: &mut Faults) {
    let name = at.at("metric.name");
    if name.str().is_empty() {
        faults.required(&name, "must specify a metric name");
    } else {
        faults.format(&name, path_segment);
    }
}

fn metric_target(at: &Located<'_>, faults: &mut Faults) {
    let r#type = at.get("type");
    if r#type.str().is_empty() {
        faults.required(&r#type, "must specify a metric target type");
    }
    if !matches!(r#type.str(), "Utilization" | "Value" | "AverageValue") {
        faults.invalid(&r#type, "must be either Utilization, Value, or AverageValue");
    }
    for name in ["value", "averageValue"] {
        if quantity(&at.get(name)).is_some_and(|value| value.sign().is_le()) {
            faults.invalid(&at.get(name), "must be positive");
        }
    }
    let utilization = at.get("averageUtilization");
    if utilization.is_set() && utilization.int() < 1 {
        faults.invalid(&utilization, "must be greater than 0");
    }
}

fn scaling_rules(at: &Located<'_>, faults: &mut Faults) {
    let window = at.get("stabilizationWindowSeconds");
    if window.int() < 0 {
        faults.invalid(&window, "must be greater than or equal to zero");
    }
    if window.int() > 3_600 {
        faults.invalid(&window, "must be less than or equal to 3600");
    }
    if at.get("selectPolicy").is_set() {
        faults.one_of(&at.get("selectPolicy"), &["Disabled", "Max", "Min"]);
    }
    let policies = at.get("policies");
    if policies.len() == 0 {
        faults.required(&policies, "must specify at least one Policy");
    }
    for policy in policies.items() {
        faults.one_of(&policy.get("type"), &["Percent", "Pods"]);
        for name in ["value", "periodSeconds"] {
            if policy.get(name).int() <= 0 {
                faults.invalid(&policy.get(name), "must be greater than zero");
            }
        }
        if policy.get("periodSeconds").int() > 1_800 {
            faults.invalid(&policy.get("periodSeconds"), "must be less than or equal to 1800");
        }
    }
    if quantity(&at.get("tolerance")).is_some_and(|tolerance| tolerance.sign().is_lt()) {
        faults.invalid(&at.get("tolerance"), NEGATIVE);
    }
}

pub(super) fn cells(row: &Row<'_>) -> Vec<Value> {
    let target = row.get("spec.scaleTargetRef");
    let reference = format!("{}/{}", target.get("kind").str(), target.get("name").str());
    let least = shown_or(&row.get("spec.minReplicas"), "<unset>");
    let most = row.int("spec.maxReplicas");
    vec![
        row.name(),
        json!(reference),
        json!(print_metrics(row)),
        least,
        most,
        row.int("status.currentReplicas"),
        row.age(),
    ]
}

fn print_metrics(row: &Row<'_>) -> String {
    let current: Vec<Located<'_>> = row.get("status.currentMetrics").items().collect();
    let specs = row.get("spec.metrics");
    let texts: Vec<String> = specs
        .items()
        .enumerate()
        .map(|(index, spec)| print_metric(&spec, current.get(index)))
        .collect();
    match texts.get(..2) {
        _ if texts.is_empty() => "<none>".to_owned(),
        Some(first) if texts.len() > 2 => format!("{} + {} more...", first.join(", "), texts.len() - 2),
        _ => texts.join(", "),
    }
}

fn print_metric(spec: &Located<'_>, status: Option<&Located<'_>>) -> String {
    let (name, takes_average, by_resource) = match spec.get("type").str() {
        "External" => ("external", false, false),
        "Object" => ("object", false, false),
        "Pods" => ("pods", true, false),
        "Resource" => ("resource", true, true),
        "ContainerResource" => ("containerResource", true, true),
        _ => return "<unknown type>".to_owned(),
    };
    let source = spec.get(name);
    let current = |field: &str| status.map(|status| status.get(name).get("current").get(field));
    let known = |field: &str| {
        current(field)
            .filter(Located::is_set)
            .map_or("<unknown>", |at| at.str())
    };
    let average = source.at("target.averageValue");
    let text = if average.is_set() {
        let suffix = if takes_average { "" } else { " (avg)" };
        format!("{}/{}{suffix}", known("averageValue"), average.str())
    } else if by_resource {
        let percent = |at: Option<Located<'_>>, fallback: &str| {
            at.and_then(|at| at.value.as_i64())
                .map_or(fallback.to_owned(), |number| format!("{number}%"))
        };
        let target = percent(Some(source.at("target.averageUtilization")), "<auto>");
        format!("{}/{target}", percent(current("averageUtilization"), "<unknown>"))
    } else {
        format!("{}/{}", known("value"), source.at("target.value").str())
    };
    if by_resource {
        format!("{}: {text}", source.get("name").str())
    } else {
        text
    }
}
