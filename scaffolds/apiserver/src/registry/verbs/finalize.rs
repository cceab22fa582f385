//! PUT of `namespaces/finalize`: the only way to change a namespace's `spec.finalizers`.

use super::update;
use crate::{
    registry::{Reply, work::Work},
    status::Status,
};

/// Updates a namespace with its `spec.finalizers` but without its status; removes it if no finalizer is left.
pub async fn finalize(work: &Work<'_>) -> Result<Reply, Status> {
    if !work.resource().rules().has_spec_finalizers {
        return Err(Status::not_implemented(
            "the subresource finalize of other kinds than namespaces",
        ));
    }
    update::update(work).await
}
