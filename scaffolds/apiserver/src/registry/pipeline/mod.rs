//! The pipeline of every write: read → own → admit → prepare → validate → store. When another writer came first, all
//! steps run again, so no write is lost. A verb supplies only the next state.
//!
//! Admission may await, and the caller may drop the write meanwhile. Nothing is left behind then: there is no await
//! after the change of the store, and [`Prepared`] releases what preparation reserved.

mod charge;
mod insert;
mod live;
mod prepared;
mod remove;
mod replace;

pub use live::{Live, Stored};
pub use remove::{Fate, Removal, remove, remove_directly};
pub use replace::spec_finalizers;

use std::borrow::Cow;

use serde_json::Value;

use super::{
    body::{self, Decoded},
    record::Written,
    storage,
    work::Work,
};
use crate::{
    admission::{self, Attributes, Objects, Operation, Phase},
    meta,
    status::Status,
    strategy::Empties,
};
use prepared::Prepared;

/// The parameters of a write, as its verb sets them.
pub struct Plan<'a> {
    /// The object's name; `None` if the body has it and the object must not exist.
    pub name: Option<&'a str>,
    /// The UID that the object must have, unless this is empty.
    pub uid: &'a str,
    /// Whether the object is checked but not stored.
    pub dry_run: bool,
    /// Whether the object is created if it does not exist.
    pub may_create: bool,
    /// The field manager; if empty, the one that the user agent names. `None` if the verb sets managedFields itself, as
    /// apply does.
    pub manager: Option<&'a str>,
}

/// The change of an object by a verb.
pub trait Transition: Send + Sync {
    /// The next state, computed from the present one if the object exists. Both are in the form that the endpoint
    /// shows.
    ///
    /// # Errors
    /// The errors of the request that the verb detects.
    fn next(&mut self, work: &Work, old: Option<&Value>) -> Result<Decoded, Status>;

    /// The object as the endpoint shows it.
    ///
    /// # Errors
    /// The object cannot be shown.
    fn show<'o>(&self, _work: &Work, object: &'o Value) -> Result<Cow<'o, Value>, Status> {
        Ok(Cow::Borrowed(object))
    }

    /// The present object as the verb reads it and as mutating admission sees it.
    ///
    /// # Errors
    /// The object cannot be shown.
    fn show_present<'o>(&self, work: &Work, object: &'o Value) -> Result<Cow<'o, Value>, Status> {
        self.show(work, object)
    }

    /// Updates managedFields for a step of `manager`.
    fn own(&self, work: &Work, manager: &str, step: WriteStep<'_>) {
        work.own(manager, step.old, step.new);
    }

    /// The next state of the object, computed from the form that the endpoint shows.
    ///
    /// # Errors
    /// `shown` is not valid in its own kind.
    fn put(&self, _work: &Work, _live: Option<&Value>, shown: Value) -> Result<Value, Status> {
        Ok(shown)
    }
}

/// The present state and the next one, both in the form that the endpoint shows.
pub struct WriteStep<'a> {
    pub old: Option<&'a Value>,
    pub new: &'a mut Decoded,
}

/// A completed write.
pub struct Done {
    /// Whether the object is new.
    pub is_new: bool,
    /// The object as written.
    pub written: Written,
}

/// One attempt of a write, once the verb has supplied the next state.
struct Attempt<'a> {
    plan: &'a Plan<'a>,
    attributes: Attributes<'a>,
    transition: &'a dyn Transition,
    /// The present state, in the form that the endpoint shows.
    old: Option<&'a Value>,
    /// Whether a policy or a webhook has changed the next state.
    is_changed: bool,
}

/// The number of attempts between which a write does not yield. While it yields, other requests run, and its time limit can end
/// it.
const ATTEMPTS_IN_A_ROW: usize = 16;

/// Brings an object to its next state.
///
/// # Errors
/// The errors of the transition and of admission; 404; 409 when UID or resourceVersion differ; 422 for a state that is
/// invalid.
pub async fn write(work: &Work<'_>, plan: &Plan<'_>, transition: &mut dyn Transition) -> Result<Done, Status> {
    loop {
        for _ in 0..ATTEMPTS_IN_A_ROW {
            if let Some(done) = attempt(work, plan, transition).await? {
                return Ok(done);
            }
        }
        tokio::task::yield_now().await;
    }
}

/// One attempt; `None` when another writer came first.
async fn attempt(work: &Work<'_>, plan: &Plan<'_>, transition: &mut dyn Transition) -> Result<Option<Done>, Status> {
    // Read.
    let live = match plan.name {
        Some(name) => Live::known(work, &work.key(name)).await?,
        None => None,
    };
    let present = live.as_ref().map(|live| &live.object);
    plan.check(work, present)?;
    let old = present
        .map(|object| transition.show_present(work, object))
        .transpose()?;
    let old = old.as_deref();
    let mut new = loop {
        let next = transition.next(work, old);
        if !work.convert_owned().await? {
            break next?;
        }
    };

    // Own.
    if let Some(manager) = plan.manager {
        own(work, manager, transition, WriteStep { old, new: &mut new }).await?;
    }

    // Admit.
    let mut attempt = Attempt {
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
        is_changed: false,
    };
    let mut objects = Objects {
        new: Some(&mut new.object),
        old,
    };
    attempt.is_changed = admission::admit(Phase::Mutating, work.core, &attempt.attributes, &mut objects).await?;
    new.object = attempt.transition.put(work, present, new.object)?;
    work.dedupe_owners(&mut new.object, true);
    if attempt.is_changed {
        body::check_namespace(work, &mut new.object)?;
        new.has_empties = work.resource().strategy.empties(&mut new.object, Empties::Meaningful);
    }
    let mut objects = Objects {
        new: Some(&mut new.object),
        old: present,
    };
    admission::admit(Phase::Storage, work.core, &attempt.attributes, &mut objects).await?;

    // Prepare, validate, store.
    match &live {
        Some(live) => live.replace(work, &attempt, new).await,
        None => insert::insert(work, &attempt, new).await,
    }
}

/// Updates managedFields. Where entries are in versions to which a webhook converts, this is repeated until all objects
/// that it compares have been converted.
async fn own(work: &Work<'_>, manager: &str, transition: &dyn Transition, step: WriteStep<'_>) -> Result<(), Status> {
    let WriteStep { old, new } = step;
    if work.resource().rules().conversion().is_none() {
        transition.own(work, manager, WriteStep { old, new });
        return Ok(());
    }
    loop {
        let mut owned = new.clone();
        transition.own(work, manager, WriteStep { old, new: &mut owned });
        if !work.convert_owned().await? {
            *new = owned;
            return Ok(());
        }
    }
}

impl Plan<'_> {
    /// Whether the object exists, or may be created, and has the UID of the precondition.
    fn check(&self, work: &Work, present: Option<&Value>) -> Result<(), Status> {
        let Some(name) = self.name else { return Ok(()) };
        if present.is_none() && !self.may_create {
            return Err(work.not_found(name));
        }
        let found = present.map(|object| meta::text(object, "uid")).unwrap_or_default();
        if self.uid.is_empty() || self.uid == found {
            return Ok(());
        }
        let failed = format!("UID in precondition: {}, UID in object meta: {found}", self.uid);
        Err(storage::failed_precondition(work, name, self.dry_run, &failed))
    }
}
