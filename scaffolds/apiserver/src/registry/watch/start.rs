//! The start of a watch: at the present state, or after a revision.

use std::sync::Arc;

use super::super::{
    convert,
    list::{self, options::ListParameters, revision},
};
use crate::{
    call::Call,
    state::Core,
    status::Status,
    store::{Compacted, Record, Watch},
};

/// A started watch.
pub(super) struct Begun {
    /// The existing objects, if the client wants them.
    pub initial: Vec<Arc<Record>>,
    /// The revision of `initial`, if a bookmark has to mark its end.
    pub initial_end: Option<u64>,
    /// The changes after this revision follow.
    pub revision: u64,
    pub changes: Watch,
}

/// Starts a watch. The outer error is one of the request, the inner one an event of the stream.
pub(super) async fn start(core: &Core, call: &Call, options: &ListParameters) -> Result<Result<Begun, Status>, Status> {
    let asked = revision::parse(&options.resource_version).map_err(|why| Status::new(500, "", why))?;
    let asked = asked.unwrap_or_default();
    // If the parameter is absent, watches without a revision begin with the existing objects.
    let initial = options.initial_events.unwrap_or(asked == 0);
    if initial && let Err(status) = revision::wait(&core.store, asked).await {
        return Ok(Err(status));
    }
    let begun = begin(core, call, options, (!initial).then_some(asked));
    let mut begun = match begun {
        Ok(begun) => begun,
        Err(Compacted { oldest }) => return Ok(Err(too_old(asked, oldest))),
    };
    begun.initial = match convert::all(&call.resource, begun.initial).await {
        Ok(initial) => initial,
        Err(status) if status.code == 501 => return Err(status),
        // Upstream's cache of the version does not get as far as the object that cannot be converted.
        Err(_) => {
            let behind = begun.revision.saturating_sub(1);
            return Ok(Err(Status::too_large_resource_version(begun.revision, behind)));
        }
    };
    begun.initial.retain(|record| options.matches(call, record));
    Ok(Ok(begun))
}

/// Begins `after` a revision, the present one if that is 0; without one, with the objects that there are, which have
/// neither been converted nor selected.
fn begin(core: &Core, call: &Call, options: &ListParameters, after: Option<u64>) -> Result<Begun, Compacted> {
    let range = options.fields.narrow(list::range(call));
    let Some(after) = after else {
        let page = core.store.page(&range, None, "", 0)?;
        let changes = core.store.watch(&range, page.revision)?;
        let initial_end = options.bookmarks.then_some(page.revision);
        return Ok(Begun {
            initial: page.records,
            initial_end,
            revision: page.revision,
            changes,
        });
    };
    let revision = if after == 0 { core.store.revision() } else { after };
    let changes = core.store.watch(&range, revision)?;
    Ok(Begun {
        initial: Vec::new(),
        initial_end: None,
        revision,
        changes,
    })
}

/// 410: the history does not reach back to `asked`.
pub(super) fn too_old(asked: u64, oldest: u64) -> Status {
    Status::expired(format!("too old resource version: {asked} ({oldest})"))
}
