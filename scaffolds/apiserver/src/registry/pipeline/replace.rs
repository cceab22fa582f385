//! The end of a write that changes an object: prepare, validate, store; or remove it, if the write removes its last
//! finalizer.

use std::borrow::Cow;

use kubewright_machinery::{cause::Path, go};
use serde_json::{Map, Value, json};

use super::{Attempt, Done, Live, Prepared, Stored, Work, charge::charge};
use crate::{
    admission::{self, Objects, Phase},
    apply,
    call::Call,
    meta,
    registry::{body::Decoded, convert, record::Written},
    status::Status,
};

impl Live {
    /// Stores an admitted next state; `None` when another writer came first.
    ///
    /// # Errors
    /// 409 when the resourceVersion differs, 422 for a state that is invalid.
    pub(super) async fn replace(
        &self,
        work: &Work<'_>,
        attempt: &Attempt<'_>,
        mut new: Decoded,
    ) -> Result<Option<Done>, Status> {
        self.check_version(work, &mut new.object)?;
        self.prepare(work, &mut new);
        let has_empties = new.has_empties;
        let mut prepared = Prepared::new(work, new.object, Some(&self.object));
        self.validate(work, attempt.is_changed, &prepared.object)?;
        let view = |object| {
            Ok::<_, Status>(match attempt.transition.show(work, object)? {
                Cow::Owned(view) => Some(unmanaged(view)),
                Cow::Borrowed(_) => None,
            })
        };
        let (mut shown, old) = (view(&prepared.object)?, view(&self.object)?);
        let mut objects = Objects {
            new: Some(shown.as_mut().unwrap_or(&mut prepared.object)),
            old: old.as_ref().or(attempt.old),
        };
        admission::admit(Phase::Validating, work.core, &attempt.attributes, &mut objects).await?;
        let charged = charge(work, &attempt.attributes, &objects).await?;
        let new = &mut prepared.object;
        if !attempt.attributes.dry_run {
            // A `selfLink` is not stored, but upstream returns it from a dry run.
            meta::set(new, "selfLink", None);
        }
        // Upstream, an empty list differs from an absent one until it is stored.
        if !has_empties {
            apply::keep_times(&self.object, new);
        }
        let is_end = self.ends_with(work, new);
        if has_empties {
            work.forget_empties(new);
        }
        let other = match is_end {
            true => {
                if !work.is_built_in() {
                    go::store(new);
                }
                None
            }
            false => {
                let mut other = convert::settle(work.resource(), new).await?;
                self.keep_stored(work, &mut other, |field| match part(work.call) {
                    "" => field != "status",
                    _ => ["metadata", "status"].contains(&field),
                });
                other
            }
        };
        let next = Next { is_end, other };
        let Some((done, stored)) = self.store(work, prepared, next, attempt.attributes.dry_run)? else {
            return Ok(None);
        };
        if let Some(charged) = charged {
            charged.keep();
        }
        let Some(stored) = stored else { return Ok(Some(done)) };
        let object = convert::written(work.resource(), stored, attempt.attributes.dry_run).await?;
        let written = Written { object, text: None };
        Ok(Some(Done { written, ..done }))
    }

    /// Returns the written object, and its stored state if a webhook has to convert it. `None` when another writer came
    /// first. This function must not await.
    fn store(
        &self,
        work: &Work,
        mut prepared: Prepared<'_>,
        next: Next,
        dry_run: bool,
    ) -> Result<Option<(Done, Option<Value>)>, Status> {
        let new = &mut prepared.object;
        let (text, stored, is_stored) = if next.is_end {
            if self.delete(work, dry_run).is_none() {
                return Ok(None);
            }
            (None, None, false)
        } else {
            match self.write(work, new, next.other, dry_run)? {
                Some(Stored::Here(text)) => (text, None, !dry_run),
                Some(Stored::Elsewhere(stored)) => (None, Some(stored), !dry_run),
                None => return Ok(None),
            }
        };
        let object = prepared.end(is_stored);
        let done = Done {
            is_new: false,
            written: Written { object, text },
        };
        Ok(Some((done, stored)))
    }

