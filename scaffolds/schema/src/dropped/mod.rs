//! Keywords that kube-derive drops: it reads a schema into a type that does not have them. Before that,
//! what would be dropped in silence, or make the derive panic, is found here and named.
//!
//! # Misspelt attributes do not compile
//! The derives refuse words that they do not know. Only `extend` takes any, and that is what this module is for. Of each pair
//! below the second differs from the first in one word.
#![doc = include_str!("misspelt.md")]

mod keyword;
mod panics;

pub(crate) use panics::place;

use crate::finding::Finding;
use keyword::Shape;
use serde_json::{Map, Value};

/// What kube-derive's `merge_strategy = StructMerge` writes; the API server's word is `x-kubernetes-map-type`.
pub(crate) const STRUCT_TYPE: &str = "x-kubernetes-struct-type";

/// Everything in a schema that no CustomResourceDefinition has a place for.
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

/// Gives the schema of a CRD what kube-derive's misspelling has cost it. Branches of `oneOf` and the like hold no such keyword.
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

/// The fields of what is no schema itself.
fn members(key: &str, shape: Shape, value: &Value, field: &str, report: &mut impl FnMut(&str, String, String)) {
    let known: &[(&str, Shape)] = match shape {
        Shape::Rules => &keyword::RULE,
        Shape::Docs => &keyword::DOCS,
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
    format!("`{key}` is no keyword of a CustomResourceDefinition's schema: it would be dropped in silence")
}

fn wrong(key: &str, wanted: &str, value: &Value) -> String {
    format!("`{key}` must be {wanted}, and is {value}")
}

fn remedy(key: &str) -> String {
    if let Some(meant) = keyword::nearest(key) {
        return format!("did you mean `{meant}`?");
    }
    match key {
        "propertyNames" => "check the keys of a map by a rule: `self.all(key, …)`".to_owned(),
        "contains" | "minContains" | "maxContains" => {
            "check the items of a list by a rule: `self.exists(item, …)`".to_owned()
        }
        "if" | "then" | "else" | "dependentRequired" | "dependentSchemas" => {
            "say it as a rule: `#[x_kube(validation = \"…\")]` on a type that derives `KubeSchema`".to_owned()
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
                "the bound itself is `{}`: `#[schemars(range({} = …), extend(\"{key}\" = true))]`",
                bound.0, bound.1
            )
        }
        "type" => "a field has one type; for a number or a string use `IntOrString`, for anything `serde_json::Value`"
            .to_owned(),
        _ => format!(
            "look for `{key}` in `#[schemars(extend(…))]`, `transform` or `schema_with` on the field and its type"
        ),
    }
}

/// Visits every node of a schema with the field that it describes.
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
