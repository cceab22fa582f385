//! Placement: the nodes on which a Pod may run, by name, selector, required affinity and taints.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    behaviour::ANNOTATION,
    fields::{annotation, items, text},
    lost::UNREACHABLE,
    node,
};
use crate::{meta, select::LabelSelector};

/// The taint of a node that is cordoned.
const CORDONED: &str = "node.kubernetes.io/unschedulable";
const FIELD: &str = "metadata.name";

/// A node, as far as the placement of Pods depends on it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NodeView {
    name: String,
    labels: BTreeMap<String, String>,
    pub taints: Vec<Value>,
    is_cordoned: bool,
    /// Whether the kubelet reports the Pods of the node.
    pub has_kubelet: bool,
    /// Whether the kubelet has stopped reporting.
    pub is_lost: bool,
}

/// Whether a new Pod may run on a node, and whether one that runs there may stay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NodeFit {
    pub runs: bool,
    pub stays: bool,
}

impl NodeView {
    /// The view of a node; `None` if it is being deleted.
    pub fn of(object: &Value) -> Option<Self> {
        let labels = meta::of(object).get("labels").and_then(Value::as_object);
        let labels = labels.into_iter().flatten();
        let name = meta::text(object, "name");
        let is_lost = annotation(object, ANNOTATION) == Some("lost");
        (!meta::is_deleting(object)).then(|| Self {
            name: name.to_owned(),
            labels: labels
                .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
                .collect(),
            taints: items(object, "/spec/taints").to_vec(),
            is_cordoned: object["spec"]["unschedulable"] == true,
            has_kubelet: !is_lost && (name == node::NAME || annotation(object, ANNOTATION).is_some()),
            is_lost,
        })
    }

    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.get(name).map(String::as_str)
    }

    /// Whether the scheduler assigns a Pod to the node. A Pod on a cordoned or lost node has to tolerate its taint.
    pub fn takes(&self, pod: &Value) -> bool {
        let is_lost = self.taints.iter().any(|it| it["key"] == UNREACHABLE);
        let closed = [(self.is_cordoned, CORDONED), (is_lost, UNREACHABLE)];
        let mut closed = closed.iter().filter(|(is_closed, _)| *is_closed);
        closed.all(|(_, key)| is_tolerated(&pod["spec"], &json!({"key": key, "effect": "NoSchedule"})))
    }

    /// Whether Pods of the node may have to leave it.
    pub fn evicts(&self) -> bool {
        self.is_lost || self.taints.iter().any(|it| it["effect"] == "NoExecute")
    }

    /// Whether a Pod with this spec fits.
    pub fn fit(&self, spec: &Value) -> NodeFit {
        let is_named = ["", &self.name].contains(&text(spec, "/nodeName"));
        let untolerated = |effects: &[&str]| {
            let mut taints = self.taints.iter().filter(|it| effects.contains(&text(it, "/effect")));
            taints.any(|taint| !is_tolerated(spec, taint))
        };
        let is_selected = is_named && self.is_selected(spec);
        NodeFit {
            runs: is_selected && !untolerated(&["NoSchedule", "NoExecute"]),
            stays: is_selected && !untolerated(&["NoExecute"]),
        }
    }

    fn is_selected(&self, spec: &Value) -> bool {
        let selector = LabelSelector::of(&json!({"matchLabels": spec["nodeSelector"]}));
        let required = &spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
        let name = BTreeMap::from([(FIELD.to_owned(), self.name.clone())]);
        let meets = |term: &Value| {
            let [labels, fields] = ["matchExpressions", "matchFields"]
                .map(|list| LabelSelector::of(&json!({"matchExpressions": term[list]})));
            // A term without requirements selects nothing.
            !(labels.is_empty() && fields.is_empty()) && labels.matches(&self.labels) && fields.matches(&name)
        };
        let is_near = required.is_null() || items(required, "/nodeSelectorTerms").iter().any(meets);
        selector.matches(&self.labels) && is_near
    }
}

