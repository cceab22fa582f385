//! The end of a write that creates an object: prepare, validate, store under a free name.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{Attempt, Done, Prepared, Work};
use crate::{
    admission::{self, Attributes, Objects, Phase},
    authorize,
    call::Verb,
    meta,
    registry::record::{self, Draft, Written},
    status::Status,
    store::{Key, Record},
};

/// How many generated names are tried when names are taken.
const DRAWS: usize = 8;

/// Stores a new, admitted object; `None` when an object with the plan's name has appeared meanwhile.
///
/// # Errors
/// 422 for an object that is invalid, 409 when the name in the body is taken, 500 when the body has a resourceVersion.
pub async fn insert(work: &mut Work<'_>, attempt: &Attempt<'_>, mut object: Value) -> Result<Option<Done>, Status> {
    let is_named = attempt.plan.name.is_some();
    if is_named {
        meta::system::wipe(&mut object);
        meta::set(&mut object, "resourceVersion", None);
    }
    let is_taken = |status: &Status| status.reason == "AlreadyExists";
    let generates = meta::text(&object, "name").is_empty() && !meta::text(&object, "generateName").is_empty();
    for _ in 1..if generates { DRAWS } else { 1 } {
        match create(work, &attempt.attributes, object.clone()).await {
            Err(status) if is_taken(&status) => {}
            done => return done.map(Some),
        }
    }
    match create(work, &attempt.attributes, object).await {
        Err(status) if is_taken(&status) && is_named => Ok(None),
        done => done.map(Some),
    }
}

/// One attempt to store an object under its name.
async fn create(work: &mut Work<'_>, attributes: &Attributes<'_>, mut object: Value) -> Result<Done, Status> {
    let resource = work.resource();
    meta::system::fill(&mut object, &work.now);
    resource
        .strategy
        .prepare_for_create(&work.call.subresource, &mut object);
    if let Some(record_user) = resource.rules().records_user {
        record_user(&mut object, &work.call.user);
    }
    if resource.rules().counts_generation {
        meta::set(&mut object, "generation", Some(json!(1)));
    }
    let mut prepared = Prepared::new(work, object, None);
    validate(work, &prepared.object)?;
    may_create(work)?;
    let mut objects = Objects {
        new: Some(&mut prepared.object),
        old: None,
    };
    admission::admit(Phase::Validating, work.core, attributes, &mut objects).await?;

    let mut text = store(work, &mut prepared.object, attributes.dry_run)?;
    if !work.is_built_in() && resource.version == resource.storage_version {
        // A create does not write the status of a custom object, but its answer has the status with defaults, as a read
        // would. They are stored only with the next change. An object that is stored in another version has been read
        // back with its defaults already.
        resource.strategy.default(&mut prepared.object);
        if prepared.object.get("status").is_some() {
            text = None;
        }
    }
    let object = prepared.end(!attributes.dry_run);
    Ok(Done {
        is_new: true,
        written: Written { object, text },
    })
}

/// Whether an update or apply may create the object: authorization has checked another verb.
///
/// # Errors
/// 403 for a user who may not `create`.
fn may_create(work: &Work) -> Result<(), Status> {
    let call = work.call;
    if call.verb == Verb::Create {
        return Ok(());
    }
    let subject = work.subject();
    let asked = authorize::Attributes {
        is_resource: true,
        verb: "create".to_owned(),
        group: subject.group.to_owned(),
        namespace: call.namespace.clone(),
        resource: subject.name.to_owned(),
        subresource: call.subresource.clone(),
        name: call.name.clone(),
        ..authorize::Attributes::default()
    };
    work.core.authorizer.authorize(&work.core.store, &call.user, &asked)
}

fn validate(work: &mut Work, object: &Value) -> Result<(), Status> {
    let resource = work.resource();
    let mut causes = meta::validation_passes::created(resource, object);
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

/// Stores the object. Returns its stored text, if that is also the text of the answer.
fn store(work: &Work, object: &mut Value, dry_run: bool) -> Result<Option<Bytes>, Status> {
    work.forget_empties(object);
    let said = meta::text(object, "resourceVersion").parse::<u64>().unwrap_or_default();
    let key = work.key(meta::text(object, "name"));
    if dry_run {
        return match work.core.store.get(&key) {
            Some(there) => Err(exists(work, object, &there)),
            None => {
                // The answer has been through the stored version, as that of a real create.
                record::settle(work.resource(), object);
                Ok(None)
            }
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
