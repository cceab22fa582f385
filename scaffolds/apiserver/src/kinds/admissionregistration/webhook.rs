//! One webhook of a configuration.

use std::collections::BTreeSet;

use kubewright_machinery::names::{Unit, label_1035};
use kubewright_schema::{condition::Condition, policy::Refused};
use serde_json::Value;

use super::{client_config, expressions, rule};
use crate::kinds::{
    faults::Faults,
    format::subdomain,
    labels::{is_sound, selector, selector_with},
    located::Located,
};

/// The versions of AdmissionReview that the server can send.
const REVIEWS: [&str; 2] = ["v1", "v1beta1"];
const HARMLESS: [&str; 2] = ["None", "NoneOnDryRun"];
const SIDE_EFFECTS: [&str; 4] = ["None", "NoneOnDryRun", "Some", "Unknown"];

/// The faults of a stored configuration that an update may leave as they are.
#[derive(Default)]
pub(super) struct Tolerated {
    /// Some webhook has side effects.
    pub side_effects: bool,
    /// Some webhook accepts no version that the server can send.
    pub reviews: bool,
    /// Two webhooks have the same name.
    pub same_names: bool,
    /// Some selector is invalid.
    pub selectors: bool,
    /// No condition has changed.
    pub conditions: bool,
}

pub(super) fn webhooks<'a>(configuration: &Located<'a>) -> impl Iterator<Item = Located<'a>> + use<'a> {
    configuration.get("webhooks").items()
}

impl Tolerated {
    /// The faults of the present configuration, which the next one may keep.
    pub fn by(new: &Located<'_>, old: &Located<'_>) -> Self {
        let mut names = BTreeSet::new();
        let conditions = |at: &Located<'_>| {
            webhooks(at)
                .map(|hook| hook.get("matchConditions").value.clone())
                .collect()
        };
        let (next, present): (Vec<Value>, Vec<Value>) = (conditions(new), conditions(old));
        Self {
            side_effects: webhooks(old).any(|hook| !HARMLESS.contains(&hook.get("sideEffects").str())),
            reviews: webhooks(old).any(|hook| {
                let versions = hook.get("admissionReviewVersions");
                versions.len() > 0 && !versions.items().any(|version| REVIEWS.contains(&version.str()))
            }),
            same_names: webhooks(old).any(|hook| !names.insert(hook.get("name").str())),
            selectors: webhooks(old).any(|hook| {
                let selectors = [hook.get("namespaceSelector"), hook.get("objectSelector")];
                selectors.iter().any(|selector| !is_sound(selector))
            }),
            conditions: next == present,
        }
    }
}

pub(super) fn validate(hook: &Located<'_>, tolerated: &Tolerated, faults: &mut Faults) {
    name(&hook.get("name"), faults);
    hook.get("rules").items().for_each(|item| rule::validate(&item, faults));
    one_of(&hook.get("failurePolicy"), &["Fail", "Ignore"], faults);
    one_of(&hook.get("matchPolicy"), &["Equivalent", "Exact"], faults);
    side_effects(&hook.get("sideEffects"), tolerated, faults);
    let timeout = hook.get("timeoutSeconds");
    if timeout.is_set() && !(1..=30).contains(&timeout.int()) {
        faults.invalid(&timeout, "the timeout value must be between 1 and 30 seconds");
    }
    for at in [hook.get("namespaceSelector"), hook.get("objectSelector")] {
        if tolerated.selectors {
            selector_with(&at, false, faults);
        } else {
            selector(&at, faults);
        }
    }
    one_of(&hook.get("reinvocationPolicy"), &["IfNeeded", "Never"], faults);
    client_config::validate(&hook.get("clientConfig"), faults);
    if !tolerated.conditions {
        let refuse = |text: &str| Condition::compile(text).err().map(Refused::Invalid);
        expressions::conditions(&hook.get("matchConditions"), refuse, faults);
    }
    reviews(&hook.get("admissionReviewVersions"), tolerated, faults);
}

/// A text that may be missing.
pub(super) fn one_of(at: &Located<'_>, known: &[&str], faults: &mut Faults) {
    if at.is_set() {
        faults.one_of(at, known);
    }
}

fn name(at: &Located<'_>, faults: &mut Faults) {
    let name = at.str();
    let wrong = subdomain(name).join(",");
    if name.is_empty() {
        faults.required(at, "");
    } else if !wrong.is_empty() {
        faults.invalid(at, &wrong);
    } else if name.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        faults.invalid(at, detail);
    }
}

fn side_effects(at: &Located<'_>, tolerated: &Tolerated, faults: &mut Faults) {
    let allowed: &[&str] = if tolerated.side_effects {
        &SIDE_EFFECTS
    } else {
        &HARMLESS
    };
    if !at.is_set() {
        faults.required(at, &format!("must specify one of {}", allowed.join(", ")));
    }
    one_of(at, allowed, faults);
}

fn reviews(at: &Located<'_>, tolerated: &Tolerated, faults: &mut Faults) {
    let known = REVIEWS.join(", ");
    if at.len() == 0 {
        return faults.required(at, &format!("must specify one of {known}"));
    }
    let mut seen = BTreeSet::new();
    for version in at.items() {
        if seen.insert(version.str()) {
            faults.format(&version, |text| label_1035(text, Unit::Bytes));
        } else {
            faults.invalid(&version, "duplicate version");
        }
    }
    if !tolerated.reviews && !REVIEWS.iter().any(|known| seen.contains(known)) {
        faults.invalid(at, &format!("must include at least one of {known}"));
    }
}