    /// Checks that the writer's resourceVersion is the present one. Some kinds allow updates without one.
    fn check_version(&self, work: &Work, new: &mut Value) -> Result<(), Status> {
        let said = meta::text(new, "resourceVersion");
        let said = if said.is_empty() {
            0
        } else {
            said.parse::<u64>().map_err(|_| no_number(said))?
        };
        let (present, name) = (self.revision, work.call.name.as_str());
        if said == 0 && !work.resource().rules().put.is_unconditional {
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

    /// Restores the fields that this endpoint does not write, and increments the generation.
    fn prepare(&self, work: &Work, new: &mut Decoded) {
        let (has_empties, has_pruned) = (new.has_empties, new.has_pruned);
        let new = &mut new.object;
        let (strategy, rules, live) = (&work.resource().strategy, work.resource().rules(), &self.object);
        meta::set(new, "generation", meta::of(live).get("generation").cloned());
        match work.call.subresource.as_str() {
            "finalize" => put(new, "status", live.get("status").cloned()),
            _ => strategy.prepare_for_update(part(work.call), new, live),
        }
        if let Some(date) = rules.stamps.update {
            date(new, live, &work.now);
        }
        // Upstream's status strategies do not count, whatever else of the object their endpoint writes.
        let counts = rules.generation.is_counted && part(work.call) != "status";
        if counts && (has_pruned || self.is_another_generation(work, new, has_empties)) {
            meta::system::next_generation(new);
        }
        meta::system::keep(new, live);
    }

    fn is_another_generation(&self, work: &Work, new: &Value, has_empties: bool) -> bool {
        let rules = work.resource().rules();
        let counts = |field: &str| field != "metadata" && !(field == "status" && rules.has_status);
        // Upstream compares the objects of its internal version, which is the stored one.
        let (converted, live) = match &self.stored {
            Some(stored) if work.is_built_in() => {
                let mut converted = new.clone();
                work.resource().strategy.write(&mut converted);
                (Some(converted), stored)
            }
            _ => (None, &self.object),
        };
        let new = converted.as_ref().unwrap_or(new);
        let forgetful;
        let new = if has_empties && !rules.generation.counts_empty {
            let mut stored = new.clone();
            work.forget_empties(&mut stored);
            forgetful = stored;
            &forgetful
        } else {
            new
        };
        let fields = [new, live].into_iter().filter_map(Value::as_object).flat_map(Map::keys);
        let mut counted = fields.filter(|field| counts(field));
        let strategy = &work.resource().strategy;
        // Of custom objects, a null differs from an absent field.
        let is_typed = work.resource().is_typed();
        let changes = |field: &String| {
            let [new, live] = [new, live].map(|object| object.get(field));
            let is_there = is_typed || new.is_some() == live.is_some();
            let [new, live] = [new, live].map(|value| value.unwrap_or(&Value::Null));
            !(is_there && strategy.is_equal(field, new, live))
        };
        let of = |object, field: &str| meta::of(object).get(field);
        let is_counted = |field: &str| of(new, field) != of(live, field);
        counted.any(changes) || rules.generation.metadata.is_some_and(is_counted)
    }

    fn validate(&self, work: &Work, is_changed: bool, new: &Value) -> Result<(), Status> {
        let (resource, live) = (work.resource(), &self.object);
        let mut causes = meta::validation_passes::updated(resource, &work.call.subresource, is_changed, new, live);
        match work.call.subresource.as_str() {
            "finalize" => {
                let at = Path::new("spec").child("finalizers");
                causes.extend(meta::finalizers::standard(&spec_finalizers(new), &at));
            }
            _ => {
                let said = resource.strategy.validate_update(part(work.call), new, live, &causes);
                said.warnings.into_iter().for_each(|sentence| work.warn(sentence));
                causes.extend(said.causes);
            }
        }
        meta::validation_passes::distinct(resource, &mut causes);
        if !causes.is_empty() {
            return Err(Status::invalid(work.kind_of(new), meta::text(new, "name"), &causes));
        }
        let subresource = part(work.call);
        let warnings = resource.strategy.update_warnings(subresource, new, live);
        warnings.into_iter().for_each(|sentence| work.warn(sentence));
        Ok(())
    }

    /// Whether this change removes the last finalizer of an object that is being deleted.
    fn ends_with(&self, work: &Work, new: &Value) -> bool {
        let waits = meta::number(&self.object, "deletionGracePeriodSeconds").unwrap_or_default() != 0;
        let is_kept = work.resource().rules().has_spec_finalizers && !spec_finalizers(new).is_empty();
        meta::is_deleting(&self.object) && meta::texts(new, "finalizers").is_empty() && !waits && !is_kept
    }
}

/// The result of a change.
struct Next {
    /// Whether the object is removed: the change removes its last finalizer while it is being deleted.
    is_end: bool,
    /// The next state in the storage version, if that is another one.
    other: Option<Value>,
}

/// A view of an object, as upstream makes it for validating members: without managedFields.
fn unmanaged(mut view: Value) -> Value {
    meta::set(&mut view, "managedFields", None);
    view
}

/// The part of an object that a subresource writes: `scale` writes the object itself.
fn part(call: &Call) -> &str {
    match call.subresource.as_str() {
        part if part == "status" || call.writes_part() => part,
        _ => "",
    }
}

fn no_number(text: &str) -> Status {
    let shown = kubewright_machinery::go::quote(text);
    let out_of_range = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let why = if out_of_range {
        "value out of range"
    } else {
        "invalid syntax"
    };
    Status::new(500, "", format!("strconv.ParseUint: parsing {shown}: {why}"))
}

/// The finalizers in a namespace's `spec`.
pub fn spec_finalizers(namespace: &Value) -> Vec<&str> {
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
