//! From the state of an object to the next one: read it, let a verb make the next state, check, store; and all of it
//! again when another writer came first. So nothing is lost, whoever writes at the same time.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    admit, create,
    record::{self, Draft, Written},
    storage,
    work::Work,
};
use crate::{apply, meta, status::Status, store::Key};
use kubewright_schema::cause::Path;

/// What a verb wants of a change.
pub(super) struct Plan<'a> {
    pub name: &'a str,
    /// The object must have this uid, unless it is empty.
    pub uid: &'a str,
    pub dry_run: bool,
    /// Whether the object is created when it is not there.
    pub may_create: bool,
}

/// The next state of an object, from its live one if there is one.
pub(super) type Next<'n> = dyn FnMut(&mut Work, Option<&Value>) -> Result<Value, Status> + 'n;

/// Brings an object to its next state and returns that, with 200 or, where it was created, 201.
///
/// # Errors
/// What `next` says; 404; 409 when uid or resourceVersion are others'; 422 for a state that breaks rules.
pub(super) fn change(work: &mut Work, plan: &Plan, next: &mut Next) -> Result<(u16, Written), Status> {
    let key = work.key(plan.name);
    loop {
        let Some(live) = Live::read(work, &key)? else {
            if !plan.may_create {
                return Err(work.not_found(plan.name));
            }
            check_uid(work, (plan.uid, ""), &key)?;
            let mut object = next(work, None)?;
            admit::grant(work, &object, None)?;
            meta::system::wipe(&mut object);
            meta::set(&mut object, "resourceVersion", None);
            match create::insert(work, object, plan.dry_run) {
                Err(status) if status.reason == "AlreadyExists" => continue,
                created => return created.map(|written| (201, written)),
            }
        };
        check_uid(work, (plan.uid, meta::text(&live.object, "uid")), &key)?;
        let new = next(work, Some(&live.object))?;
        admit::grant(work, &new, Some(&live.object))?;
        if let Some(done) = live.step(work, new, plan)? {
            return Ok((200, done));
        }
    }
}

/// An object as it is now.
pub(super) struct Live {
    key: Key,
    pub revision: u64,
    /// As it is stored.
    text: Bytes,
    /// The same, read, where `object` is another one.
    stored: Option<Value>,
    /// In the version of the request.
    pub object: Value,
}

impl Live {
    /// The object of this key, if there is one.
    pub fn read(work: &Work, key: &Key) -> Result<Option<Self>, Status> {
        let Some(record) = work.core.store.get(key) else {
            return Ok(None);
        };
        let object = record::read(work.resource(), &record)?;
        let as_stored = record::is_as_stored(work.resource(), &record);
        let stored = (!as_stored).then(|| serde_json::from_slice(&record.object));
        Ok(Some(Self {
            key: key.clone(),
            revision: record.revision,
            text: record.object.clone(),
            stored: stored
                .transpose()
                .map_err(|error| Status::internal(&error.to_string()))?,
            object,
        }))
    }

    fn stored(&self) -> &Value {
        self.stored.as_ref().unwrap_or(&self.object)
    }

    /// Checks and stores the next state, and returns it; `None` when another writer came first.
    fn step(&self, work: &mut Work, mut new: Value, plan: &Plan) -> Result<Option<Written>, Status> {
        let strategy = &work.resource().strategy;
        self.check_version(work, &mut new, plan.name)?;
        self.prepare(work, &mut new);
        let stored = self.validate(work, &new).map(|()| {
            // To the server an empty list is a change of what comes back from the store as none.
            if !work.has_empties {
                apply::keep_times(&self.object, &mut new);
            }
            if self.ends_with(work, &new) {
                self.finish(work, plan.dry_run).then_some(None)
            } else {
                self.write(work, &mut new, plan.dry_run)
            }
        });
        if plan.dry_run || !matches!(stored, Ok(Some(_))) {
            strategy.release(&new, Some(&self.object));
        }
        stored.map(|done| done.map(|text| Written { object: new, text }))
    }

    /// The resourceVersion that the writer saw must be the present one. Kinds that allow it may be written unseen.
    fn check_version(&self, work: &Work, new: &mut Value, name: &str) -> Result<(), Status> {
        let said = meta::text(new, "resourceVersion");
        let said = if said.is_empty() {
            0
        } else {
            said.parse::<u64>().map_err(|_| no_number(said))?
        };
        let present = self.revision;
        if said == 0 && !work.resource().strategy.updates_unconditionally() {
            let at = Path::new("metadata").child("resourceVersion");
            let cause = at.invalid(0, "must be specified for an update");
            return Err(Status::invalid(work.subject(), name, &[cause]));
        }
        if said != 0 && said != present {
            return Err(Status::modified(work.subject(), name));
        }
        meta::set(new, "resourceVersion", Some(json!(present.to_string())));
        Ok(())
    }

    /// Takes over from the live object what this endpoint does not write, and counts generations.
    fn prepare(&self, work: &Work, new: &mut Value) {
        let (strategy, live) = (&work.resource().strategy, &self.object);
        meta::set(new, "generation", meta::of(live).get("generation").cloned());
        match work.call.subresource.as_str() {
            "finalize" => put(new, "status", live.get("status").cloned()),
            subresource => strategy.prepare_for_update(part(subresource), new, live),
        }
        if strategy.counts_generation() && self.is_another_generation(work, new) {
            meta::system::next_generation(new);
        }
        meta::system::keep(new, live);
    }

