//! The reason that an apply is refused.

use super::conflict::{Conflict, describe};
use crate::status::Status;

/// The reason that an apply is refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// 409: other managers own fields with other values; grouped by owner.
    #[error("{}", describe(.0))]
    Conflict(Vec<Conflict>),
    /// 400: the configuration does not belong to this request.
    #[error("{0}")]
    BadRequest(String),
    /// 500: for example, the configuration does not match the schema. The real server has no better status for this.
    #[error("{0}")]
    Internal(String),
}

impl Error {
    /// The answer of the server.
    pub fn status(&self) -> Status {
        match self {
            Self::Conflict(conflicts) => conflicts
                .iter()
                .fold(Status::new(409, "Conflict", self.to_string()), |status, it| {
                    status.because("FieldManagerConflict", &it.message(), &it.field())
                }),
            Self::BadRequest(message) => Status::bad_request(message),
            Self::Internal(message) => Status::new(500, "", message),
        }
    }
}
