//! The node selector and the node affinity of a Pod with scheduling gates: a client may add conditions for nodes.

use serde_json::{Value, json};

use crate::kinds::{edit::keep, faults::Faults, internal::in_go, located::Located, semantic};

const TERMS: &str = "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
/// The definition of one of them.
const TERM: &str = "core.v1.NodeSelectorTerm";
const LISTS: [&str; 2] = ["matchExpressions", "matchFields"];

/// Checks the changes of node selector and node affinity, and reverts them in `rest`, a copy of the new spec.
pub(super) fn only_adds_conditions(spec: &Located<'_>, before: &Located<'_>, rest: &mut Value, faults: &mut Faults) {
    let (selector, was) = (spec.get("nodeSelector"), before.get("nodeSelector"));
    if !was.entries().all(|(key, label)| selector.get(key).value == label.value) {
        let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        faults.invalid(&selector, detail);
    }
    keep(rest, before.value, "nodeSelector");

    let [now, then] = [spec, before].map(|spec| spec.at("affinity.nodeAffinity"));
    if semantic::equal("core.v1.NodeAffinity", now.value, then.value) {
        return;
    }
    terms(&now.at(TERMS), &then.at(TERMS), faults);
    let affinity = spec.get("affinity");
    let of_pods = ["podAffinity", "podAntiAffinity"].map(|kind| affinity.get(kind).is_set());
    if !before.get("affinity").is_set() && of_pods == [false, false] {
        return keep(rest, before.value, "affinity");
    }
    if !affinity.is_set() {
        rest["affinity"] = json!({});
    }
    keep(&mut rest["affinity"], before.get("affinity").value, "nodeAffinity");
}

/// A Pod without terms may get any terms. Otherwise their number must stay the same, and conditions may only be added.
fn terms(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    if old.len() > 0 && old.len() != new.len() {
        let terms: Vec<String> = new.items().map(|term| in_go(TERM, term.value)).collect();
        let terms = match new.is_set() {
            true => format!("[{}]", terms.join(",")),
            false => "null".to_owned(),
        };
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        return faults.invalid_as(new, &terms, detail);
    }
    for (new, _) in new.items().zip(old.items()).filter(|(new, old)| !extends(new, old)) {
        faults.invalid_as(
            &new,
            &in_go(TERM, new.value),
            "only additions are allowed (no mutations or deletions)",
        );
    }
}

/// Whether a term begins with the conditions of the old one. A term without conditions matches no node, and must not get
/// conditions.
fn extends(new: &Located<'_>, old: &Located<'_>) -> bool {
    let lists = LISTS.map(|list| (new.get(list), old.get(list)));
    if lists.iter().all(|(_, old)| old.len() == 0) {
        return lists.iter().all(|(new, _)| new.len() == 0);
    }
    lists.iter().all(|(new, old)| {
        let mut pairs = new.items().zip(old.items());
        new.len() >= old.len() && pairs.all(|(new, old)| new.is_like(&old))
    })
}
