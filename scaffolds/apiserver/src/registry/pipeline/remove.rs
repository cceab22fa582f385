//! The pipeline of deletions: read → admit → store. The verb decides what becomes of the object.

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
    /// Nothing: its grace period runs already.
    Pending,
    /// It stays, changed.
    Kept,
    /// It is marked, which is a change of its own, and then removed.
    Marked,
    /// It is removed.
    Gone,
}

/// What becomes, or became, of an object.
pub struct Removal {
    pub fate: Fate,
    /// Its next state, or its last one.
    pub object: Value,
}

/// Decides what becomes of an object as it is now.
pub type Decide<'d> = dyn Fn(&Work, &Value) -> Result<Removal, Status> + Sync + 'd;

/// Deletes one object.
///
/// # Errors
/// 404, and what `decide` or admission says.
pub async fn remove(work: &Work<'_>, name: &str, dry_run: bool, decide: &Decide<'_>) -> Result<Removal, Status> {
    let attributes = Attributes {
        operation: Operation::Delete,
        call: work.call,
        dry_run,
    };
    let key = work.key(name);
    loop {
        let Some(live) = Live::read(work, &key)? else {
            return Err(work.not_found(name));
        };
        let removal = decide(work, &live.object)?;
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

impl Live {
    /// `None` when another writer came first. Nothing awaits here.
    fn remove(&self, work: &Work, removal: Removal, dry_run: bool) -> Option<Removal> {
        let Removal { fate, mut object } = removal;
        match fate {
            Fate::Pending => {}
            Fate::Gone => object = self.delete(work, dry_run)?,
            Fate::Marked | Fate::Kept => _ = self.write(work, &mut object, dry_run)?,
        }
        if fate == Fate::Marked && !dry_run {
            // What is deleted now is the object with its mark.
            let marked = Self::read(work, &self.key).ok().flatten();
            let marked = marked.filter(|it| meta::of(&it.object).get("uid") == meta::of(&object).get("uid"));
            object = marked.and_then(|it| it.delete(work, false)).unwrap_or(object);
        }
        Some(Removal { fate, object })
    }
}
