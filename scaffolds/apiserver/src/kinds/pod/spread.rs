//! Topology spread constraints.

use crate::kinds::{
    faults::{Faults, quoted},
    format::qualified,
    labels::selector,
    located::Located,
};

pub(in crate::kinds) fn spread(at: &Located<'_>, faults: &mut Faults) {
    for (index, constraint) in at.items().enumerate() {
        let skew = constraint.get("maxSkew");
        if skew.int() <= 0 {
            faults.invalid_as(&skew, &skew.int().to_string(), "must be greater than zero");
        }
        let key = constraint.get("topologyKey");
        if key.str().is_empty() {
            faults.required(&key, "can not be empty");
        }
        faults.one_of(
            &constraint.get("whenUnsatisfiable"),
            &["DoNotSchedule", "ScheduleAnyway"],
        );
        once(at, index, &constraint, faults);
        let domains = constraint.get("minDomains");
        if domains.is_set() {
            least_domains(&domains, constraint.get("whenUnsatisfiable").str(), faults);
        }
        for policy in ["nodeAffinityPolicy", "nodeTaintsPolicy"].map(|name| constraint.get(name)) {
            if policy.is_set() {
                faults.one_of(&policy, &["Honor", "Ignore"]);
            }
        }
        keys(&constraint, faults);
        selector(&constraint.get("labelSelector"), faults);
    }
}

/// Validates the labels whose values the Pods share. They may not be in the selector too.
fn keys(constraint: &Located<'_>, faults: &mut Faults) {
    let (keys, selector) = (constraint.get("matchLabelKeys"), constraint.get("labelSelector"));
    if keys.len() == 0 {
        return;
    }
    if !selector.is_set() {
        return faults.forbidden(&keys, "must not be specified when labelSelector is not set");
    }
    let names: Vec<&str> = keys.items().map(|key| key.str()).collect();
    keys.items().for_each(|key| faults.format(&key, qualified));
    let mut selected: Vec<&str> = selector.get("matchLabels").entries().map(|(key, _)| key).collect();
    for expression in selector.get("matchExpressions").items() {
        let key = expression.get("key").str();
        let index = names
            .iter()
            .rposition(|name| *name == key)
            .filter(|_| selected.contains(&key));
        if let Some(index) = index {
            let place = constraint.called(&format!("{}[{index}]", constraint.path));
            faults.invalid_as(&place, &quoted(key), "exists in both matchLabelKeys and labelSelector");
        }
        selected.push(key);
    }
}

/// Reports each constraint that a later one with the same key and action duplicates.
fn once(all: &Located<'_>, index: usize, constraint: &Located<'_>, faults: &mut Faults) {
    let kind = |at: &Located<'_>| ["topologyKey", "whenUnsatisfiable"].map(|name| at.get(name).str().to_owned());
    let this = kind(constraint);
    if all.items().skip(index + 1).any(|later| kind(&later) == this) {
        let shown = format!("{{{}}}", this.join(", "));
        faults.duplicate_as(&constraint.get("{topologyKey, whenUnsatisfiable}"), &quoted(&shown));
    }
}

fn least_domains(at: &Located<'_>, action: &str, faults: &mut Faults) {
    if at.int() <= 0 {
        faults.invalid(at, "must be greater than zero");
    }
    if action != "DoNotSchedule" {
        let detail = format!("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}");
        faults.invalid(at, &detail);
    }
}
