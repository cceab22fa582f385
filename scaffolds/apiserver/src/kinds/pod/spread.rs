//! Topology spread constraints.

use crate::kinds::{
    faults::{Faults, quoted},
    labels::selector,
    located::Located,
    pod::label_keys::label_keys,
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
        label_keys(&constraint, faults);
        selector(&constraint.get("labelSelector"), faults);
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
