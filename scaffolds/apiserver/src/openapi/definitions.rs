//! The definitions to which documents refer: recorded ones of built-in kinds, and those of custom kinds, from their
//! CRDs.

use super::operation::COMPONENTS;
use crate::kinds;
use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

type GroupVersionKind = (String, String, String);

/// The definitions of built-in kinds, by group, version and kind. Kinds that exist in every group (`DeleteOptions`) are
/// left out.
static BY_KIND: LazyLock<BTreeMap<GroupVersionKind, String>> = LazyLock::new(|| {
    let mut all = BTreeMap::new();
    for name in kinds::definitions() {
        let definition = kinds::definition(&name).unwrap_or_default();
        let Some([kind]) = definition["x-kubernetes-group-version-kind"]
            .as_array()
            .map(Vec::as_slice)
        else {
            continue;
        };
        let text = |key: &str| kind[key].as_str().unwrap_or_default().to_owned();
        all.insert((text("group"), text("version"), text("kind")), name);
    }
    all
});

/// The types of requests and answers that are not objects: recorded from a real server, without descriptions.
static ANSWERS: LazyLock<Map<String, Value>> =
    LazyLock::new(|| serde_json::from_str(include_str!("answers.json")).unwrap_or_default());

/// The full name of the definition of a built-in kind.
pub(super) fn built_in((group, version, kind): (&str, &str, &str)) -> Option<String> {
    BY_KIND
        .get(&(group.to_owned(), version.to_owned(), kind.to_owned()))
        .cloned()
}

/// The name of the definition of a custom kind: `com.example.test.v1.FooBar`.
pub(crate) fn custom((group, version, kind): (&str, &str, &str)) -> String {
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
        let definition = known
            .get(&name)
            .cloned()
            .or_else(|| kinds::definition(&name))
            .or_else(|| ANSWERS.get(&name).cloned());
        let Some(definition) = definition.filter(|_| !found.contains_key(&name)) else {
            continue;
        };
        references(&definition, &mut todo);
        found.insert(name, definition);
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
