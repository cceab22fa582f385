//! Bookmarks: events that carry only a revision. Upstream sends them with an otherwise empty object of the kind.

use serde_json::Value;

use super::{
    super::{empty, record},
    Event,
};
use crate::{meta, resource::Resource};

/// The bookmark of a revision; the one after the initial objects is annotated as such.
pub(super) fn event(resource: &Resource, revision: u64, ends_initial: bool) -> Event {
    let mut object = Value::Object(empty::object(resource));
    meta::set(&mut object, "resourceVersion", Some(revision.to_string().into()));
    if ends_initial {
        object["metadata"]["annotations"]["k8s.io/initial-events-end"] = "true".into();
    }
    Event {
        kind: "BOOKMARK",
        object: record::text(&object),
    }
}