    fn is_another_generation(&self, work: &Work, new: &Value) -> bool {
        let strategy = &work.resource().strategy;
        let counts = |field: &str| field != "metadata" && !(field == "status" && strategy.has_status());
        let live = &self.object;
        let forgetful;
        let new = if work.has_empties && !strategy.counts_empty() {
            let mut stored = new.clone();
            work.forget_empties(&mut stored);
            forgetful = stored;
            &forgetful
        } else {
            new
        };
        let counted = [new, live].map(|object| {
            let fields = object.as_object().into_iter().flatten();
            fields.filter(|(field, _)| counts(field)).collect::<Vec<_>>()
        });
        let of = |object, field: &str| meta::of(object).get(field);
        let is_counted = |field: &str| of(new, field) != of(live, field);
        counted[0] != counted[1] || strategy.counts_metadata().is_some_and(is_counted)
    }

    fn validate(&self, work: &mut Work, new: &Value) -> Result<(), Status> {
        let (resource, live) = (work.resource(), &self.object);
        let mut causes = meta::rounds::updated((resource, &work.call.subresource), new, live);
        match work.call.subresource.as_str() {
            "finalize" => {
                let at = Path::new("spec").child("finalizers");
                causes.extend(meta::finalizers::standard(&spec_finalizers(new), &at));
            }
            subresource => {
                let said = resource.strategy.validate_update(part(subresource), new, live);
                said.warnings.into_iter().for_each(|sentence| work.warn(sentence));
                causes.extend(said.causes);
            }
        }
        if !causes.is_empty() {
            return Err(Status::invalid(work.kind(), meta::text(new, "name"), &causes));
        }
        let subresource = part(&work.call.subresource);
        let warnings = resource.strategy.update_warnings(subresource, new, live);
        warnings.into_iter().for_each(|sentence| work.warn(sentence));
        Ok(())
    }

    /// Whether this change takes away the last thing that kept an object that was deleted before.
    fn ends_with(&self, work: &Work, new: &Value) -> bool {
        let waits = meta::number(&self.object, "deletionGracePeriodSeconds").unwrap_or_default() != 0;
        let is_kept = work.subject() == ("", "namespaces") && !spec_finalizers(new).is_empty();
        meta::is_deleting(&self.object) && meta::texts(new, "finalizers").is_empty() && !waits && !is_kept
    }

    /// Deletes the object; its last state is the live one. False when another writer came first.
    pub fn finish(&self, work: &Work, dry_run: bool) -> bool {
        self.delete(work, dry_run).is_some()
    }

    /// Deletes the object and returns its last state, with the revision of the deletion.
    pub fn delete(&self, work: &Work, dry_run: bool) -> Option<Value> {
        let mut last = self.object.clone();
        if dry_run {
            return Some(last);
        }
        let last_text = Draft::of(self.stored());
        let deleted = work
            .core
            .store
            .delete(&self.key, self.revision, &|revision| last_text.at(revision));
        let record = deleted.ok()?;
        work.resource().strategy.release(&self.object, None);
        meta::set(&mut last, "resourceVersion", Some(json!(record.revision.to_string())));
        Some(last)
    }

    /// Stores the next state, if it is another, and returns its text where that is also the answer's. `None` when another
    /// writer came first.
    pub fn write(&self, work: &Work, new: &mut Value, dry_run: bool) -> Option<Option<Bytes>> {
        work.forget_empties(new);
        let other = record::settle(work.resource(), new);
        let stored = other.as_ref().unwrap_or(new);
        if stored == self.stored() {
            return Some(other.is_none().then(|| self.text.clone()));
        }
        if dry_run {
            return Some(None);
        }
        let draft = Draft::of(stored);
        let written = work
            .core
            .store
            .update(&self.key, self.revision, &|revision| draft.at(revision));
        let record = written.ok()?;
        meta::set(new, "resourceVersion", Some(json!(record.revision.to_string())));
        Some(other.is_none().then(|| record.object.clone()))
    }
}

/// The part of an object that a subresource writes: `scale` writes the object itself.
fn part(subresource: &str) -> &str {
    if subresource == "status" { "status" } else { "" }
}

fn check_uid(work: &Work, (wanted, found): (&str, &str), key: &Key) -> Result<(), Status> {
    if wanted.is_empty() || wanted == found {
        return Ok(());
    }
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID \
         in precondition: {wanted}, UID in object meta: {found}",
        storage::quoted(work.resource(), key)
    );
    Err(Status::conflict(work.subject(), &key.name, &why))
}

fn no_number(text: &str) -> Status {
    let shown = kubewright_schema::go::quote(text);
    let out_of_range = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let why = if out_of_range {
        "value out of range"
    } else {
        "invalid syntax"
    };
    Status::new(500, "", format!("strconv.ParseUint: parsing {shown}: {why}"))
}

/// What keeps a namespace.
pub(super) fn spec_finalizers(namespace: &Value) -> Vec<&str> {
    let list = namespace.pointer("/spec/finalizers").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn put(object: &mut Value, field: &str, value: Option<Value>) {
    if let Some(fields) = object.as_object_mut() {
        match value {
            Some(value) => _ = fields.insert(field.to_owned(), value),
            None => _ = fields.remove(field),
        }
    }
}
