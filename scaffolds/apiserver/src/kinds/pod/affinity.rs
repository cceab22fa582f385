//! Affinity of Pods to nodes and to other Pods.

use crate::kinds::{
    faults::{Faults, quoted},
    format::{label, qualified},
    labels::selector,
    located::Located,
    node_selector::{node_selector, node_term},
    pod::label_keys::label_keys,
};

pub(in crate::kinds) fn affinity(at: &Located<'_>, faults: &mut Faults) {
    let node = at.get("nodeAffinity");
    let required = node.get("requiredDuringSchedulingIgnoredDuringExecution");
    if required.is_set() {
        node_selector(&required, faults);
    }
    for term in node.get("preferredDuringSchedulingIgnoredDuringExecution").items() {
        if term.get("weight").int() <= 0 || term.get("weight").int() > 100 {
            faults.invalid(&term.get("weight"), "must be in the range 1-100");
        }
        node_term(&term.get("preference"), false, faults);
    }
    for name in ["podAffinity", "podAntiAffinity"] {
        let pods = at.get(name);
        for term in pods.get("requiredDuringSchedulingIgnoredDuringExecution").items() {
            affinity_term(&term, faults);
        }
        for term in pods.get("preferredDuringSchedulingIgnoredDuringExecution").items() {
            weight(&term, faults);
            affinity_term(&term.get("podAffinityTerm"), faults);
        }
    }
}

fn affinity_term(term: &Located<'_>, faults: &mut Faults) {
    selector(&term.get("labelSelector"), faults);
    selector(&term.get("namespaceSelector"), faults);
    for name in term.get("namespaces").items() {
        about(&term.get("namespace"), name.str(), label(name.str()), faults);
    }
    label_keys(term, faults);
    let key = term.get("topologyKey");
    if key.str().is_empty() {
        faults.required(&key, "can not be empty");
    }
    about(&key, key.str(), qualified(key.str()), faults);
}

fn weight(term: &Located<'_>, faults: &mut Faults) {
    if !(1..=100).contains(&term.get("weight").int()) {
        faults.invalid(&term.get("weight"), "must be in the range 1-100");
    }
}

pub(in crate::kinds) fn about(at: &Located<'_>, text: &str, sentences: Vec<String>, faults: &mut Faults) {
    for sentence in sentences {
        faults.invalid_as(at, &quoted(text), &sentence);
    }
}
