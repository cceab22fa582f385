//! The pipeline of deletions: read → admit → store. The verb decides whether the object is removed, changed or left as
//! it is.

use serde_json::Value;

use super::{Live, Work};
use crate::{
    admission::{self, Attributes, Objects, Operation, Phase},
    meta,
    status::Status,
};

/// What a deletion does to an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// Nothing: its grace period has begun already.
    Pending,
    /// The object is changed, and remains.
    Kept,
    /// The object is marked, which is a change of its own, and then removed.
    Marked,
    /// The object is removed.
    Gone,
}

/// The fate of an object, before or after it is carried out.
pub struct Removal {
    pub fate: Fate,
    /// The object's next state, or its last one.
    pub object: Value,
}

/// Decides the fate of an object from its present state.
pub type Decide<'d> = dyn Fn(&Work, &Value) -> Result<Removal, Status> + Sync + 'd;

/// Deletes one object.
///
/// # Errors
/// 404, and the errors of `decide` and admission.
pub async fn remove(work: &Work<'_>, name: &str, dry_run: bool, decide: &Decide<'_>) -> Result<Removal, Status> {
    let attributes = Attributes {
        operation: Operation::Delete,
        call: work.call,
        dry_run,
    };
    loop {
        let (live, removal) = decided(work, name, decide)?;
        if removal.fate == Fate::Pending {
            return Ok(removal);
        }
        for phase in [Phase::Mutating, Phase::Validating] {
            let mut objects = Objects {
                new: None,
                old: Some(&live.object),
            };
            admission::admit(phase, work.core, &attributes, &mut objects).await?;
        }
        if let Some(done) = live.remove(work, removal, attributes.dry_run) {
            return Ok(done);
        }
    }
}

/// Deletes one object without admission.
///
/// # Errors
/// 404, and what `decide` says.
pub fn remove_directly(work: &Work<'_>, name: &str, dry_run: bool, decide: &Decide<'_>) -> Result<Removal, Status> {
    loop {
        let (live, removal) = decided(work, name, decide)?;
        if let Some(done) = live.remove(work, removal, dry_run) {
            return Ok(done);
        }
    }
}

/// An object as it is now, and what becomes of it.
fn decided(work: &Work<'_>, name: &str, decide: &Decide<'_>) -> Result<(Live, Removal), Status> {
    let Some(live) = Live::read(work, &work.key(name))? else {
        return Err(work.not_found(name));
    };
    let removal = decide(work, &live.object)?;
    Ok((live, removal))
}

impl Live {
    /// `None` when another writer came first. This function must not await.
    fn remove(&self, work: &Work, removal: Removal, dry_run: bool) -> Option<Removal> {
        let Removal { fate, mut object } = removal;
        match fate {
            Fate::Pending => {}
            Fate::Gone => object = self.delete(work, dry_run)?,
            Fate::Marked | Fate::Kept => _ = self.write(work, &mut object, dry_run)?,
        }
        if fate == Fate::Marked && !dry_run {
            // The marked object is the one to delete now.
            let marked = Self::read(work, &self.key).ok().flatten();
            let marked = marked.filter(|it| meta::of(&it.object).get("uid") == meta::of(&object).get("uid"));
            object = marked.and_then(|it| it.delete(work, false)).unwrap_or(object);
        }
        Some(Removal { fate, object })
    }
}
