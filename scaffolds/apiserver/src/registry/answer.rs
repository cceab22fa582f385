//! Answers that say that it was done.

use serde_json::{Value, json};

use super::{Reply, record, record::Written, work::Work};
use crate::meta;

/// What a write left.
pub(super) fn written(code: u16, written: Written) -> Reply {
    let object = written.text.unwrap_or_else(|| record::text(&written.object));
    Reply { code, object }
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
