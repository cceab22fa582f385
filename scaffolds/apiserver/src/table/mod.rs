//! Objects in the shape that clients request: complete, as rows of a Table, or only their metadata. Converts answers of
//! the registry; an answer that is not an object of the resource, for example a Status, stays unchanged.

mod partial;
mod rows;

use std::sync::Arc;

use bytes::Bytes;
use futures::{StreamExt, future};
use serde_json::{Value, json};

use crate::{
    call::Call,
    clock::Clock,
    registry::{Event, Events},
    request::accept::{META, META_BETA, Negotiated, Shape},
    resource::Resource,
    status::Status,
};

/// The presentation of the objects of one answer.
#[derive(Clone, Copy, Debug)]
pub struct View {
    shape: Shape,
    is_beta: bool,
    include: Include,
    /// The time for ages, which pass while a watch runs.
    clock: Clock,
}

/// The part of an object that its Table row contains.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Include {
    Nothing,
    Metadata,
    Object,
}

impl View {
    /// The view that is wanted, with the parameters in the query.
    ///
    /// # Errors
    /// 400 for an unknown `includeObject`.
    pub fn new(wanted: Negotiated, call: &Call, clock: Clock) -> Result<Self, Status> {
        let Negotiated { shape, is_beta, .. } = wanted;
        let include = match call.parameter("includeObject").unwrap_or_default() {
            "" | "Metadata" => Include::Metadata,
            "Object" => Include::Object,
            "None" => Include::Nothing,
            _ if shape != Shape::Table => Include::Metadata,
            other => {
                let other = kubewright_machinery::go::quote(other);
                return Err(Status::bad_request(format!(
                    "Unable to convert to Table as requested: includeObject: Invalid value: {other}: must be 'Metadata', \
                     'Object', 'None', or empty"
                )));
            }
        };
        Ok(Self {
            shape,
            is_beta,
            include,
            clock,
        })
    }

    /// Converts an answer: an object, a list, or a Status.
    ///
    /// # Errors
    /// 406 when the answer is one object but the shape is a list, or the reverse.
    pub fn show(&self, resource: &Resource, answer: Bytes) -> Result<Bytes, Status> {
        if self.shape == Shape::Object {
            return Ok(answer);
        }
        let answer: Value = serde_json::from_slice(&answer)?;
        self.value(resource, answer).map(|shown| shown.to_string().into())
    }

    /// Converts the events of a watch. An event that cannot be converted ends it, as upstream.
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
        // Only the first event has the column definitions.
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
        let is_scale = kind == "Scale" && answer["apiVersion"] == "autoscaling/v1";
        let now = self.clock.seconds();
        let mut shown = match (self.shape, is_list) {
            (Shape::Object, _) => return Ok(answer),
            (Shape::Table, _) if is_scale => rows::scale(resource, &answer, self.include, now),
            (Shape::Table, _) if is_list || kind == resource.names.kind => {
                rows::table(resource, &answer, self.include, now)
            }
            (Shape::Table, _) => return Err(Status::not_implemented(&format!("a Table of a {kind}"))),
            (Shape::Metadata, false) => partial::of(resource, &answer),
            (Shape::MetadataList, true) => partial::list(resource, &answer),
            (Shape::Metadata, true) => return Err(partial::not_one(resource)),
            (Shape::MetadataList, false) => return Err(partial::not_many(resource)),
        };
        if self.is_beta {
            to_beta(&mut shown);
        }
        Ok(shown)
    }
}

/// Puts a Table or metadata, and the metadata in it, into the former version.
fn to_beta(shown: &mut Value) {
    if shown["apiVersion"] == META {
        shown["apiVersion"] = META_BETA.into();
    }
    for items in ["items", "rows"] {
        for item in shown.get_mut(items).and_then(Value::as_array_mut).into_iter().flatten() {
            match items {
                "rows" => to_beta(&mut item["object"]),
                _ => to_beta(item),
            }
        }
    }
}

/// `kind` and `apiVersion` of the answer.
fn head(kind: &str) -> Value {
    json!({"kind": kind, "apiVersion": META})
}
