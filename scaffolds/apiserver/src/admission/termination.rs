//! No new objects of a custom kind while its definition terminates.

use super::{Attributes, Objects, Operation};
use crate::status::Status;

/// # Errors
/// 403 for a creation of a kind that forbids it.
pub(super) fn admit(attributes: &Attributes<'_>, objects: &Objects<'_>) -> Result<(), Status> {
    match attributes.call.resource.rules().forbids_creation {
        Some(why) if attributes.operation == Operation::Create => {
            Err(Status::forbidden(attributes.call.subject(), objects.given_name(), why))
        }
        _ => Ok(()),
    }
}
