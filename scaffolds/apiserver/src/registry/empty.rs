//! The empty object of each kind, which upstream sends in bookmarks and for some dry runs. Those of built-in kinds are Go
//! structs, which encode some fields even when they are empty.

use std::{collections::HashMap, sync::LazyLock};

use serde_json::{Map, Value, json};

use crate::resource::Resource;

/// Group/version, plural and the empty object of each kind with such fields, as a real server sends it.
const EMPTY: &str = include_str!("empty.txt");

/// The empty object of a kind. That of a custom kind has no metadata.
pub(super) fn object(resource: &Resource) -> Map<String, Value> {
    static ALL: LazyLock<HashMap<(&str, &str), &str>> = LazyLock::new(|| EMPTY.lines().filter_map(line).collect());
    let (version, plural) = (resource.api_version(), resource.names.plural.as_str());
    // A CRD's group may have any name, but not one of these.
    let text = ALL.get(&(version.as_str(), plural)).copied().unwrap_or("{}");
    let mut object: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    object.insert("apiVersion".to_owned(), version.into());
    object.insert("kind".to_owned(), resource.names.kind.as_str().into());
    if resource.rules().is_built_in() {
        object.entry("metadata").or_insert_with(|| json!({}));
    }
    object
}

fn line(line: &'static str) -> Option<((&'static str, &'static str), &'static str)> {
    let mut parts = line.splitn(3, ' ');
    Some(((parts.next()?, parts.next()?), parts.next()?))
}
