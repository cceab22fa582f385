//! The requests for which a webhook is called.

use std::collections::BTreeSet;

use crate::kinds::{faults::Faults, located::Located};

pub(super) fn validate(at: &Located<'_>, faults: &mut Faults) {
    let operations = at.get("operations");
    alone(&operations, "operations", faults);
    for operation in operations.items() {
        faults.one_of(&operation, &["*", "CONNECT", "CREATE", "DELETE", "UPDATE"]);
    }
    alone(&at.get("apiGroups"), "API groups", faults);
    let versions = at.get("apiVersions");
    alone(&versions, "API versions", faults);
    for version in versions.items().filter(|version| version.str().is_empty()) {
        faults.required(&version, "");
    }
    resources(&at.get("resources"), faults);
    let scope = at.get("scope");
    if scope.is_set() {
        faults.one_of(&scope, &["*", "Cluster", "Namespaced"]);
    }
}

/// A list that must not be empty, and in which `*` stands alone.
fn alone(at: &Located<'_>, what: &str, faults: &mut Faults) {
    match at.len() {
        0 => faults.required(at, ""),
        1 => {}
        _ if at.items().any(|item| item.str() == "*") => {
            faults.invalid(at, &format!("if '*' is present, must not specify other {what}"));
        }
        _ => {}
    }
}

fn resources(at: &Located<'_>, faults: &mut Faults) {
    if at.len() == 0 {
        faults.required(at, "");
    }
    // The resources of which all subresources are listed, and the subresources of all resources.
    let (mut whole, mut everywhere) = (BTreeSet::new(), BTreeSet::new());
    // As upstream, the last resource without a subresource decides.
    let mut has_plain = false;
    for item in at.items() {
        let Some((resource, subresource)) = item.str().split_once('/') else {
            match item.str() {
                "" => faults.required(&item, ""),
                name => has_plain = name != "*",
            }
            continue;
        };
        let (shown, mut already) = (item.str(), Vec::new());
        if whole.contains(resource) {
            already.push(format!("{resource}/*"));
        }
        if everywhere.contains(subresource) {
            already.push(format!("*/{subresource}"));
        }
        for present in already {
            faults.invalid(&item, &format!("if '{present}' is present, must not specify {shown}"));
        }
        if subresource == "*" {
            whole.insert(resource);
        }
        if resource == "*" {
            everywhere.insert(subresource);
        }
    }
    let has = |wanted: &str| at.items().any(|item| item.str() == wanted);
    if at.len() > 1 && has("*/*") {
        faults.invalid(at, "if '*/*' is present, must not specify other resources");
    }
    if has("*") && has_plain {
        let detail = "if '*' is present, must not specify other resources without subresources";
        faults.invalid(at, detail);
    }
}
