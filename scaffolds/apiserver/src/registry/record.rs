//! Between a record of the store and an object in the version of a request.

use bytes::Bytes;
use serde_json::{Value, json};

use super::storage;
use crate::{meta, resource::Resource, status::Status, store::Record};

/// The resource's part of the store's keys: `apps/deployments`.
pub fn store_name(resource: &Resource) -> String {
    storage::resource_key(resource)
}

/// The object of a record, in the version of `resource`.
///
/// # Errors
/// 500 for a record that is no JSON, which no write of this server makes.
pub(super) fn read(resource: &Resource, record: &Record) -> Result<Value, Status> {
    let mut object = serde_json::from_slice(&record.object).map_err(|error| Status::internal(&error.to_string()))?;
    let verbatim = resource
        .strategy
        .verbatim_after()
        .is_some_and(|since| record.revision > since);
    if !verbatim {
        resource.strategy.read(&mut object);
    }
    Ok(object)
}

/// The JSON text of a record in the version of `resource`: that of the store itself wherever possible.
///
/// # Errors
/// As for an object.
pub fn present(resource: &Resource, record: &Record) -> Result<Bytes, Status> {
    let verbatim = resource
        .strategy
        .verbatim_after()
        .is_some_and(|since| record.revision > since);
    if verbatim && resource.version == resource.storage_version {
        return Ok(record.object.clone());
    }
    read(resource, record).map(|object| text(&object))
}

/// The object in the version that the store keeps; `object` becomes what a reader will get of that.
pub(super) fn settle(resource: &Resource, object: &mut Value) -> Value {
    let mut stored = object.clone();
    resource.strategy.write(&mut stored);
    if resource.version != resource.storage_version {
        *object = stored.clone();
        resource.strategy.read(object);
    } else if stored != *object {
        *object = stored.clone();
    }
    stored
}

/// The JSON text of an object at a revision.
pub(super) fn at(object: &Value, revision: u64) -> Bytes {
    let mut object = object.clone();
    meta::set(&mut object, "resourceVersion", Some(json!(revision.to_string())));
    text(&object)
}

/// The JSON text of an object.
pub(super) fn text(object: &Value) -> Bytes {
    Bytes::from(object.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_as_it_was_stored() {
        let object = json!({"metadata": {}, "spec": {"n": 4.333_333_333_333_333e64}});
        let stored: Value = serde_json::from_slice(&at(&object, 1)).unwrap();
        assert_eq!(stored["spec"], object["spec"]);
    }
}
