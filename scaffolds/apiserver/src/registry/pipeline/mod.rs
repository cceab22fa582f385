//! The pipeline of every write: read → own → admit → prepare → validate → store. When another writer came first, all of it
//! runs again, so no write is lost. A verb supplies only the next state.
//!
//! Admission may await, and the caller may drop the write meanwhile. That leaves nothing behind: nothing awaits from the
//! store's change on, and [`Prepared`] releases what preparation reserved.

mod insert;
mod live;
mod prepared;
mod remove;
mod replace;

pub use live::Live;
pub use remove::{Fate, Removal, remove};
pub use replace::spec_finalizers;

use std::borrow::Cow;

use serde_json::Value;

use super::{record::Written, storage, work::Work};
use crate::{
    admission::{self, Attributes, Objects, Operation, Phase},
    meta,
    status::Status,
};
use prepared::Prepared;

/// What a verb wants of a write.
pub struct Plan<'a> {
    /// The object's name; none where the body has it, of an object that must not be there yet.
    pub name: Option<&'a str>,
    /// The object must have this uid, unless it is empty.
    pub uid: &'a str,
    /// Whether nothing is stored in the end.
    pub dry_run: bool,
    /// Whether the object is created when it is not there.
    pub may_create: bool,
    /// The field manager; empty for the one that the user agent names. None where the next state has its managedFields
    /// already, as that of an apply.
    pub manager: Option<&'a str>,
}

/// How a verb changes an object.
pub trait Transition: Send + Sync {
    /// The next state, from the present one if there is one, both as the endpoint shows them.
    ///
    /// # Errors
    /// What is wrong with the request, as far as the verb knows.
    fn next(&mut self, work: &mut Work, old: Option<&Value>) -> Result<Value, Status>;

    /// The object as the endpoint shows it.
    ///
    /// # Errors
    /// The object cannot be shown.
    fn show<'o>(&self, _work: &Work, object: &'o Value) -> Result<Cow<'o, Value>, Status> {
        Ok(Cow::Borrowed(object))
    }

    /// Updates managedFields for a step of `manager`.
    fn own(&self, work: &Work, manager: &str, step: Step<'_>) {
        work.own(manager, step.old, step.new);
    }

    /// The next state of the object, from what the endpoint shows of it.
    ///
    /// # Errors
    /// `shown` breaks the rules of its own kind.
    fn put(&self, _work: &Work, _live: Option<&Value>, shown: Value) -> Result<Value, Status> {
        Ok(shown)
    }
}

/// From the present state to the next one, both as the endpoint shows them.
pub struct Step<'a> {
    pub old: Option<&'a Value>,
    pub new: &'a mut Value,
}

/// A write that was done.
pub struct Done {
    /// Whether the object is new.
    pub is_new: bool,
    /// As it now is.
    pub written: Written,
}

/// One try of a write, once the verb has supplied the next state.
struct Attempt<'a> {
    plan: &'a Plan<'a>,
    attributes: Attributes<'a>,
    transition: &'a dyn Transition,
    /// The present state as the endpoint shows it.
    old: Option<&'a Value>,
}

/// Brings an object to its next state.
///
/// # Errors
/// What the transition or admission says; 404; 409 when uid or resourceVersion are others'; 422 for a state that breaks
/// rules.
pub async fn write(work: &mut Work<'_>, plan: &Plan<'_>, transition: &mut dyn Transition) -> Result<Done, Status> {
    loop {
        if let Some(done) = attempt(work, plan, transition).await? {
            return Ok(done);
        }
    }
}

/// One try; `None` when another writer came first.
async fn attempt(
    work: &mut Work<'_>,
    plan: &Plan<'_>,
    transition: &mut dyn Transition,
) -> Result<Option<Done>, Status> {
    // Read.
    let live = match plan.name {
        Some(name) => Live::read(work, &work.key(name))?,
        None => None,
    };
    let present = live.as_ref().map(|live| &live.object);
    plan.check(work, present)?;
    let old = present.map(|object| transition.show(work, object)).transpose()?;
    let old = old.as_deref();
    let mut new = transition.next(work, old)?;

    // Own.
    if let Some(manager) = plan.manager {
        transition.own(work, manager, Step { old, new: &mut new });
    }

    // Admit.
    let attempt = Attempt {
        plan,
        attributes: Attributes {
            operation: match present {
                Some(_) => Operation::Update,
                None => Operation::Create,
            },
            call: work.call,
            dry_run: plan.dry_run,
        },
        transition,
        old,
    };
    let mut objects = Objects {
        new: Some(&mut new),
        old,
    };
    admission::admit(Phase::Mutating, work.core, &attempt.attributes, &mut objects).await?;
    let mut new = attempt.transition.put(work, present, new)?;
    work.dedupe_owners(&mut new, true);
    let mut objects = Objects {
        new: Some(&mut new),
        old: present,
    };
    admission::admit(Phase::Storage, work.core, &attempt.attributes, &mut objects).await?;

    // Prepare, validate, store.
    match &live {
        Some(live) => live.replace(work, &attempt, new).await,
        None => insert::insert(work, &attempt, new).await,
    }
}

impl Plan<'_> {
    /// Whether the object may be written as it is.
    fn check(&self, work: &Work, present: Option<&Value>) -> Result<(), Status> {
        let Some(name) = self.name else { return Ok(()) };
        if present.is_none() && !self.may_create {
            return Err(work.not_found(name));
        }
        let found = present.map(|object| meta::text(object, "uid")).unwrap_or_default();
        if self.uid.is_empty() || self.uid == found {
            return Ok(());
        }
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID \
             in precondition: {}, UID in object meta: {found}",
            storage::quoted(work.resource(), &work.key(name)),
            self.uid
        );
        Err(Status::conflict(work.subject(), name, &why))
    }
}
