//! The scopes of quotas: which Pods and claims a quota is about.

use std::collections::BTreeSet;

use serde_json::Value;

use super::measure::Measure;

/// One condition of a quota, from `scopes` or `scopeSelector`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct QuotaScope {
    name: String,
    operator: String,
    values: Vec<String>,
}

impl QuotaScope {
    /// The conditions in the spec of a quota.
    pub fn of(spec: &Value) -> Vec<Self> {
        let list = |at: &Value| at.as_array().cloned().unwrap_or_default();
        let text = |at: &Value| at.as_str().unwrap_or_default().to_owned();
        let plain = list(&spec["scopes"]).into_iter().map(|name| Self {
            name: text(&name),
            operator: "Exists".to_owned(),
            values: Vec::new(),
        });
        let selected = list(&spec["scopeSelector"]["matchExpressions"]);
        let selected = selected.into_iter().map(|it| Self {
            name: text(&it["scopeName"]),
            operator: text(&it["operator"]),
            values: list(&it["values"]).iter().map(text).collect(),
        });
        plain.chain(selected).collect()
    }

    /// Whether an object is in the scope. Only Pods and claims can be.
    pub fn holds(&self, measure: Measure<'_>, object: &Value) -> bool {
        match measure {
            Measure::Pods => self.holds_pod(object),
            Measure::VolumeClaims if self.name == "VolumeAttributesClass" => {
                self.holds_any(&attributes_classes(object))
            }
            _ => false,
        }
    }

    fn holds_pod(&self, pod: &Value) -> bool {
        match self.name.as_str() {
            "Terminating" => is_terminating(pod),
            "NotTerminating" => !is_terminating(pod),
            "BestEffort" => is_best_effort(pod),
            "NotBestEffort" => !is_best_effort(pod),
            "PriorityClass" => {
                let class = pod.pointer("/spec/priorityClassName").and_then(Value::as_str);
                self.holds_any(&class.filter(|class| !class.is_empty()).into_iter().collect())
            }
            "CrossNamespacePodAffinity" => crosses_namespaces(pod),
            _ => false,
        }
    }

    /// Whether the operator accepts one of the names, or their absence.
    fn holds_any(&self, names: &BTreeSet<&str>) -> bool {
        let is_listed = |name: &&str| self.values.iter().any(|value| value == name);
        match self.operator.as_str() {
            "Exists" => !names.is_empty(),
            "DoesNotExist" => names.is_empty(),
            "In" => names.iter().any(is_listed),
            "NotIn" => names.is_empty() || !names.iter().all(is_listed),
            _ => false,
        }
    }
}

/// Whether a Pod ends by itself.
pub(super) fn is_terminating(pod: &Value) -> bool {
    let deadline = pod.pointer("/spec/activeDeadlineSeconds").and_then(Value::as_i64);
    deadline.is_some_and(|seconds| seconds >= 0)
}

fn is_best_effort(pod: &Value) -> bool {
    pod.pointer("/status/qosClass").and_then(Value::as_str) == Some("BestEffort")
}

fn crosses_namespaces(pod: &Value) -> bool {
    let is_list = |value: &Value| value.as_array().is_some_and(|list| !list.is_empty());
    let crosses = |term: &Value| is_list(&term["namespaces"]) || term["namespaceSelector"].is_object();
    let terms = |at: &str| pod.pointer(at).and_then(Value::as_array).cloned().unwrap_or_default();
    ["podAffinity", "podAntiAffinity"].iter().any(|side| {
        let at = |rule: &str| format!("/spec/affinity/{side}/{rule}DuringSchedulingIgnoredDuringExecution");
        let weighted = terms(&at("preferred"));
        terms(&at("required")).iter().any(crosses) || weighted.iter().any(|it| crosses(&it["podAffinityTerm"]))
    })
}

fn attributes_classes(claim: &Value) -> BTreeSet<&str> {
    let places = [
        "/spec/volumeAttributesClassName",
        "/status/currentVolumeAttributesClassName",
        "/status/modifyVolumeStatus/targetVolumeAttributesClassName",
    ];
    let names = places.iter().filter_map(|at| claim.pointer(at)?.as_str());
    names.filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn holds(spec: Value, pod: &Value) -> bool {
        QuotaScope::of(&spec)
            .iter()
            .all(|scope| scope.holds(Measure::Pods, pod))
    }

    #[test]
    fn a_priority_class_is_selected_by_each_operator() {
        let selector = |operator: &str, values: &[&str]| {
            json!({"scopeSelector": {"matchExpressions": [
                {"scopeName": "PriorityClass", "operator": operator, "values": values}]}})
        };
        let (high, none) = (json!({"spec": {"priorityClassName": "high"}}), json!({"spec": {}}));
        for (operator, values, of_high, of_none) in [
            ("Exists", &[][..], true, false),
            ("DoesNotExist", &[], false, true),
            ("In", &["high", "low"], true, false),
            ("In", &["low"], false, false),
            ("NotIn", &["high"], false, true),
            ("NotIn", &["low"], true, true),
        ] {
            let found = [&high, &none].map(|pod| holds(selector(operator, values), pod));
            assert_eq!(found, [of_high, of_none], "{operator} {values:?}");
        }
    }

    #[test]
    fn affinity_to_other_namespaces_is_found_in_each_place() {
        let spec = json!({"scopes": ["CrossNamespacePodAffinity"]});
        let pod = |side: &str, rule: &str, term: Value| json!({"spec": {"affinity": {side: {rule: [term]}}}});
        let [required, preferred] =
            ["required", "preferred"].map(|rule| format!("{rule}DuringSchedulingIgnoredDuringExecution"));
        assert!(holds(
            spec.clone(),
            &pod("podAffinity", &required, json!({"namespaces": ["a"]}))
        ));
        let weighted = json!({"weight": 1, "podAffinityTerm": {"namespaceSelector": {}}});
        assert!(holds(spec.clone(), &pod("podAntiAffinity", &preferred, weighted)));
        assert!(!holds(
            spec,
            &pod("podAffinity", &required, json!({"topologyKey": "zone"}))
        ));
    }
}
