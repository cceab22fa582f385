//! The schemas that documents refer to: those of built-in kinds as recorded, those of custom kinds as their CRDs
//! have them.

use super::{metadata, operation::COMPONENTS};
use crate::{kinds, resource::Resource, strategy::CustomRules};
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

/// The schemas of built-in kinds by their groups, versions and kinds. Kinds of every group (`DeleteOptions`) are left out.
static BY_KIND: LazyLock<BTreeMap<[String; 3], String>> = LazyLock::new(|| {
    let mut all = BTreeMap::new();
    for name in kinds::openapi_schema_names() {
        let schema = kinds::openapi_schema(&name).unwrap_or_default();
        let Some([kind]) = schema["x-kubernetes-group-version-kind"].as_array().map(Vec::as_slice) else {
            continue;
        };
        let text = |key: &str| kind[key].as_str().unwrap_or_default().to_owned();
        all.insert(["group", "version", "kind"].map(text), name);
    }
    all
});

/// The types of requests and answers that are not objects: recorded from a real server, without descriptions.
static ANSWERS: LazyLock<Map<String, Value>> =
    LazyLock::new(|| serde_json::from_str(include_str!("answers.json")).unwrap_or_default());

/// The full name of the schema of a built-in kind.
pub(super) fn built_in(group: &str, version: &str, kind: &str) -> Option<String> {
    BY_KIND.get(&[group, version, kind].map(str::to_owned)).cloned()
}

/// The name of the schema of a custom kind: `com.example.test.v1.FooBar`.
pub(crate) fn custom(group: &str, version: &str, kind: &str) -> String {
    let reversed: Vec<&str> = group.rsplit('.').collect();
    format!("{}.{version}.{kind}", reversed.join("."))
}

/// The schema of a kind with the schemas in it to which it refers; a type within itself is any object. `None` if there is no schema.
pub(crate) fn resolved(resource: &Resource) -> Option<Value> {
    let Resource {
        group, version, names, ..
    } = resource;
    if let Some(CustomRules {
        published: [one, _], ..
    }) = &resource.rules().custom
    {
        return Some(below(one.clone(), &mut Vec::new()));
    }
    let name = built_in(group, version, &names.kind)?;
    Some(below(kinds::openapi_schema(&name)?, &mut vec![name]))
}

/// Resolves the schema of a field or item. `within` are the names of the definitions around it.
fn populated(schema: Value, within: &mut Vec<String>) -> Value {
    let reference = schema.get("$ref").or_else(|| schema.get("allOf")?.get(0)?.get("$ref"));
    let name = reference
        .and_then(Value::as_str)
        .and_then(|it| it.strip_prefix(COMPONENTS));
    let Some(name) = name.map(str::to_owned) else {
        return below(schema, within);
    };
    if within.contains(&name) {
        return json!({"type": "object"});
    }
    let Some(definition) = kinds::openapi_schema(&name) else {
        return schema;
    };
    within.push(name);
    let definition = below(definition, within);
    within.pop();
    definition
}

/// Resolves the references below a schema, and marks values that are numbers or texts, as schemas of custom kinds do.
fn below(mut schema: Value, within: &mut Vec<String>) -> Value {
    if schema["format"] == "int-or-string" {
        schema["x-kubernetes-int-or-string"] = json!(true);
    }
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    for field in fields.into_iter().flat_map(Map::values_mut) {
        *field = populated(field.take(), within);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get_mut(key) {
            *inner = populated(inner.take(), within);
        }
    }
    schema
}

/// The definitions in `known`, and all to which `document` and they refer.
pub(super) fn closure(document: &Value, known: &Map<String, Value>) -> Map<String, Value> {
    let mut found = Map::new();
    let mut todo = BTreeSet::new();
    references(document, &mut todo);
    todo.extend(known.keys().cloned());
    while let Some(name) = todo.pop_first() {
        let schema = known
            .get(&name)
            .cloned()
            .or_else(|| kinds::openapi_schema(&name))
            .or_else(|| ANSWERS.get(&name).cloned());
        let Some(mut schema) = schema.filter(|_| !found.contains_key(&name)) else {
            continue;
        };
        if name == metadata::NAME {
            metadata::describe(&mut schema);
        }
        references(&schema, &mut todo);
        found.insert(name, schema);
    }
    found
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(name) = fields
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|it| it.strip_prefix(COMPONENTS))
            {
                found.insert(name.to_owned());
            }
            fields.values().for_each(|it| references(it, found));
        }
        Value::Array(items) => items.iter().for_each(|it| references(it, found)),
        _ => {}
    }
}
