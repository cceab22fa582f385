//! Partial metadata, and the errors when the client requests it for one object but gets a list, or the reverse.

use serde_json::{Value, json};

use super::head;
use crate::{resource::Resource, status::Status};

/// PartialObjectMetadata.
pub(super) fn of(resource: &Resource, object: &Value) -> Value {
    let mut shown = head("PartialObjectMetadata");
    let mut metadata = object.get("metadata").cloned().unwrap_or_else(|| json!({}));
    let fields = resource.rules().internal.field_annotations;
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut)
        && fields.iter().filter_map(|name| annotations.remove(*name)).count() > 0
        && annotations.is_empty()
    {
        metadata.as_object_mut().and_then(|fields| fields.remove("annotations"));
    }
    shown["metadata"] = metadata;
    shown
}

/// PartialObjectMetadataList. Without objects, `items` is null.
pub(super) fn list(resource: &Resource, list: &Value) -> Value {
    let mut shown = head("PartialObjectMetadataList");
    shown["metadata"] = metadata(list);
    shown["items"] = match list["items"].as_array().map(Vec::as_slice) {
        None | Some([]) => Value::Null,
        Some(items) => items.iter().map(|object| of(resource, object)).collect(),
    };
    shown
}

/// The metadata of a list. Only complete lists of custom kinds have an empty token.
pub(super) fn metadata(list: &Value) -> Value {
    let mut metadata = list["metadata"].clone();
    if let Some(fields) = metadata.as_object_mut() {
        fields.retain(|_, value| *value != "");
    }
    metadata
}

/// 406: PartialObjectMetadata was requested for a list.
pub(super) fn not_one(resource: &Resource) -> Status {
    let kind = if resource.is_typed() {
        go_type(resource, &resource.names.list_kind)
    } else {
        unstructured("List")
    };
    let message = format!("you requested PartialObjectMetadata, but the requested object is a list ({kind})");
    Status::new(406, "NotAcceptable", message)
}

/// 406, or 500 for custom kinds: PartialObjectMetadataList was requested for one object.
pub(super) fn not_many(resource: &Resource) -> Status {
    if !resource.is_typed() {
        return Status::new(500, "", "content is not a list");
    }
    let kind = go_type(resource, &resource.names.kind);
    let message = format!("you requested PartialObjectMetadataList, but the requested object is not a list ({kind})");
    Status::new(406, "NotAcceptable", message)
}

/// Upstream's internal Go type of a built-in kind. The package is named after the group, unless the kind uses the
/// package of another group.
fn go_type(resource: &Resource, kind: &str) -> String {
    let of_group = resource.group.split('.').next().filter(|group| !group.is_empty());
    let package = resource.rules().internal.go_package.or(of_group).unwrap_or("core");
    format!("*{package}.{kind}")
}

fn unstructured(suffix: &str) -> String {
    format!("*unstructured.Unstructured{suffix}")
}
