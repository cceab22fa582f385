//! Fields that stand twice or that the kind does not have: ignored, warned of, or refused.

use super::{options::Validation, work::Work};
use crate::status::Status;

/// Does with unknown and duplicate fields as the client wishes; `refuse` makes the answer from the sentence about them.
///
/// # Errors
/// What `refuse` makes, under [`Validation::Strict`].
pub(super) fn judge(
    work: &mut Work,
    validation: Validation,
    strict_errors: Vec<String>,
    refuse: impl FnOnce(String) -> Status,
) -> Result<(), Status> {
    match validation {
        Validation::Strict if !strict_errors.is_empty() => {
            return Err(refuse(format!("strict decoding error: {}", strict_errors.join(", "))));
        }
        Validation::Warn => strict_errors.into_iter().for_each(|sentence| work.warn(sentence)),
        _ => {}
    }
    Ok(())
}
