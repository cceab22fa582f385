//! GET of an object.

use crate::{
    call::Call,
    registry::{convert, list::revision, reply::Reply},
    request::query,
    state::Core,
    status::Status,
};

/// The present state of the object. A `resourceVersion` is a minimum: past revisions are always satisfied.
///
/// # Errors
/// 400 for the parameter `export`; 404; 500 for a `resourceVersion` that is not a number, as upstream; 504 for a revision that is not reached within
/// three seconds.
pub async fn get(core: &Core, call: &Call) -> Result<Reply, Status> {
    if call.parameter("export").is_some_and(query::is_true) {
        return Err(Status::bad_request(
            "the export parameter, deprecated since v1.14, is no longer supported",
        ));
    }
    let text = call.parameter("resourceVersion").unwrap_or_default();
    let revision = revision::parse(text).map_err(|why| Status::new(500, "", why))?;
    revision::wait(&core.store, revision.unwrap_or_default()).await?;
    let resource = &call.resource;
    let found = core.store.get(&call.key(&call.name));
    let record = found.ok_or_else(|| Status::not_found(call.subject(), &call.name))?;
    Ok(Reply {
        code: 200,
        object: convert::present(resource, &record).await?,
    })
}
