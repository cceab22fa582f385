//! The requests that a policy matches (`MatchResources`).

use std::collections::BTreeSet;

use serde_json::json;

use super::{rule, webhook::one_of};
use crate::kinds::{
    edit::set, faults::Faults, format::path_segment, kind::StructDefault, labels::selector, located::Located,
};

/// The defaults of the structs.
pub(super) const DEFAULTS: [StructDefault; 2] = [
    ("admissionregistration.v1.MatchResources", |matching| {
        set(matching, "matchPolicy", "Equivalent");
        set(matching, "namespaceSelector", json!({}));
        set(matching, "objectSelector", json!({}));
    }),
    ("admissionregistration.v1.NamedRuleWithOperations", |rule| {
        set(rule, "scope", "*");
    }),
];

pub(super) fn validate(at: &Located<'_>, faults: &mut Faults) {
    one_of(&at.get("matchPolicy"), &["Equivalent", "Exact"], faults);
    selector(&at.get("namespaceSelector"), faults);
    selector(&at.get("objectSelector"), faults);
    for rules in ["resourceRules", "excludeResourceRules"] {
        for item in at.get(rules).items() {
            names(&item.get("resourceNames"), faults);
            rule::validate(&item, faults);
        }
    }
}

/// Checks the operations of a policy that mutates: there is no object to change in a deletion.
pub(super) fn mutable(at: &Located<'_>, faults: &mut Faults) {
    let path = format!("{}.resourceRules.operations", at.path);
    for rule in at.get("resourceRules").items() {
        for operation in rule.get("operations").items() {
            faults.one_of(&operation.called(&path), &["*", "CONNECT", "CREATE", "UPDATE"]);
        }
    }
}

fn names(at: &Located<'_>, faults: &mut Faults) {
    let mut seen = BTreeSet::new();
    for name in at.items() {
        faults.format(&name, path_segment);
        if !seen.insert(name.str()) {
            faults.duplicate(&name);
        }
    }
}
