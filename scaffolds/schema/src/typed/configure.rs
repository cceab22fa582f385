//! Merges the apply configurations of MutatingAdmissionPolicies into objects. Nobody owns the fields that they set.

use serde_json::Value;

use super::{
    form::{Form, Problem, describe},
    merge::merge,
    schema::{Id, ListType, Scalar, Schema},
    validate::{Duplicates, validate},
};
use kubewright_cel::policy::{Configuration, Unfit};

/// The object with the fields of a configuration of the same kind; not yet decoded or defaulted.
///
/// # Errors
/// In upstream's words: when the configuration does not match the schema, or sets a list or map that can only be replaced as a whole.
pub fn configure(schema: &Schema, live: &Value, configuration: &Configuration) -> Result<Value, String> {
    let Configuration { object, unfit } = configuration;
    let mut problems = validate(schema, object, Duplicates::Refused);
    unfit.iter().for_each(|unfit| find_unfit(schema, unfit, &mut problems));
    if !problems.is_empty() {
        let why = describe(&problems);
        return Err(format!("failed to convert patch object to typed object: {why}"));
    }
    let mut atomics = Vec::new();
    find_atomics(schema, schema.root, object, "", &mut atomics);
    if !atomics.is_empty() {
        let paths = atomics.join(", ");
        return Err(format!(
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: {paths}"
        ));
    }
    let problems = validate(schema, live, Duplicates::Allowed);
    if !problems.is_empty() {
        let why = describe(&problems);
        return Err(format!("failed to convert original object to typed object: {why}"));
    }
    merge(schema, live, object).map_err(|it| format!("failed to merge patch: {}", describe(&it)))
}

/// Tells of a value that no object can have, in place of what was found about its text, if that is all that is wrong.
fn find_unfit(schema: &Schema, unfit: &Unfit, problems: &mut Vec<Problem>) {
    let (text, go_type, source) = (&unfit.text, unfit.go_type, &unfit.source);
    let message = match form_at(schema, &unfit.path) {
        Form::Map(_) => format!("expected map, got &{{{text}}}"),
        Form::List(_) => format!("expected list, got &{{{text}}}"),
        Form::Scalar(Scalar::Numeric) => format!("expected numeric (int or float), got {go_type}"),
        Form::Scalar(Scalar::String) => format!("expected string, got &value.valueUnstructured{{Value:{source}}}"),
        Form::Scalar(Scalar::Boolean) => format!("expected boolean, got &{{{text}}}"),
        Form::Scalar(Scalar::Untyped) => format!("expected any scalar, got &{{{text}}}"),
    };
    let is_first = problems.is_empty();
    match problems.iter_mut().find(|problem| problem.path == unfit.path) {
        Some(problem) => problem.message = message,
        None if is_first => {
            let path = unfit.path.clone();
            problems.push(Problem { path, message });
        }
        None => {}
    }
}

/// The form that a value at a path must have.
fn form_at<'s>(schema: &'s Schema, path: &str) -> Form<'s> {
    let mut id = schema.root;
    for step in path.split(['.', '[']).skip(1) {
        let r#type = schema.get(id);
        let next = match step.strip_suffix(']') {
            Some(_) => r#type.list.as_ref().map(|list| list.element),
            None => r#type.map.as_ref().and_then(|map| map.at(step)),
        };
        id = next.unwrap_or(Id::DEDUCED);
    }
    schema.get(id).form()
}

/// The paths of the atomic lists and maps within a value. Those in entries of maps are not among them, as upstream.
fn find_atomics(schema: &Schema, id: Id, value: &Value, path: &str, found: &mut Vec<String>) {
    let r#type = schema.get(id);
    match (value, &r#type.map, &r#type.list) {
        (Value::Object(members), Some(map), _) => {
            if map.atomic {
                found.push(path.to_owned());
            }
            for (name, value) in members {
                if let Some(field) = map.fields.get(name) {
                    find_atomics(schema, field.id, value, &format!("{path}.{name}"), found);
                }
            }
        }
        (Value::Array(items), _, Some(list)) => {
            if list.kind == ListType::Atomic {
                found.push(path.to_owned());
            }
            for (index, item) in items.iter().enumerate() {
                find_atomics(schema, list.element, item, &format!("{path}[{index}]"), found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fit(object: Value) -> Configuration {
        let unfit = Vec::new();
        Configuration { object, unfit }
    }

    fn schema() -> Schema {
        let item = json!({"type": "object", "properties": {"name": {"type": "string"}, "n": {"type": "integer"},
            "args": {"type": "array", "items": {"type": "string"}}}});
        Schema::custom(
            &json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "items": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": item},
            "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"a": {"type": "integer"}}},
            "n": {"type": "integer"}}}}}),
        )
    }

    #[test]
    fn fields_and_items_of_a_configuration_are_merged() {
        let live = json!({"spec": {"n": 1, "items": [{"name": "a", "n": 1, "args": ["x"]}, {"name": "b"}]}});
        let configuration = fit(json!({"spec": {"items": [{"name": "a", "n": 2}, {"name": "c"}]}}));
        let merged = configure(&schema(), &live, &configuration).unwrap();
        assert_eq!(
            merged,
            json!({"spec": {"n": 1, "items": [{"name": "a", "n": 2, "args": ["x"]}, {"name": "b"}, {"name": "c"}]}})
        );
    }

    #[test]
    fn atomic_lists_and_maps_are_refused_with_their_paths() {
        let configuration = fit(json!({"spec": {"whole": {"a": 1}, "items": [{"name": "a", "args": []}]}}));
        let why = configure(&schema(), &json!({}), &configuration).unwrap_err();
        assert_eq!(
            why,
            "invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.items[0].args, .spec.whole"
        );
    }
}
