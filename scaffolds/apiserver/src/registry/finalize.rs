//! PUT of `namespaces/finalize`: the only way to change what keeps a namespace.

use super::{Reply, update, work::Work};
use crate::status::Status;

/// Updates a namespace with its `spec.finalizers` but without its status; it goes when nothing keeps it any more.
pub(super) fn finalize(work: &mut Work) -> Result<Reply, Status> {
    if work.subject() != ("", "namespaces") {
        return Err(Status::not_implemented(
            "the subresource finalize of other kinds than namespaces",
        ));
    }
    update::update(work)
}
