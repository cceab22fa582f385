//! The deletion of an object that cannot be read from the storage. Objects of this server can always be read, so such a
//! request always fails, with upstream's errors in upstream's order.

use crate::{
    registry::{storage, work::Work},
    status::Status,
};

/// The verb that a user needs in addition to `delete`.
const VERB: &str = "unsafe-delete-ignore-read-errors";

/// The answer to the deletion of the object of the path.
pub fn refuse(work: &Work) -> Status {
    let (call, subject) = (work.call, work.subject());
    if work.resource().rules().deletion.only_readable {
        return Status::internal(
            "no unsafe deleter provided, can not honor ignoreStoreReadErrorWithClusterBreakingPotential",
        );
    }
    let wanted = work.asked(VERB);
    let decision = work.core.authorizer.decide(&work.core.store, &call.user, &wanted);
    if !decision.allowed {
        let why = format!("not permitted to do \"{VERB}\", reason: {}", decision.reason);
        return Status::forbidden(subject, &call.name, &why);
    }
    let key = work.key(&call.name);
    if work.core.store.get(&key).is_none() {
        return work.not_found(&call.name);
    }
    let why = "unsafe deletion is not allowed because the object is decodable from storage";
    let key = storage::quoted(work.resource(), &key);
    Status::conflict(subject, &call.name, &storage::invalid_object(&key, why))
}
