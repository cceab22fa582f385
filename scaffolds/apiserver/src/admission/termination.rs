//! No objects of a custom kind are created while its definition is terminating.

use super::{Attributes, Objects, Operation};
use crate::status::Status;

/// # Errors
/// 403 if the definition of the kind is terminating.
pub(super) fn admit(attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    match attributes.call.resource.rules().forbids_creation {
        Some(why) if attributes.operation == Operation::Create => {
            Err(Status::forbidden(attributes.call.subject(), objects.given_name(), why))
        }
        _ => Ok(()),
    }
}
