//! The verbs, the same for every kind: what differs from kind to kind is asked of its
//! [`Strategy`](crate::strategy::Strategy). Data flows one way: a [`Call`] is decoded ([`body`], [`options`]), becomes
//! the next state of an object ([`create`], [`update`], [`patch`], [`delete`]), and is stored by [`change`] under the
//! eyes of [`admit`].

mod admit;
mod answer;
mod body;
mod call;
mod change;
mod collection;
mod create;
mod delete;
mod finalize;
mod get;
mod grace;
mod list;
mod options;
mod patch;
mod patched;
mod record;
mod review;
mod scale;
mod storage;
mod strict;
mod update;
mod watch;
mod work;

pub use call::{Answer, Call, Reply, Verb};
pub use record::store_name;
pub use review::read as read_review;
pub use watch::{Event, Events};

use crate::{server::Core, status::Status};
use work::Work;

/// Answers a request for a resource that the catalogue has. What the client should be warned of goes to `warnings`, also
/// when it is refused.
///
/// # Errors
/// The Status to answer with.
pub async fn serve(core: &Core, call: Call, warnings: &mut Vec<String>) -> Result<Answer, Status> {
    if let Some(sentence) = call.resource.strategy.deprecation() {
        warnings.push(sentence.to_owned());
    }
    match call.verb {
        Verb::Get | Verb::List | Verb::Watch => read(core, &call).await,
        _ => serve_write(core, &call, warnings).map(Answer::Object),
    }
}

/// Answers a write, and does what follows from it.
///
/// # Errors
/// The Status to answer with.
pub(crate) fn serve_write(core: &Core, call: &Call, warnings: &mut Vec<String>) -> Result<Reply, Status> {
    let mut work = Work::new(core, call);
    let reply = write(&mut work);
    warnings.append(&mut work.warnings);
    if let Ok(reply) = &reply {
        core.definitions.follow(core, call, reply);
    }
    reply
}

/// A write of the server itself, which nothing follows.
///
/// # Errors
/// The Status that a client would be answered with.
pub(crate) fn perform(core: &Core, call: &Call) -> Result<Reply, Status> {
    write(&mut Work::new(core, call))
}

fn write(work: &mut Work) -> Result<Reply, Status> {
    let call = work.call;
    match (call.verb, call.subresource.as_str()) {
        (Verb::Create, "") => create::create(work),
        (Verb::Update, "" | "status") => update::update(work),
        (Verb::Patch, "" | "status") => patch::patch(work),
        (Verb::Update, "scale") => scale::update(work),
        (Verb::Patch, "scale") => scale::patch(work),
        (Verb::Update, "finalize") => finalize::finalize(work),
        (Verb::Delete, "") => delete::delete(work),
        (Verb::DeleteCollection, "") => collection::delete(work),
        (_, subresource) => Err(unknown(call, subresource)),
    }
}

async fn read(core: &Core, call: &Call) -> Result<Answer, Status> {
    match (call.verb, call.subresource.as_str()) {
        (Verb::Get, "" | "status") => get::get(core, call).await.map(Answer::Object),
        (Verb::List, "") => list::list(core, call).await.map(Answer::Object),
        (Verb::Watch, "") => watch::watch(core, call).await.map(Answer::Events),
        (Verb::Get, "scale") => scale::get(&Work::new(core, call)).map(Answer::Object),
        (_, subresource) => Err(unknown(call, subresource)),
    }
}

/// What the real server does and this one does not.
fn unknown(call: &Call, subresource: &str) -> Status {
    let resource = call.resource.qualified();
    Status::not_implemented(&format!("the subresource {subresource} of {resource}"))
}
