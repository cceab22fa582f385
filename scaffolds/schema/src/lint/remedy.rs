//! From the server's words to the Rust type: which field a cause speaks of, and what to change there.

use crate::cause::Cause;
use serde_json::{Map, Value};

/// Where a cause points, in the terms of the type's author.
pub(super) struct Place {
    /// The position of the version; `None` when all have it alike or it concerns none.
    pub version: Option<usize>,
    /// `spec.items[].name`, or the path in the CRD when it is not about a field of the resource.
    pub field: String,
}

/// Reads the path of a cause.
pub(super) fn place(path: &str) -> Place {
    let (version, rest) = match path
        .strip_prefix("spec.versions[")
        .and_then(|rest| rest.split_once(']'))
    {
        Some((index, rest)) => (index.parse().ok(), rest.trim_start_matches('.')),
        None => (None, path.strip_prefix("spec.").unwrap_or(path)),
    };
    let schema = rest
        .split_once("openAPIV3Schema")
        .filter(|(before, _)| matches!(*before, "validation." | "schema."));
    let field = match schema {
        Some((_, inside)) if !inside.is_empty() => field(inside),
        _ => path.to_owned(),
    };
    Place { version, field }
}

/// `.properties[spec].properties[a.b].items.type` → `spec.a.b[]`: keeps what leads to a field and stops at keywords.
fn field(mut path: &str) -> String {
    let mut field = String::new();
    loop {
        if let Some(rest) = path.strip_prefix(".properties[") {
            // Names may hold brackets themselves, but not one that is followed by a dot or the end.
            let end = rest
                .match_indices(']')
                .map(|(at, _)| at)
                .find(|at| matches!(rest.as_bytes().get(at + 1), None | Some(b'.')));
            let Some(end) = end else { return field };
            if !field.is_empty() {
                field.push('.');
            }
            field.push_str(&rest[..end]);
            path = &rest[end + 1..];
        } else if let Some(rest) = path.strip_prefix(".items").filter(|rest| rest.starts_with('.')) {
            field.push_str("[]");
            path = rest;
        } else if let Some(rest) = path
            .strip_prefix(".additionalProperties")
            .filter(|rest| rest.starts_with('.'))
        {
            field.push_str("{}");
            path = rest;
        } else if let Some(rest) = junctor(path) {
            path = rest;
        } else {
            return field;
        }
    }
}

