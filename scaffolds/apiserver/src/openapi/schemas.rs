//! The schemas that documents refer to: those of built-in kinds as recorded, those of custom kinds as their CRDs
//! have them.

use super::{metadata, operation::COMPONENTS};
use crate::kinds;
use serde_json::{Map, Value};
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
