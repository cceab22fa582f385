//! Node selectors, and deprecated node labels.

use crate::kinds::{
    faults::Faults,
    format::{label_value, qualified},
    kind::Warnings,
    labels,
    located::Located,
};

/// Validates a NodeSelector.
pub(in crate::kinds) fn node_selector(at: &Located<'_>, faults: &mut Faults) {
    let terms = at.get("nodeSelectorTerms");
    if terms.len() == 0 {
        faults.required(&terms, "must have at least one node selector term");
    }
    terms.items().for_each(|term| node_term(&term, true, faults));
}

/// Validates a term for a node's labels and fields. Label values are checked only if `is_required`; otherwise invalid
/// values cause warnings.
pub(in crate::kinds) fn node_term(term: &Located<'_>, is_required: bool, faults: &mut Faults) {
    for expression in term.get("matchExpressions").items() {
        let (operator, values) = (expression.get("operator"), expression.get("values"));
        match operator.str() {
            "Gt" | "Lt" if values.len() != 1 => {
                faults.required(
                    &values,
                    "must be specified single value when `operator` is 'Lt' or 'Gt'",
                );
            }
            "Gt" | "Lt" => {}
            _ => labels::operator(&expression, faults),
        }
        faults.format(&expression.get("key"), qualified);
        if is_required {
            values.items().for_each(|value| faults.format(&value, label_value));
        }
    }
    for field in term.get("matchFields").items() {
        let (operator, values, key) = (field.get("operator"), field.get("values"), field.get("key"));
        match operator.str() {
            "In" | "NotIn" if values.len() != 1 => {
                faults.required(
                    &values,
                    "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
                );
            }
            "In" | "NotIn" => {}
            _ => faults.invalid(&operator, "not a valid selector operator"),
        }
        if key.str() != "metadata.name" {
            faults.invalid(&key, "not a valid field selector key");
        }
    }
}

/// Deprecated node labels, and the labels that replace them.
const NODE_LABELS: [(&str, &str); 8] = [
    (
        "beta.kubernetes.io/arch",
        "deprecated since v1.14; use \"kubernetes.io/arch\" instead",
    ),
    (
        "beta.kubernetes.io/os",
        "deprecated since v1.14; use \"kubernetes.io/os\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
    (
        "beta.kubernetes.io/instance-type",
        "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead",
    ),
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
    (
        "node-role.kubernetes.io/master",
        "use \"node-role.kubernetes.io/control-plane\" instead",
    ),
];

pub(in crate::kinds) fn outdated(label: &str) -> Option<&'static str> {
    let found = NODE_LABELS.iter().find(|(name, _)| *name == label);
    found.map(|(_, why)| *why)
}

/// Warns about deprecated labels in a term of a NodeSelector, and about invalid values where these are not errors.
pub(in crate::kinds) fn warn_of_labels(term: &Located<'_>, values: bool, warnings: &mut Warnings) {
    for expression in term.get("matchExpressions").items() {
        let key = expression.get("key");
        warnings.extend(outdated(key.str()).map(|why| format!("{}: {} is {why}", key.path, key.str())));
        for value in expression.get("values").items().filter(|_| values) {
            let sentences = label_value(value.str());
            warnings.extend(
                sentences
                    .iter()
                    .map(|why| format!("{}: {} is invalid, {why}", value.path, value.str())),
            );
        }
    }
}
