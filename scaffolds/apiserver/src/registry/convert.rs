//! Objects of records in the version of a request, for kinds that a webhook converts. All others go through unchanged.

use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::Value;

use super::record;
use crate::{
    catalogue::bring,
    conversion::Conversion,
    meta,
    resource::Resource,
    status::Status,
    store::{Change, Record},
};

/// The number of objects of a list that are converted at a time.
const AT_ONCE: usize = 8;

/// Refuses requests for a kind whose converter cannot be called at all.
///
/// # Errors
/// 500, see [`Conversion::check`].
pub(super) fn check(resource: &Resource) -> Result<(), Status> {
    resource
        .rules()
        .conversion
        .as_ref()
        .map_or(Ok(()), |conversion| conversion.check())
}

/// Whether a webhook converts an object that another version of this resource stores.
pub(super) fn is_converted(resource: &Resource) -> bool {
    resource.rules().conversion.is_some() && resource.version != resource.storage_version
}

/// The object of a record, converted now.
///
/// # Errors
/// 500 when it cannot be converted.
pub(super) async fn read(resource: &Resource, record: &Arc<Record>) -> Result<Value, Status> {
    let Some(conversion) = conversion(resource, record) else {
        return record::read(resource, record);
    };
    let object = bring(conversion, resource, decoded(record)?).await?;
    conversion.remember(record, &resource.api_version(), record::text(&object));
    Ok(object)
}

/// The JSON text of [`read`].
///
/// # Errors
/// As for [`read`].
pub(super) async fn present(resource: &Resource, record: &Arc<Record>) -> Result<Bytes, Status> {
    match conversion(resource, record) {
        None => record::present(resource, record),
        Some(_) => read(resource, record).await.map(|object| record::text(&object)),
    }
}

/// The record of an object in the version of a resource, converted unless that was done before.
///
/// # Errors
/// As for [`read`].
pub(super) async fn one(resource: &Resource, record: &Arc<Record>) -> Result<Arc<Record>, Status> {
    let Some(conversion) = conversion(resource, record) else {
        return Ok(Arc::clone(record));
    };
    let version = resource.api_version();
    if let Some(known) = conversion.remembered(record, &version) {
        return Ok(known);
    }
    let object = bring(conversion, resource, decoded(record)?).await?;
    Ok(conversion.remember(record, &version, record::text(&object)))
}

/// The records of a list in the version of a resource, in their order.
///
/// # Errors
/// As for [`read`], of the first object that cannot be converted.
pub(super) async fn all(resource: &Arc<Resource>, records: Vec<Arc<Record>>) -> Result<Vec<Arc<Record>>, Status> {
    if resource.rules().conversion.is_none() {
        return Ok(records);
    }
    let converted = records.into_iter().map(|record| {
        let resource = Arc::clone(resource);
        async move { one(&resource, &record).await }
    });
    stream::iter(converted).buffered(AT_ONCE).try_collect().await
}

/// A change in the version of a resource.
///
/// # Errors
/// As for [`read`].
pub(super) async fn change(resource: &Resource, change: &Change) -> Result<Arc<Change>, Status> {
    let previous = match &change.previous {
        Some(previous) => Some(one(resource, previous).await?),
        None => None,
    };
    let record = one(resource, &change.record).await?;
    let Change { revision, kind, .. } = *change;
    Ok(Arc::new(Change {
        revision,
        kind,
        record,
        previous,
    }))
}

/// An object in the version of a resource, ready to be stored: in the form that its readers will get, and in the storage
/// version if that is another one. Where a webhook converts, the object itself stays as it is; [`written`] reads it.
///
/// # Errors
/// 500 when it cannot be converted.
pub(super) async fn settle(resource: &Resource, object: &mut Value) -> Result<Option<Value>, Status> {
    let conversion = resource.rules().conversion.as_ref().filter(|_| is_converted(resource));
    let Some(conversion) = conversion else {
        return Ok(record::settle(resource, object));
    };
    let group = &resource.group;
    let stored = format!("{group}/{}", resource.storage_version);
    let mut sent = object.clone();
    let revision = meta::of_mut(&mut sent).remove("resourceVersion");
    let mut sent = conversion.convert(sent, &stored).await?;
    resource.strategy.read_converted(&mut sent)?;
    resource.strategy.write(&mut sent);
    meta::set(&mut sent, "resourceVersion", revision);
    Ok(Some(sent))
}

/// An object that was stored, as its readers get it.
///
/// # Errors
/// 500 when it cannot be converted, although it is stored.
pub(super) async fn written(resource: &Resource, stored: Value) -> Result<Value, Status> {
    match &resource.rules().conversion {
        Some(conversion) => bring(conversion, resource, stored).await,
        None => Ok(stored),
    }
}

/// The conversion that a record goes through, unless it is read as it is stored.
fn conversion<'r>(resource: &'r Resource, record: &Record) -> Option<&'r Arc<Conversion>> {
    let conversion = resource.rules().conversion.as_ref()?;
    (!record::is_as_stored(resource, record)).then_some(conversion)
}

fn decoded(record: &Record) -> Result<Value, Status> {
    serde_json::from_slice(&record.object).map_err(|error| Status::internal(&error.to_string()))
}
