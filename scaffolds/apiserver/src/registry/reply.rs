//! Successful answers.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{pipeline::Done, record, record::Written, work::Work};
use crate::meta;

/// An object or a Status of Success, as the answer to a request.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The HTTP status: 200, 201 or 202.
    pub code: u16,
    /// JSON text in the version of the request; a requested Table or PartialObjectMetadata is made from it later.
    pub object: Bytes,
}

/// The answer to a request.
pub enum Answer {
    /// An object, a list, or a Status of Success.
    Object(Reply),
    /// The events of a watch.
    Events(super::Events),
    /// 204, without a body.
    Nothing,
}

/// The answer with an object that was written.
pub(super) fn written(code: u16, written: Written) -> Reply {
    let object = written.text.unwrap_or_else(|| record::text(&written.object));
    Reply { code, object }
}

/// The answer to an update or create.
pub(super) fn done(done: Done) -> Reply {
    written(if done.is_new { 201 } else { 200 }, done.written)
}

/// The answer with an object.
pub(super) fn object(code: u16, object: &Value) -> Reply {
    Reply {
        code,
        object: record::text(object),
    }
}

/// A Status: the object was deleted. Its details have the object's UID.
pub(super) fn gone(work: &Work, object: &Value) -> Reply {
    let mut details = json!({
        "name": meta::text(object, "name"),
        "kind": work.subject().name,
        "uid": meta::text(object, "uid"),
    });
    if !work.subject().group.is_empty() {
        details["group"] = json!(work.subject().group);
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
