//! Requests for resources, the same for every kind: what differs from kind to kind is asked of its
//! [`Strategy`](crate::strategy::Strategy). Data flows one way: a [`Call`] is decoded ([`body`], [`options`]), a verb of
//! [`verbs`] makes the next state of the object from it, and the [`pipeline`] brings that into the store.

mod body;
mod list;
mod options;
mod pipeline;
mod record;
mod reply;
mod storage;
mod strict;
mod verbs;
mod watch;
mod work;

pub use reply::{Answer, Reply};
pub use verbs::{read, read_review};
pub use watch::{Event, Events};

use crate::{call::Call, state::Core, status::Status};
use work::Work;

/// Answers a write. What the client should be warned of goes to `warnings`, also when it is refused.
///
/// A caller that drops this future leaves each object either as it was or written as a whole; of a collection some may be
/// deleted and others not.
///
/// # Errors
/// The Status to answer with.
pub async fn write(core: &Core, call: &Call, warnings: &mut Vec<String>) -> Result<Reply, Status> {
    let mut work = Work::new(core, call);
    let reply = verbs::write(&mut work).await;
    warnings.append(&mut work.warnings);
    reply
}
