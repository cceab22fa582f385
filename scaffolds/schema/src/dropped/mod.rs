//! Finds keywords of a schema that kube-derive would drop silently, because its Rust type for schemas has no such field, and values that would
//! make it panic.
//!
//! # Misspelt attributes do not compile
//! The derives refuse attributes that they do not know. Only `extend` accepts any key, and this module checks those keys. In each pair
//! of examples below, the second one has one misspelt word.
#![doc = include_str!("misspelt.md")]

mod keyword;
mod panics;

pub(crate) use panics::{Cause, causes, place};

use crate::finding::Finding;
use keyword::Shape;
use serde_json::{Map, Value};

/// The key that kube-derive writes for `merge_strategy = StructMerge`; in the API server it is `x-kubernetes-map-type`.
pub(crate) const STRUCT_TYPE: &str = "x-kubernetes-struct-type";

/// The markers of unions, with the names that they have in Kubernetes' own types; [`unions`](crate::unions) makes rules of them.
pub(crate) const DISCRIMINATOR: &str = "k8s:unionDiscriminator";
pub(crate) const MEMBER: &str = "k8s:unionMember";

/// Everything in a schema that a CustomResourceDefinition cannot represent.
pub(crate) fn findings(type_name: &str, schema: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut report = |field: &str, message: String, remedy: String| {
        findings.push(Finding {
            type_name: type_name.to_owned(),
            field: field.to_owned(),
            message,
            remedy: Some(remedy),
        });
    };
    walk(schema, String::new(), &mut |node, field| {
        check(node, field, &mut report)
    });
    findings
}

/// Restores in a CRD's schema the keywords that kube-derive misspelt and therefore dropped. Branches of `oneOf`, `anyOf` and `allOf` never have them.
pub(crate) fn restore(crd: &mut Value, written: &Value) {
    let (Value::Object(node), Value::Object(written)) = (crd, written) else {
        return;
    };
    if let Some(kind) = written.get(STRUCT_TYPE) {
        node.entry("x-kubernetes-map-type").or_insert_with(|| kind.clone());
    }
    for key in ["items", "additionalProperties"] {
        if let (Some(node), Some(written)) = (node.get_mut(key), written.get(key)) {
            restore(node, written);
        }
    }
    if let (Some(Value::Object(nodes)), Some(written)) = (node.get_mut("properties"), written.get("properties")) {
        for (name, node) in nodes {
            restore(node, &written[name.as_str()]);
        }
    }
}

fn check(node: &Map<String, Value>, field: &str, report: &mut impl FnMut(&str, String, String)) {
    for (key, value) in node {
        match keyword::shape(key) {
            None => report(field, unknown(key), remedy(key)),
            Some(shape) => {
                if let Some(wanted) = shape.missed_by(value) {
                    report(field, wrong(key, wanted, value), how(key));
                } else {
                    members(key, shape, value, field, report);
                }
            }
        }
    }
}

/// Checks the fields of objects that are not schemas themselves: validation rules, `externalDocs` and members of unions.
fn members(key: &str, shape: Shape, value: &Value, field: &str, report: &mut impl FnMut(&str, String, String)) {
    let known: &[(&str, Shape)] = match shape {
        Shape::Rules => &keyword::RULE,
        Shape::Docs => &keyword::DOCS,
        Shape::Member => &keyword::MEMBERS,
        _ => return,
    };
    let objects = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    for (name, value) in objects.iter().filter_map(Value::as_object).flatten() {
        let path = format!("{key}.{name}");
        match known.iter().find(|(known, _)| known == name) {
            None => {
                let remedy = match keyword::near(name, known.iter().map(|(known, _)| *known)) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => {
                        let all: Vec<String> = known.iter().map(|(known, _)| format!("`{known}`")).collect();
                        format!("there are {}", all.join(", "))
                    }
                };
                report(field, unknown(&path), remedy);
            }
            Some((_, shape)) => {
                if let Some(wanted) = shape.missed_by(value) {
                    report(field, wrong(&path, wanted, value), how(key));
                }
            }
        }
    }
}

fn unknown(key: &str) -> String {
    format!("`{key}` is not a keyword of CustomResourceDefinition schemas: the derive would drop it silently")
}

fn wrong(key: &str, wanted: &str, value: &Value) -> String {
    format!("`{key}` must be {wanted}, but is {value}")
}

fn remedy(key: &str) -> String {
    if let Some(meant) = keyword::nearest(key) {
        return format!("did you mean `{meant}`?");
    }
    match key {
        "propertyNames" => "check the keys of the map with a validation rule: `self.all(key, …)`".to_owned(),
        "contains" | "minContains" | "maxContains" => {
            "check the items of the list with a validation rule: `self.exists(item, …)`".to_owned()
        }
        "if" | "then" | "else" | "dependentRequired" | "dependentSchemas" => {
            "write a validation rule: `#[x_kube(validation = \"…\")]` on a type that derives `KubeSchema`".to_owned()
        }
        _ => format!(
            "look for `{key}` in `#[schemars(extend(…))]`, `transform` or `schema_with` on the field and its type"
        ),
    }
}

fn how(key: &str) -> String {
    match key {
        "exclusiveMinimum" | "exclusiveMaximum" => {
            let bound = if key.ends_with("Minimum") {
                ("minimum", "min")
            } else {
                ("maximum", "max")
            };
            format!(
                "set the bound with `{}`: `#[schemars(range({} = …), extend(\"{key}\" = true))]`",
                bound.0, bound.1
            )
        }
        "type" => "a field has one type; for a number or a string use `IntOrString`, for any value `serde_json::Value`"
            .to_owned(),
        _ => format!(
            "look for `{key}` in `#[schemars(extend(…))]`, `transform` or `schema_with` on the field and its type"
        ),
    }
}

/// Calls `visit` for every node of a schema, with the path of its field.
fn walk(value: &Value, field: String, visit: &mut impl FnMut(&Map<String, Value>, &str)) {
    let Value::Object(node) = value else { return };
    visit(node, &field);
    for (name, property) in node.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let dot = if field.is_empty() { "" } else { "." };
        walk(property, format!("{field}{dot}{name}"), visit);
    }
    for (key, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        for child in one_or_many(node.get(key)) {
            walk(child, format!("{field}{suffix}"), visit);
        }
    }
    let patterns = node.get("patternProperties").and_then(Value::as_object);
    for property in patterns.into_iter().flat_map(Map::values) {
        walk(property, format!("{field}{{}}"), visit);
    }
    for key in ["allOf", "anyOf", "oneOf", "not"] {
        for branch in one_or_many(node.get(key)) {
            walk(branch, field.clone(), visit);
        }
    }
}

fn one_or_many(value: Option<&Value>) -> &[Value] {
    match value {
        None => &[],
        Some(Value::Array(list)) => list,
        Some(one) => std::slice::from_ref(one),
    }
}
