//! MutatingWebhookConfigurations and ValidatingWebhookConfigurations.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::webhook::{self, Tolerated, webhooks};
use crate::{
    kinds::{
        edit::{Fields, set},
        faults::Faults,
        kind::{BuiltInKind, Change, StructDefault, Warnings},
        located::Located,
        row::Row,
    },
    strategy::{Generation, Passes, Put, Rules},
};

pub(in crate::kinds) fn mutating() -> BuiltInKind {
    BuiltInKind {
        defaults: &[
            ("admissionregistration.v1.MutatingWebhook", |webhook| {
                default(webhook);
                set(webhook, "reinvocationPolicy", "Never");
            }),
            RULE,
            SERVICE,
        ],
        ..configuration()
    }
}

pub(in crate::kinds) fn validating() -> BuiltInKind {
    BuiltInKind {
        defaults: &[("admissionregistration.v1.ValidatingWebhook", default), RULE, SERVICE],
        ..configuration()
    }
}

const RULE: StructDefault = ("admissionregistration.v1.RuleWithOperations", |rule| {
    set(rule, "scope", "*");
});
const SERVICE: StructDefault = ("admissionregistration.v1.ServiceReference", |service| {
    set(service, "port", 443);
});

fn configuration() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            generation: Generation {
                counts_empty: true,
                ..Generation::COUNTED
            },
            put: Put::CONDITIONAL,
            passes: Passes::VALIDATE,
            ..Rules::default()
        },
        distinguishes_empty: &["webhooks"],
        validate: |at, faults| {
            validate(at, &Tolerated::default(), faults);
            name(at, faults);
        },
        validate_update: |new, old, faults| validate(new, &Tolerated::by(new, old), faults),
        warnings: excluded_resource_warnings,
        cells,
        ..BuiltInKind::default()
    }
}

fn default(webhook: &mut Fields) {
    set(webhook, "failurePolicy", "Fail");
    set(webhook, "matchPolicy", "Equivalent");
    set(webhook, "namespaceSelector", json!({}));
    set(webhook, "objectSelector", json!({}));
    set(webhook, "timeoutSeconds", 10);
}

fn validate(at: &Located<'_>, tolerated: &Tolerated, faults: &mut Faults) {
    let mut names = BTreeSet::new();
    for hook in webhooks(at) {
        webhook::validate(&hook, tolerated, faults);
        let name = hook.get("name");
        if !tolerated.same_names && !name.str().is_empty() && !names.insert(name.str()) {
            faults.duplicate(&name);
        }
    }
}

/// Names that a server with manifests of its own reserves for them.
const STATIC: &str = ".static.k8s.io";

/// The rule for the name of a new object of any kind of the group.
pub(super) fn name(at: &Located<'_>, faults: &mut Faults) {
    let name = at.at("metadata.name");
    if name.str().ends_with(STATIC) {
        let detail = format!(
            "names ending with {STATIC:?} are reserved for static manifest-based configurations and cannot be managed via the API"
        );
        faults.invalid(&name, &detail);
    }
}

/// The reviews. The server calls no webhook for them.
const EXCLUDED: [[&str; 2]; 6] = [
    ["authentication.k8s.io", "selfsubjectreviews"],
    ["authentication.k8s.io", "tokenreviews"],
    ["authorization.k8s.io", "localsubjectaccessreviews"],
    ["authorization.k8s.io", "selfsubjectaccessreviews"],
    ["authorization.k8s.io", "selfsubjectrulesreviews"],
    ["authorization.k8s.io", "subjectaccessreviews"],
];

/// Warns about rules that name reviews.
fn excluded_resource_warnings(Change { new, .. }: Change<'_, '_>) -> Warnings {
    let mut warnings = Warnings::new();
    for rule in webhooks(new).flat_map(|hook| hook.get("rules").items()) {
        let [groups, resources] = ["apiGroups", "resources"].map(|list| rule.get(list));
        if groups.items().chain(resources.items()).any(|item| item.str() == "*") {
            continue;
        }
        let mut seen = BTreeSet::new();
        for group in groups.items() {
            let named = resources.items().map(|resource| [group.str(), resource.str()]);
            for [group, resource] in named.filter(|named| EXCLUDED.contains(named) && seen.insert(*named)) {
                warnings.push(format!(
                    "{}: {resource}.{group} is excluded from admission webhooks; this rule will have no effect",
                    rule.path
                ));
            }
        }
    }
    warnings
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    vec![row.name(), json!(row.get("webhooks").len()), row.age()]
}
