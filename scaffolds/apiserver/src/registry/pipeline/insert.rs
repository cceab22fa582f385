//! The end of a write that creates an object: prepare, validate, store under a free name.

use serde_json::{Value, json};

use super::{Attempt, Done, Prepared, Stored, Work, charge::charge};
use crate::{
    admission::{self, Objects, Phase},
    call::Verb,
    meta,
    registry::{
        body::Decoded,
        convert,
        record::Written,
        storage::{self, Target},
    },
    status::Status,
    store::{Key, Record},
};

/// The number of generated names that are tried when names are taken.
const DRAWS: usize = 8;

/// Stores a new, admitted object; `None` when an object with the plan's name has appeared meanwhile.
///
/// # Errors
/// 422 for an object that is invalid, 409 when the name in the body is taken, 500 when the body has a resourceVersion.
pub async fn insert(work: &Work<'_>, attempt: &Attempt<'_>, mut new: Decoded) -> Result<Option<Done>, Status> {
    let is_named = attempt.plan.name.is_some();
    if is_named {
        // Upstream, only a POST loses what else clients may not choose: the time of a deletion stays.
        for field in ["resourceVersion", "selfLink"] {
            meta::set(&mut new.object, field, None);
        }
    }
    let generates = meta::text(&new.object, "name").is_empty() && !meta::text(&new.object, "generateName").is_empty();
    for _ in 1..if generates { DRAWS } else { 1 } {
        match create(work, attempt, new.clone()).await {
            Err(status) if status.is_taken() => {}
            done => return done.map(Some),
        }
    }
    match create(work, attempt, new).await {
        Err(status) if status.is_taken() && is_named => Ok(None),
        done => done.map(Some),
    }
}

impl Attempt<'_> {
    /// The key of a new object. As upstream, it has the name in the request even if admission has changed the name in the
    /// object.
    fn key(&self, work: &Work, object: &Value) -> Key {
        work.key(self.plan.name.unwrap_or_else(|| meta::text(object, "name")))
    }
}

/// One attempt to store an object under its name.
async fn create(work: &Work<'_>, attempt: &Attempt<'_>, new: Decoded) -> Result<Done, Status> {
    let attributes = &attempt.attributes;
    let Decoded {
        mut object,
        has_empties,
        ..
    } = new;
    let resource = work.resource();
    meta::system::wipe(&mut object);
    meta::system::fill(&mut object, resource.rules().name, &work.now);
    let warnings = resource.strategy.early_warnings(&object);
    warnings.into_iter().for_each(|sentence| work.warn(sentence));
    resource
        .strategy
        .prepare_for_create(&work.call.subresource, &mut object);
    if let Some(record_user) = resource.rules().stamps.user {
        record_user(&mut object, &work.call.user);
    }
    if resource.rules().generation.is_counted {
        meta::set(&mut object, "generation", Some(json!(1)));
    }
    let mut prepared = Prepared::new(work, object, None);
    validate(work, attempt.is_changed, &prepared.object)?;
    may_create(work)?;
    let mut objects = Objects {
        new: Some(&mut prepared.object),
        old: None,
    };
    admission::admit(Phase::Validating, work.core, attributes, &mut objects).await?;
    let charged = charge(work, attributes, &objects).await?;

    if has_empties {
        work.forget_empties(&mut prepared.object);
    }
    let key = attempt.key(work, &prepared.object);
    let other = settle(work, &key, &mut prepared.object, attributes.dry_run).await?;
    let (mut text, stored) = match store(work, &key, &mut prepared.object, other, attributes.dry_run)? {
        Stored::Here(text) => (text, None),
        Stored::Elsewhere(stored) => (None, Some(stored)),
    };
    if let Some(charged) = charged {
        charged.keep();
    }
    if !work.is_built_in() && resource.version == resource.storage_version {
        // A create does not write the status of a custom object, but its answer has the status with defaults, as a read
        // would. They are stored only with the next change. An object that is stored in another version has been read
        // back with its defaults already.
        resource.strategy.default(&mut prepared.object);
        if prepared.object.get("status").is_some() {
            text = None;
        }
    }
    let mut object = prepared.end(!attributes.dry_run);
    if let Some(stored) = stored {
        object = convert::written(resource, stored, attributes.dry_run).await?;
    }
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
    let asked = work.asked("create");
    work.core.authorizer.authorize(&work.core.store, &call.user, &asked)
}

fn validate(work: &Work, is_changed: bool, object: &Value) -> Result<(), Status> {
    let resource = work.resource();
    let mut causes = match resource.strategy.is_of_type(object) {
        true => meta::validation_passes::created(resource, object, is_changed),
        false => Vec::new(),
    };
    causes.extend(resource.strategy.validate(object, &causes));
    meta::validation_passes::distinct(resource, &mut causes);
    if !causes.is_empty() {
        return Err(Status::invalid(
            work.kind_of(object),
            meta::text(object, "name"),
            &causes,
        ));
    }
    resource
        .strategy
        .warnings(object)
        .into_iter()
        .for_each(|sentence| work.warn(sentence));
    Ok(())
}

/// The object in the storage version, if that is another one. Whether the name is taken is known before that.
async fn settle(work: &Work<'_>, key: &Key, object: &mut Value, dry_run: bool) -> Result<Option<Value>, Status> {
    if dry_run && let Some(there) = work.core.store.get(key) {
        return Err(exists(work, object, &there));
    }
    if !dry_run && meta::text(object, "resourceVersion").parse::<u64>().unwrap_or_default() != 0 {
        const WHY: &str = "resourceVersion should not be set on objects to be created";
        return Err(Status::new(500, "", WHY));
    }
    if !dry_run {
        meta::set(object, "resourceVersion", None);
    }
    convert::settle(work.resource(), object).await
}

/// Stores the object. `other` is the object in the storage version, if that is another one. This function must not await.
fn store(work: &Work, key: &Key, object: &mut Value, other: Option<Value>, dry_run: bool) -> Result<Stored, Status> {
    let is_converted = convert::is_converted(work.resource());
    let (mut text, mut other) = (None, other);
    if !dry_run {
        let target = Target { key, revision: 0 };
        let draft = storage::draft(work, &target, object, &mut other)?;
        let Ok(record) = work.core.store.create(key, &|revision| draft.at(revision)) else {
            return Err(taken(work, object, key));
        };
        let revision = json!(record.revision.to_string());
        if let Some(other) = &mut other {
            meta::set(other, "resourceVersion", Some(revision.clone()));
        }
        meta::set(object, "resourceVersion", Some(revision));
        text = other.is_none().then(|| record.object.clone());
    }
    Ok(match other.filter(|_| is_converted) {
        Some(other) => Stored::Elsewhere(other),
        None => Stored::Here(text),
    })
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
    if meta::is_deleting(&there.value()) {
        status.message.insert_str(0, "object is being deleted: ");
    }
    status
}
