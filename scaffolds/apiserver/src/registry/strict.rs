//! Unknown and duplicate fields: ignored, warned about, or refused.

use super::{options::Validation, work::Work};
use crate::status::Status;

/// Treats unknown and duplicate fields as the client asks; `refuse` makes the answer from the sentence about them.
///
/// # Errors
/// The answer of `refuse`, under [`Validation::Strict`].
pub(super) fn judge(
    work: &Work,
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
