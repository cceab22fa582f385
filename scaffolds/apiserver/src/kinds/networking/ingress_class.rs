//! IngressClasses.

use serde_json::{Value, json};

use crate::{
    kinds::{
        edit::{Fields, set, within},
        faults::Faults,
        format::label,
        kind::BuiltInKind,
        located::Located,
        networking::reference::reference,
        row::Row,
    },
    strategy::{Generation, Passes, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            generation: Generation::COUNTED,
            passes: Passes::UPDATE_THEN_VALIDATE,
            ..Rules::default()
        },
        defaults: &[("networking.v1.IngressClass", default)],
        validate,
        validate_update,
        cells,
        ..BuiltInKind::default()
    }
}

fn default(object: &mut Fields) {
    if let Some(parameters) = within(object, "spec").and_then(|spec| within(spec, "parameters")) {
        set(parameters, "scope", "Cluster");
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let (controller, parameters) = (at.at("spec.controller"), at.at("spec.parameters"));
    if controller.str().len() > 250 {
        faults.too_long(&controller, 250);
    }
    faults.domain_prefixed_path(&controller);
    if !parameters.is_set() {
        return;
    }
    reference(&parameters, faults);
    let (scope, namespace) = (parameters.get("scope"), parameters.get("namespace"));
    faults.one_of(&scope, &["Cluster", "Namespace"]);
    match scope.str() {
        "Namespace" if namespace.is_set() => faults.format(&namespace, label),
        "Namespace" => faults.required(&namespace, "`parameters.scope` is set to 'Namespace'"),
        "Cluster" if namespace.is_set() => faults.forbidden(&namespace, "`parameters.scope` is set to 'Cluster'"),
        _ => {}
    }
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    faults.immutable_text(&new.at("spec.controller"), &old.at("spec.controller"));
    validate(new, faults);
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let parameters = row.get("spec.parameters");
    let text = if parameters.is_set() {
        let group = parameters.get("apiGroup");
        let group = if group.is_set() {
            format!(".{}", group.str())
        } else {
            String::new()
        };
        format!(
            "{}{group}/{}",
            parameters.get("kind").str(),
            parameters.get("name").str()
        )
    } else {
        "<none>".to_owned()
    };
    let annotations = row.get("metadata.annotations");
    let is_default = annotations.get("ingressclass.kubernetes.io/is-default-class").str() == "true";
    let name = format!(
        "{}{}",
        row.get("metadata.name").str(),
        if is_default { " (default)" } else { "" }
    );
    vec![json!(name), row.text("spec.controller"), json!(text), row.age()]
}
