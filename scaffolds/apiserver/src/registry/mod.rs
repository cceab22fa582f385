//! Requests for resources, in the same way for every kind: a kind's [`Strategy`](crate::strategy::Strategy) has what
//! differs. Data flows in one direction: [`body`] and [`options`] decode a [`Call`], a verb of [`verbs`] computes the
//! next state of the object, and the [`pipeline`] writes that to the store.

mod body;
mod convert;
pub mod direct;
mod empty;
mod list;
mod options;
mod owned;
mod pipeline;
mod record;
mod reply;
mod storage;
mod strict;
mod verbs;
mod watch;
mod work;

pub use options::DeleteOptions;
pub use reply::{Answer, Reply};
pub use verbs::{Posted, read, read_posted};
pub use watch::{Event, Events};

use crate::{call::Call, state::Core, status::Status};
use work::Work;

/// Answers a write. Warnings for the client are added to `warnings`, also when the request is refused.
///
/// A caller may drop this future: each object is then either unchanged or completely written. Of a collection, some
/// objects may have been deleted and others not.
///
/// # Errors
/// The Status to answer with.
pub async fn write(core: &Core, call: &Call, warnings: &mut Vec<String>) -> Result<Reply, Status> {
    core.check_disk()?;
    convert::check(&call.resource)?;
    let work = Work::new(core, call);
    let reply = verbs::write(&work).await;
    warnings.append(&mut call.warnings.take());
    reply
}
