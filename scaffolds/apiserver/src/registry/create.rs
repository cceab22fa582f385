//! POST: an object that is not there yet. Also the end of a PUT or apply that makes one.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    Reply, admit, answer, body,
    options::Options,
    record::{self, Draft, Written},
    work::Work,
};
use crate::{
    meta,
    status::Status,
    store::{Key, Record},
};

/// How often a generated name is drawn when it is taken.
const DRAWS: usize = 8;

/// Creates what the body says.
pub(super) fn create(work: &mut Work) -> Result<Reply, Status> {
    let options = Options::read(work.call, "CreateOptions")?;
    let mut object = body::read(work, options.validation)?;
    meta::system::wipe(&mut object);
    body::check_namespace(work, &mut object)?;
    work.dedupe_owners(&mut object, false);
    work.own(&options.manager, None, &mut object);
    admit::creation(work, &object)?;
    admit::grant(work, &object, None)?;
    let generates = meta::text(&object, "name").is_empty() && !meta::text(&object, "generateName").is_empty();
    let mut last = Err(Status::internal("no name was drawn"));
    for _ in 0..if generates { DRAWS } else { 1 } {
        let drawn = if generates {
            object.clone()
        } else {
            std::mem::take(&mut object)
        };
        last = insert(work, drawn, options.dry_run);
        if !matches!(&last, Err(status) if status.reason == "AlreadyExists") {
            break;
        }
    }
    last.map(|written| answer::written(201, written))
}

/// Stores an object that was admitted, once it is complete and valid, and returns it.
///
/// # Errors
/// 422 for an object that breaks rules, 409 when there is one of that name, 500 when it has a resourceVersion.
pub(super) fn insert(work: &mut Work, mut object: Value, dry_run: bool) -> Result<Written, Status> {
    let resource = work.resource();
    meta::system::fill(&mut object, &work.now);
    resource
        .strategy
        .prepare_for_create(&work.call.subresource, &mut object);
    if resource.strategy.counts_generation() {
        meta::set(&mut object, "generation", Some(json!(1)));
    }
    let mut stored = validate(work, &object).and_then(|()| store(work, &mut object, dry_run));
    if !work.is_built_in() && (dry_run || resource.version == resource.storage_version) {
        // Readers of a custom object see the defaults also of what a create cannot set: its status. They are not stored
        // before something else is. What was stored in another version was read again from there.
        resource.strategy.default(&mut object);
        if object.get("status").is_some() {
            stored = stored.map(|_| None);
        }
    }
    if stored.is_err() || dry_run {
        resource.strategy.release(&object, None);
    }
    stored.map(|text| Written { object, text })
}

fn validate(work: &mut Work, object: &Value) -> Result<(), Status> {
    let resource = work.resource();
    let mut causes = meta::rounds::created(resource, object);
    causes.extend(resource.strategy.validate(object));
    if !causes.is_empty() {
        return Err(Status::invalid(work.kind(), meta::text(object, "name"), &causes));
    }
    resource
        .strategy
        .warnings(object)
        .into_iter()
        .for_each(|sentence| work.warn(sentence));
    Ok(())
}

/// Returns the text of the object as it is stored, where that is also the answer's.
fn store(work: &Work, object: &mut Value, dry_run: bool) -> Result<Option<Bytes>, Status> {
    work.forget_empties(object);
    let said = meta::text(object, "resourceVersion").parse::<u64>().unwrap_or_default();
    let key = work.key(meta::text(object, "name"));
    if dry_run {
        return match work.core.store.get(&key) {
            Some(there) => Err(exists(work, object, &there)),
            None => Ok(None),
        };
    }
    if said != 0 {
        return Err(Status::new(
            500,
            "",
            "resourceVersion should not be set on objects to be created",
        ));
    }
    meta::set(object, "resourceVersion", None);
    let other = record::settle(work.resource(), object);
    let draft = Draft::of(other.as_ref().unwrap_or(object));
    match work.core.store.create(&key, &|revision| draft.at(revision)) {
        Ok(record) => {
            meta::set(object, "resourceVersion", Some(json!(record.revision.to_string())));
            Ok(other.is_none().then(|| record.object.clone()))
        }
        Err(_) => Err(taken(work, object, &key)),
    }
}

fn taken(work: &Work, object: &Value, key: &Key) -> Status {
    match work.core.store.get(key) {
        Some(there) => exists(work, object, &there),
        None => Status::already_exists(work.subject(), &key.name),
    }
}

fn exists(work: &Work, object: &Value, there: &Record) -> Status {
    let mut status = Status::already_exists(work.subject(), meta::text(object, "name"));
    if !meta::text(object, "generateName").is_empty() {
        status
            .message
            .push_str(", the server was not able to generate a unique name for the object");
        status = status.retry_after(1);
    }
    let is_deleting = serde_json::from_slice(&there.object).is_ok_and(|there: Value| meta::is_deleting(&there));
    if is_deleting {
        status.message.insert_str(0, "object is being deleted: ");
    }
    status
}
