//! Bookmarks: events that carry only a revision. Upstream sends them with an otherwise empty object of the kind. Those
//! of built-in kinds are Go structs, which encode some fields even when they are empty.

use std::{collections::HashMap, sync::LazyLock};

use serde_json::{Map, Value, json};

use super::{super::record, Event};
use crate::resource::Resource;

/// Group/version, plural and the empty object of each kind with such fields, as a real server sends it.
const EMPTY: &str = include_str!("bookmarks.txt");

/// The bookmark of a revision; the one after the initial objects is annotated as such.
pub(super) fn event(resource: &Resource, revision: u64, ends_initial: bool) -> Event {
    let mut object = empty(resource);
    object.insert("apiVersion".to_owned(), resource.api_version().into());
    object.insert("kind".to_owned(), resource.names.kind.as_str().into());
    let mut metadata = object.remove("metadata").unwrap_or_else(|| json!({}));
    metadata["resourceVersion"] = revision.to_string().into();
    if ends_initial {
        metadata["annotations"]["k8s.io/initial-events-end"] = "true".into();
    }
    object.insert("metadata".to_owned(), metadata);
    Event {
        kind: "BOOKMARK",
        object: record::text(&Value::Object(object)),
    }
}

fn empty(resource: &Resource) -> Map<String, Value> {
    static ALL: LazyLock<HashMap<(&str, &str), &str>> = LazyLock::new(|| EMPTY.lines().filter_map(line).collect());
    let (version, plural) = (resource.api_version(), resource.names.plural.as_str());
    // A CRD's group may have any name, but not one of these.
    let text = ALL.get(&(version.as_str(), plural)).copied().unwrap_or("{}");
    serde_json::from_str(text).unwrap_or_default()
}

fn line(line: &'static str) -> Option<((&'static str, &'static str), &'static str)> {
    let mut parts = line.splitn(3, ' ');
    Some(((parts.next()?, parts.next()?), parts.next()?))
}
