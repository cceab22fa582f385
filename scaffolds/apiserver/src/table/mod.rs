//! Objects as clients want to see them: whole, as rows of a Table, or their metadata alone. Reads what the registry
//! answers and rewrites it; what is no object of the resource, a Status for one, stays as it is.

mod partial;
mod rows;

use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, future};
use serde_json::{Value, json};

use crate::{
    call::Call,
    registry::{Event, Events},
    request::accept::Shape,
    resource::Resource,
    status::Status,
};

/// The group and version that Tables and metadata speak.
const META: &str = "meta.k8s.io/v1";

/// How the objects of one answer are shown.
#[derive(Clone, Copy, Debug)]
pub struct View {
    shape: Shape,
    include: Include,
    /// What ages count from, in seconds since 1970.
    now: i64,
}

/// What the rows of a Table have of their objects.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Include {
    Nothing,
    Metadata,
    Object,
}

impl View {
    /// In this shape, with what the query says about it.
    ///
    /// # Errors
    /// 400 for an unknown `includeObject`.
    pub fn new(shape: Shape, call: &Call, now: i64) -> Result<Self, Status> {
        let include = match call.parameter("includeObject").unwrap_or_default() {
            "" | "Metadata" => Include::Metadata,
            "Object" => Include::Object,
            "None" => Include::Nothing,
            _ if shape != Shape::Table => Include::Metadata,
            other => {
                let other = kubewright_schema::go::quote(other);
                return Err(Status::bad_request(format!(
                    "Unable to convert to Table as requested: includeObject: Invalid value: {other}: must be 'Metadata', \
                     'Object', 'None', or empty"
                )));
            }
        };
        Ok(Self { shape, include, now })
    }

    /// An answer: an object, a list, or a Status.
    ///
    /// # Errors
    /// 406 for one object as a list or the other way round.
    pub fn show(&self, resource: &Resource, answer: Bytes) -> Result<Bytes, Status> {
        if self.shape == Shape::Object {
            return Ok(answer);
        }
        let answer: Value = serde_json::from_slice(&answer).map_err(|error| Status::internal(&error.to_string()))?;
        self.value(resource, answer).map(|shown| shown.to_string().into())
    }

    /// The events of a watch. One that cannot be shown ends it, as upstream.
    pub fn events(self, resource: &Arc<Resource>, events: Events) -> Events {
        if self.shape == Shape::Object {
            return events;
        }
        let resource = Arc::clone(resource);
        Box::pin(events.scan(true, move |first, event| {
            let shown = self.event(&resource, event, std::mem::take(first));
            future::ready(shown)
        }))
    }

    fn event(&self, resource: &Resource, event: Event, first: bool) -> Option<Event> {
        if event.kind == "ERROR" {
            return Some(event);
        }
        let object: Value = serde_json::from_slice(&event.object).ok()?;
        let mut shown = self.value(resource, object).ok()?;
        // The columns are told once.
        if self.shape == Shape::Table && !first {
            shown["columnDefinitions"] = Value::Null;
        }
        Some(Event {
            kind: event.kind,
            object: shown.to_string().into(),
        })
    }

    fn value(&self, resource: &Resource, answer: Value) -> Result<Value, Status> {
        let kind = answer["kind"].as_str().unwrap_or_default();
        if kind == "Status" && answer["apiVersion"] == "v1" {
            return Ok(answer);
        }
        let is_list = kind == resource.names.list_kind;
        if self.shape == Shape::Table && !is_list && kind != resource.names.kind {
            return Err(Status::not_implemented(&format!("a Table of a {kind}")));
        }
        match (self.shape, is_list) {
            (Shape::Object, _) => Ok(answer),
            (Shape::Table, _) => Ok(rows::table(resource, &answer, self.include, self.now)),
            (Shape::Metadata, false) => Ok(partial::of(&answer)),
            (Shape::MetadataList, true) => Ok(partial::list(&answer)),
            (Shape::Metadata, true) => Err(partial::not_one(resource)),
            (Shape::MetadataList, false) => Err(partial::not_many(resource)),
        }
    }
}

/// `kind` and `apiVersion` of what is shown.
fn head(kind: &str) -> Value {
    json!({"kind": kind, "apiVersion": META})
}
