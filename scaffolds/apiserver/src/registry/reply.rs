//! Answers that say that it was done.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{pipeline::Done, record, record::Written, work::Work};
use crate::meta;

/// An object or a Status that says Success, as the answer of one request.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The HTTP status: 200, 201 or 202.
    pub code: u16,
    /// JSON text in the version of the request; not yet a Table or PartialObjectMetadata, should those be wanted.
    pub object: Bytes,
}

/// The answer of one request.
pub enum Answer {
    /// An object, a list, or a Status that says Success.
    Object(Reply),
    /// What happens from now on.
    Events(super::Events),
}

/// What a write left.
pub(super) fn written(code: u16, written: Written) -> Reply {
    let object = written.text.unwrap_or_else(|| record::text(&written.object));
    Reply { code, object }
}

/// What an update left, or made.
pub(super) fn done(done: Done) -> Reply {
    written(if done.is_new { 201 } else { 200 }, done.written)
}

/// An object.
pub(super) fn object(code: u16, object: &Value) -> Reply {
    Reply {
        code,
        object: record::text(object),
    }
}

/// A Status: the object is gone. Its uid tells the client which one went.
pub(super) fn gone(work: &Work, object: &Value) -> Reply {
    let mut details = json!({
        "name": meta::text(object, "name"),
        "kind": work.subject().1,
        "uid": meta::text(object, "uid"),
    });
    if !work.subject().0.is_empty() {
        details["group"] = json!(work.subject().0);
    }
    let status = json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    });
    Reply {
        code: 200,
        object: record::text(&status),
    }
}
