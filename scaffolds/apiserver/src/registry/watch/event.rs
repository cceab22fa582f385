//! One event of a watch.

use bytes::Bytes;
use serde_json::{Value, json};

use super::super::record;
use crate::{
    call::Call, kinds::protobuf, meta, request::accept::Format, response::render, status::Status, store::Record,
};

/// The type of an event, and the object.
#[derive(Clone, Debug)]
pub struct Event {
    /// `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`.
    pub kind: &'static str,
    /// JSON text in the version of the request, or of a Status for `ERROR`; a requested Table or PartialObjectMetadata
    /// is made from it later.
    pub object: Bytes,
}

impl Event {
    pub(super) fn of(kind: &'static str, call: &Call, record: &Record) -> Result<Self, Status> {
        let object = record::present(&call.resource, record)?;
        Ok(Self { kind, object })
    }

    /// The object no longer matches the selector: the event has its previous state, at the revision of the change.
    pub(super) fn left(call: &Call, before: &Record, revision: u64) -> Result<Self, Status> {
        let mut object: Value = record::read(&call.resource, before)?;
        meta::set(&mut object, "resourceVersion", Some(json!(revision.to_string())));
        Ok(Self {
            kind: "DELETED",
            object: record::text(&object),
        })
    }

    pub(super) fn error(status: &Status) -> Self {
        Self {
            kind: "ERROR",
            object: record::text(&status.body()),
        }
    }

    /// The event as sent.
    pub fn encoded(&self, format: Format) -> Bytes {
        match format {
            Format::Protobuf => protobuf::event(self.kind, &render::text(self.object.clone(), format).0).into(),
            _ => self.line(),
        }
    }

    /// The event in JSON: one line.
    fn line(&self) -> Bytes {
        let mut line = Vec::with_capacity(self.object.len() + 40);
        line.extend_from_slice(br#"{"type":""#);
        line.extend_from_slice(self.kind.as_bytes());
        line.extend_from_slice(br#"","object":"#);
        line.extend_from_slice(&self.object);
        line.extend_from_slice(b"}\n");
        line.into()
    }
}