/// The name of the node for which a Pod was created: the node that it is assigned to, or the only one that its required
/// affinity names.
pub(super) fn target(pod: &Value) -> Option<&str> {
    let assigned = text(pod, "/spec/nodeName");
    if !assigned.is_empty() {
        return Some(assigned);
    }
    let terms = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
    let fields = items(pod, terms).iter().flat_map(|term| items(term, "/matchFields"));
    let mut named = fields.filter(|it| it["key"] == FIELD && it["operator"] == "In");
    match items(named.next()?, "/values") {
        [Value::String(name)] => Some(name),
        _ => None,
    }
}

/// The affinity with this node alone as the required one.
pub(super) fn toward(affinity: &Value, node: &str) -> Value {
    let mut affinity = affinity.clone();
    let fields = json!([{"key": FIELD, "operator": "In", "values": [node]}]);
    affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
        json!({"nodeSelectorTerms": [{"matchFields": fields}]});
    affinity
}

fn is_tolerated(spec: &Value, taint: &Value) -> bool {
    items(spec, "/tolerations").iter().any(|it| tolerates(it, taint))
}

/// Whether a toleration matches a taint.
pub(super) fn tolerates(toleration: &Value, taint: &Value) -> bool {
    let is = |field: &str| {
        let wanted = text(toleration, field);
        wanted.is_empty() || wanted == text(taint, field)
    };
    let exists = toleration["operator"] == "Exists";
    is("/effect") && is("/key") && (exists || text(toleration, "/value") == text(taint, "/value"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(spec: &Value) -> NodeView {
        let labels = json!({"zone": "a", "cores": "8"});
        NodeView::of(&json!({"metadata": {"name": "one", "labels": labels}, "spec": spec})).unwrap()
    }

    fn runs(spec: &Value) -> bool {
        node(&json!({})).fit(spec).runs
    }

    fn required(terms: &Value) -> Value {
        let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
        json!({"affinity": {"nodeAffinity": required}})
    }

    #[test]
    fn a_node_is_selected_by_name_labels_and_any_term_with_requirements() {
        let term = |list: &str, key: &str, operator: &str, values: Value| {
            required(&json!([{list: [{"key": key, "operator": operator, "values": values}]}]))
        };
        assert!(runs(&json!({})) && runs(&json!({"nodeName": "one"})) && !runs(&json!({"nodeName": "two"})));
        assert!(runs(&json!({"nodeSelector": {"zone": "a"}})) && !runs(&json!({"nodeSelector": {"zone": "b"}})));
        assert!(runs(&term("matchExpressions", "zone", "In", json!(["a", "b"]))));
        assert!(!runs(&term("matchExpressions", "zone", "NotIn", json!(["a"]))));
        assert!(runs(&term("matchExpressions", "cores", "Gt", json!(["7"]))));
        assert!(!runs(&term("matchExpressions", "cores", "Lt", json!(["8"]))));
        assert!(runs(&term("matchFields", "metadata.name", "In", json!(["one"]))));
        assert!(!runs(&term("matchFields", "metadata.name", "NotIn", json!(["one"]))));
        assert!(!runs(&required(&json!([{}]))));
        let either = json!([{}, {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}]);
        assert!(runs(&required(&either)));
    }

    #[test]
    fn a_taint_keeps_pods_away_and_one_that_evicts_ends_them() {
        let tainted = |effect: &str| node(&json!({"taints": [{"key": "k", "value": "v", "effect": effect}]}));
        let fit = |effect: &str, toleration: Value| {
            let fit = tainted(effect).fit(&json!({"tolerations": [toleration]}));
            [fit.runs, fit.stays]
        };
        assert_eq!(fit("PreferNoSchedule", json!({"key": "x"})), [true, true]);
        assert_eq!(fit("NoSchedule", json!({"key": "k", "value": "x"})), [false, true]);
        assert_eq!(fit("NoExecute", json!({"key": "k", "value": "x"})), [false, false]);
        assert_eq!(fit("NoExecute", json!({"key": "k", "value": "v"})), [true, true]);
        assert_eq!(
            fit("NoExecute", json!({"operator": "Exists", "effect": "NoSchedule"})),
            [false, false]
        );
        assert_eq!(fit("NoSchedule", json!({"operator": "Exists"})), [true, true]);
    }
}
