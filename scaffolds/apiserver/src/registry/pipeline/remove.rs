//! The pipeline of deletions: read → admit → store. The verb decides whether the object is removed, changed or left as
//! it is.

use serde_json::Value;

use super::{Live, Stored, Work};
use crate::{
    admission::{self, Attributes, Objects, Operation, Phase},
    meta,
    registry::{convert, record},
    status::Status,
};

/// The effect of a deletion on an object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fate {
    /// No effect: its grace period has begun already.
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
        let live = Live::read(work, &work.key(name))
            .await?
            .ok_or_else(|| work.not_found(name))?;
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
        let mut removal = removal;
        let other = match removal.fate {
            // Upstream compares the object of its cache, converted back, with the stored one.
            Fate::Gone if convert::is_converted(work.resource()) && !dry_run => {
                convert::settle(work.resource(), &mut live.object.clone()).await?;
                None
            }
            Fate::Kept | Fate::Marked => {
                let mut other = convert::settle(work.resource(), &mut removal.object).await?;
                live.keep_stored(work, &mut other, |field| field == "metadata");
                other
            }
            Fate::Pending | Fate::Gone => None,
        };
        if let Some((mut done, stored)) = live.remove(work, removal, other, attributes.dry_run)? {
            if let Some(stored) = stored {
                done.object = convert::written(work.resource(), stored, attributes.dry_run).await?;
            }
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
        let live = Live::read_unconverted(work, &work.key(name))?.ok_or_else(|| work.not_found(name))?;
        let mut removal = decide(work, &live.object)?;
        let other = match removal.fate {
            Fate::Kept | Fate::Marked => record::settle(work.resource(), &mut removal.object),
            Fate::Pending | Fate::Gone => None,
        };
        if let Some((done, _)) = live.remove(work, removal, other, dry_run)? {
            return Ok(done);
        }
    }
}

impl Live {
    /// Returns what became of the object, and its stored state if a webhook has to convert it. `None` when another
    /// writer came first. This function must not await.
    fn remove(
        &self,
        work: &Work,
        removal: Removal,
        other: Option<Value>,
        dry_run: bool,
    ) -> Result<Option<(Removal, Option<Value>)>, Status> {
        let Removal { fate, mut object } = removal;
        let mut stored = None;
        match fate {
            Fate::Pending => {}
            Fate::Gone => match self.delete(work, dry_run) {
                Some(last) => object = last,
                None => return Ok(None),
            },
            Fate::Marked | Fate::Kept => match self.write(work, &mut object, other, dry_run)? {
                Some(Stored::Elsewhere(other)) => stored = Some(other),
                Some(Stored::Here(_)) => {}
                None => return Ok(None),
            },
        }
        if fate == Fate::Marked && !dry_run {
            // The marked object is the one to delete now. Only built-in kinds are given time.
            let marked = Self::read_unconverted(work, &self.key).ok().flatten();
            let marked = marked.filter(|it| meta::of(&it.object).get("uid") == meta::of(&object).get("uid"));
            object = marked.and_then(|it| it.delete(work, false)).unwrap_or(object);
        }
        Ok(Some((Removal { fate, object }, stored)))
    }
}
