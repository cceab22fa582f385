//! The three patches that are no apply: JSON patch (RFC 6902), JSON merge patch (RFC 7396) and strategic merge patch,
//! each with the answers that kube-apiserver 1.36 has for what is no such patch. Pure: documents in, documents out.
//!
//! All take the body as it came, and whether it is to be looked at closely (`fieldValidation` other than `Ignore`): then
//! [`Patched::strict_errors`] lists what the server warns of, or what strict validation refuses.

mod json;
mod merge;
mod pointer;
mod strategic;

use kubewright_schema::{cause::Path, go};
use serde_json::Value;

pub use self::{json::json, merge::merge, strategic::strategic};
use crate::{
    request::json::{Document, read},
    status::Status,
};

/// What came of a patch; not yet decoded as the kind that it should be.
#[derive(Clone, Debug)]
pub struct Patched {
    /// The document.
    pub object: Value,
    /// What is odd about the patch itself: `duplicate field "data.k"`.
    pub strict_errors: Vec<String>,
    /// How refusals quote it, where that is not the document.
    shown: Option<String>,
}

impl Patched {
    /// The 422 for a patched document that is not of its kind, or not strictly. `why` is what decoding says:
    /// `json: cannot unmarshal …`, `strict decoding error: unknown field "x"`.
    pub fn refuse(&self, why: &str) -> Status {
        let shown = self.shown.clone().unwrap_or_else(|| go::json(&self.object));
        Status::invalid(("", ""), "", &[Path::new("patch").invalid(shown, why)])
    }

    fn as_json(object: Value, strict_errors: Vec<String>) -> Self {
        Self {
            object,
            strict_errors,
            shown: None,
        }
    }
}

/// 422, whatever a patch tripped over: the real server keeps that to itself.
fn rejected() -> Status {
    let mut status = Status::new(
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
    );
    status.details = Some(Box::default());
    status
}

/// Reads a body; `prefix` leads the server's sentences about it.
fn document(body: &[u8], prefix: &str) -> Result<Document, Status> {
    read(body).map_err(|why| Status::bad_request(format!("{prefix}{why}")))
}

/// What Go says of JSON that is not of the type that it reads into.
fn unmarshal(value: &Value, into: &str) -> String {
    let name = kubewright_schema::go::kind(value);
    format!("json: cannot unmarshal {name} into Go {into}")
}
