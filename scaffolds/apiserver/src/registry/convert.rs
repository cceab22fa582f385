//! Objects of records in the version of a request, for kinds that a webhook converts. All others go through unchanged.

use std::{fmt::Display, sync::Arc};

use bytes::Bytes;
use futures::{StreamExt, stream};
use serde_json::Value;

use super::{record, storage};
use crate::{
    catalogue::bring,
    conversion::Conversion,
    meta,
    resource::Resource,
    status::{Status, Subject},
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
        .conversion()
        .map_or(Ok(()), |conversion| conversion.check())
}

/// Whether a webhook converts an object that another version of this resource stores.
pub(super) fn is_converted(resource: &Resource) -> bool {
    resource.rules().conversion().is_some() && resource.version != resource.storage_version
}

/// The object of a record, converted now.
///
/// # Errors
/// 500 when it cannot be converted.
pub(super) async fn read(resource: &Resource, record: &Arc<Record>) -> Result<Value, Status> {
    let Some(conversion) = conversion(resource, record) else {
        return record::read(resource, record);
    };
    let object = bring(conversion, resource, decoded(record)?).await;
    let object = object.map_err(|status| unreadable(resource, record, status))?;
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

/// The record of an object in the version of a resource, converted unless that was done before. A write begins with it.
///
/// # Errors
/// 500 when it cannot be converted.
pub(super) async fn one(resource: &Resource, record: &Arc<Record>) -> Result<Arc<Record>, Status> {
    let brought = known_or_brought(resource, record).await;
    brought.map_err(|status| undecodable(record.revision, status))
}

async fn known_or_brought(resource: &Resource, record: &Arc<Record>) -> Result<Arc<Record>, Status> {
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

/// The failure of a write, whose object cannot be decoded before or after it. A 501 is this server's own.
fn undecodable(revision: impl Display, status: Status) -> Status {
    match status.code {
        501 => status,
        _ => Status::new(500, "", not_decodable(revision, &status)),
    }
}

fn not_decodable(revision: impl Display, status: &Status) -> String {
    format!("object not decodable revision={revision}: {}", status.message)
}

/// The failure to read one stored object.
fn unreadable(resource: &Resource, record: &Record, status: Status) -> Status {
    if status.code == 501 {
        return status;
    }
    let key = storage::quoted(resource, &record.key);
    Status::internal(&corrupt(key.trim_start_matches("/registry"), record, &status))
}

/// The words of the real server's storage about an object that it cannot decode.
fn corrupt(key: &str, record: &Record, status: &Status) -> String {
    format!(
        "StorageError: corrupt object, Code: 7, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {}",
        not_decodable(record.revision, status)
    )
}

/// The records of a list in the version of a resource, in their order.
///
/// # Errors
/// 500 with all objects that cannot be converted.
pub(super) async fn all(resource: &Arc<Resource>, records: Vec<Arc<Record>>) -> Result<Vec<Arc<Record>>, Status> {
    if resource.rules().conversion().is_none() {
        return Ok(records);
    }
    let converted = records.into_iter().map(|record| {
        let resource = Arc::clone(resource);
        async move {
            let brought = known_or_brought(&resource, &record).await;
            brought.map_err(|status| (storage::quoted(&resource, &record.key), record, status))
        }
    });
    let mut converted = stream::iter(converted).buffered(AT_ONCE);
    let (mut all, mut refused) = (Vec::new(), Vec::new());
    while let Some(one) = converted.next().await {
        match one {
            Ok(record) => all.push(record),
            Err((.., status)) if status.code == 501 => return Err(status),
            Err((key, record, status)) => refused.push((corrupt(&key, &record, &status), key)),
        }
        if refused.len() == Status::MOST_UNREADABLE {
            break;
        }
    }
    match refused.is_empty() {
        true => Ok(all),
        false => Err(Status::storage_read_error(
            Subject::new(&resource.group, &resource.names.plural),
            &refused,
        )),
    }
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
    let conversion = resource.rules().conversion().filter(|_| is_converted(resource));
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
pub(super) async fn written(resource: &Resource, stored: Value, dry_run: bool) -> Result<Value, Status> {
    let Some(conversion) = resource.rules().conversion() else {
        return Ok(stored);
    };
    let revision = meta::text(&stored, "resourceVersion").to_owned();
    let brought = bring(conversion, resource, stored).await;
    brought.map_err(|status| match dry_run {
        true => status,
        false => undecodable(revision, status),
    })
}

/// The conversion that a record goes through, unless it is read as it is stored.
fn conversion<'r>(resource: &'r Resource, record: &Record) -> Option<&'r Arc<Conversion>> {
    let conversion = resource.rules().conversion()?;
    (!record::is_as_stored(resource, record)).then_some(conversion)
}

fn decoded(record: &Record) -> Result<Value, Status> {
    Ok(record.read()?)
}