/// What follows a branch of `oneOf` and the like.
fn junctor(path: &str) -> Option<&str> {
    for key in [".allOf[", ".anyOf[", ".oneOf["] {
        if let Some((_, rest)) = path.strip_prefix(key).and_then(|rest| rest.split_once(']')) {
            return Some(rest);
        }
    }
    path.strip_prefix(".not")
        .filter(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The message without a value that would fill the screen: the server shows whole schemas and lists of versions.
pub(super) fn short(message: String) -> String {
    const LONGEST: usize = 200;
    let value = message
        .strip_prefix("Invalid value: ")
        .filter(|value| value.starts_with(['{', '[']));
    match value.and_then(|value| value.rsplit_once(": ")) {
        Some((value, detail)) if value.len() > LONGEST => detail.to_owned(),
        _ => message,
    }
}

/// What to change in the Rust code so that the cause goes away, where that can be said.
pub(super) fn of(cause: &Cause) -> Option<String> {
    let keyword = cause.field.rsplit('.').next().unwrap_or_default();
    let says = |words: &str| cause.message.contains(words);
    if says("structural") && cause.field.contains("x-kubernetes-validations") {
        return Some("a rule may not stand inside `oneOf` and the like; put it on the field or the struct".to_owned());
    }
    let remedy = if keyword == "openAPIV3Schema" && cause.reason == "FieldValueRequired" {
        "derive `JsonSchema` for the spec and leave out `#[kube(schema = \"disabled\")]`"
    } else if keyword == "$ref" {
        "the type contains itself, which no structural schema can say; keep the Rust type and describe the field where the \
         cycle closes as anything: `#[schemars(with = \"Vec<serde_json::Value>\")]`"
    } else if keyword == "items" && says("not an array") {
        "tuples have a type per position, which no structural schema can say; make it a struct, or a list of one type"
    } else if keyword == "patternProperties" {
        "the keys of a map are strings; use `BTreeMap<String, _>` and check the keys by a validation rule"
    } else if says("must not be empty for specified") {
        "the field's Rust type has no single JSON type; for a number or a string use `IntOrString`, for anything \
         `serde_json::Value`, else say it with `#[schemars(schema_with = \"…\")]`"
    } else if keyword == "additionalProperties" && says("mutual exclusive") {
        "a flattened map beside named fields holds values of one type, which no structural schema can say; give the map a \
         name of its own, or make it `BTreeMap<String, serde_json::Value>`"
    } else if says("to be structural") {
        "inside `oneOf`, `anyOf`, `allOf` and `not` only constraints may stand; look for `#[schemars(extend(…))]` or \
         `schema_with` there"
    } else if keyword == "pattern" {
        "the API server has Go's regular expressions: no look-around, no backreferences, no possessive repetition"
    } else if keyword == "group" {
        "write a group with a dot in `#[kube(group = \"…\")]`, such as `apps.example.com`"
    } else if cause.field.starts_with("spec.names.") {
        "names come from `#[kube(kind = …, plural = …, singular = …, shortname = …, category = …)]`"
    } else if cause.field.contains("rinterColumns") {
        "columns come from `#[kube(printcolumn = …)]`"
    } else if cause.field.contains("selectableFields") {
        "selectable fields come from `#[kube(selectable = \".spec.…\")]`"
    } else if cause.field.contains(".scale.") {
        "the scale subresource comes from `#[kube(scale = …)]`"
    } else if keyword == "version" || (keyword == "name" && cause.field.starts_with("spec.versions[")) {
        "versions are named `v1`, `v1beta1`, `v2alpha3`… in `#[kube(version = \"…\")]`"
    } else if says("x-kubernetes-list-type=set") {
        "items of a set are compared whole: make them scalars, or put \
         `#[schemars(extend(\"x-kubernetes-map-type\" = \"atomic\"))]` on their type"
    } else if says("exceeds budget") || says("exceeding cost limit") {
        "the API server estimates what a rule costs; give the lists, maps and strings that it looks at an end: \
         `#[schemars(length(max = …))]`, `inner(length(max = …))` for items, `extend(\"maxProperties\" = …)` for maps"
    } else if keyword == "deprecationWarning" {
        "the warning comes from `#[kube(deprecated = \"…\")]`"
    } else if keyword == "uniqueItems" {
        "`#[schemars(extend(\"x-kubernetes-list-type\" = \"set\"))]` says the same to the API server"
    } else if keyword == "nullable" && says("list-type") {
        "items of a set or map list cannot be optional; drop the `Option`"
    } else if says("x-kubernetes-list-map-keys, so it must have a default") {
        "make the key field required (no `Option`, no `#[serde(default)]`), or give it a default"
    } else if cause.field.starts_with("metadata.annotations") {
        "annotations come from `#[kube(annotation(\"key\", \"value\"))]`"
    } else if cause.field == "metadata.labels" {
        "labels come from `#[kube(label(\"key\", \"value\"))]`"
    } else if cause.field.starts_with("metadata.name") {
        "the name is made of `#[kube(plural = …, group = …)]`"
    } else if cause.field.contains("openAPIV3Schema") {
        let keyword = cause
            .field
            .split('.')
            .rfind(|step| step.starts_with("x-kubernetes-"))
            .unwrap_or(keyword);
        let keyword = keyword.split('[').next().unwrap_or_default();
        return Some(format!(
            "look for `{keyword}` in `#[schemars(…)]`, `#[x_kube(…)]` and `#[kube(…)]` on the field and its type"
        ));
    } else {
        return None;
    };
    Some(remedy.to_owned())
}

/// What the API server would accept although it is not what the Rust type says: kube-derive empties the variants of
/// an untagged enum that are no objects. As field, message and remedy.
pub(super) fn lost(schema: &Value) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    walk(schema, String::new(), &mut |schema, field| {
        let branches = schema.get("anyOf").and_then(Value::as_array);
        let emptied = |branch: &Value| branch.as_object().is_some_and(Map::is_empty);
        if schema.contains_key("type") && branches.is_some_and(|branches| branches.iter().any(emptied)) {
            found.push((
                field.to_owned(),
                "an untagged enum mixes objects and other values, of which the schema keeps only the objects"
                    .to_owned(),
                "make every variant a struct, or take any value with `serde_json::Value`".to_owned(),
            ));
        }
    });
    found
}

/// Visits every node of the structure with the field that it describes.
pub(super) fn walk(value: &Value, field: String, visit: &mut impl FnMut(&Map<String, Value>, &str)) {
    let Value::Object(schema) = value else { return };
    visit(schema, &field);
    for (name, property) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let dot = if field.is_empty() { "" } else { "." };
        walk(property, format!("{field}{dot}{name}"), visit);
    }
    for (key, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        if let Some(child) = schema.get(key) {
            walk(child, format!("{field}{suffix}"), visit);
        }
    }
}
