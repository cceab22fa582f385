//! The verbs. Each reads its options and its body, and supplies the next state of an object; the
//! [`pipeline`](super::pipeline) does the rest of a write.

mod collection;
mod create;
pub mod delete;
mod finalize;
mod get;
mod grace;
mod patch;
mod patched;
mod posted;
mod scale;
mod unreadable;
mod update;

pub use posted::{Posted, read as read_posted};

use super::{Answer, Reply, convert, list, watch, work::Work};
use crate::{
    call::{Call, Verb},
    state::Core,
    status::Status,
};

/// Answers a read.
///
/// # Errors
/// The Status to answer with.
pub async fn read(core: &Core, call: &Call) -> Result<Answer, Status> {
    convert::check(&call.resource)?;
    match (call.verb, call.subresource.as_str()) {
        (Verb::Get, "" | "status") => get::get(core, call).await.map(Answer::Object),
        (Verb::List, "") => list::list(core, call).await.map(Answer::Object),
        (Verb::Watch, "") => watch::watch(core, call).await.map(Answer::Events),
        (Verb::Get, _) if call.writes_part() => get::get(core, call).await.map(Answer::Object),
        (Verb::Get, "scale") => scale::get(&Work::new(core, call)).await.map(Answer::Object),
        (_, subresource) => Err(unknown(call, subresource)),
    }
}

/// Answers a write.
///
/// # Errors
/// The Status to answer with.
pub async fn write(work: &Work<'_>) -> Result<Reply, Status> {
    let call = work.call;
    match (call.verb, call.subresource.as_str()) {
        (Verb::Create, "") => create::create(work).await,
        (Verb::Update, "" | "status") => update::update(work).await,
        (Verb::Patch, "" | "status") => patch::patch(work).await,
        (Verb::Update, _) if call.writes_part() => update::update(work).await,
        (Verb::Patch, _) if call.writes_part() => patch::patch(work).await,
        (Verb::Update, "scale") => scale::update(work).await,
        (Verb::Patch, "scale") => scale::patch(work).await,
        (Verb::Update, "finalize") => finalize::finalize(work).await,
        (Verb::Delete, "") => delete::delete(work).await,
        (Verb::DeleteCollection, "") => collection::delete(work).await,
        (_, subresource) => Err(unknown(call, subresource)),
    }
}

/// The answer to a request that the real server supports and this one does not.
fn unknown(call: &Call, subresource: &str) -> Status {
    let resource = call.resource.qualified();
    Status::not_implemented(&format!("the subresource {subresource} of {resource}"))
}
