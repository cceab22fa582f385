//! The patches other than apply: JSON patch (RFC 6902), JSON merge patch (RFC 7396) and strategic merge patch, each
//! with the errors that kube-apiserver 1.37 reports for malformed patches. Pure functions from documents to documents.
//!
//! Each takes the body as received, and whether to check it strictly (`fieldValidation` other than `Ignore`). If so,
//! [`Patched::strict_errors`] lists what the server warns about or strict validation refuses.

mod json;
mod merge;
mod strategic;

use kubewright_machinery::{cause::Path, go};
use serde_json::Value;

pub use self::{
    json::{Unpatched, by_webhook, json},
    merge::merge,
    strategic::strategic,
};
use crate::{
    json::{Document, read},
    status::{Status, Subject},
};

/// The result of a patch, not yet decoded as an object of its kind.
#[derive(Clone, Debug)]
pub struct Patched {
    /// The document.
    pub object: Value,
    /// Problems in the patch itself: `duplicate field "data.k"`.
    pub strict_errors: Vec<String>,
    /// The text with which refusals quote it, if that is not the document.
    shown: Option<String>,
}

impl Patched {
    /// The 422 for a patched document that is not a valid object of its kind, or not under strict validation. `why` is
    /// the error from decoding: `json: cannot unmarshal …`, `strict decoding error: unknown field "x"`.
    pub fn refuse(&self, why: &str) -> Status {
        let shown = self.shown.clone().unwrap_or_else(|| go::json(&self.object));
        Status::invalid(Subject::new("", ""), "", &[Path::new("patch").invalid(shown, why)])
    }

    fn as_json(object: Value, strict_errors: Vec<String>) -> Self {
        Self {
            object,
            strict_errors,
            shown: None,
        }
    }
}

/// The 422 for any operation that failed: the real server does not say which.
fn rejected() -> Status {
    let mut status = Status::new(
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
    );
    status.details = Some(Box::default());
    status
}

/// Parses a body.
///
/// # Errors
/// 400 for a body that is not JSON.
pub fn document(body: &[u8]) -> Result<Document, Status> {
    read(body).map_err(|_| Status::bad_request("invalid JSON patch"))
}
