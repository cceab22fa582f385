//! The service behind a rehearsal: it returns what was written. It validates nothing, sets no defaults, deletes no
//! children and keeps no `managedFields`; tests that need those need an API server.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use futures::stream;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::Frame;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::{Client, client::Body, core::SelectorExt};
use serde_json::{Value, json};

use super::rehearsal::Write;
use crate::{clock::Clock, selector, status::in_seconds};

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// Objects by path, and the requests. Clones share them.
#[derive(Clone)]
pub(super) struct Echo(Arc<Mutex<EchoState>>);

struct EchoState {
    clock: Clock,
    objects: BTreeMap<String, Value>,
    writes: Vec<Write>,
    /// A part of a path, and the status code with which writes to matching paths are refused.
    refused: Vec<(String, u16)>,
    /// Label selectors, and the paths of objects that they have left out of lists.
    unselected: BTreeSet<(String, String)>,
    version: u64,
}

/// The target of a path.
enum Target<'a> {
    Collection,
    Object,
    /// An object's path and the name of its subresource.
    Part(&'a str, &'a str),
}

impl Echo {
    /// No object; those that are made get their times from this clock.
    pub(super) fn new(clock: Clock) -> Self {
        let (objects, writes, refused, unselected) = Default::default();
        Self(Arc::new(Mutex::new(EchoState {
            clock,
            objects,
            writes,
            refused,
            unselected,
            version: 0,
        })))
    }

    /// The same objects, without the requests and refusals so far.
    pub(super) fn quiet(self) -> Self {
        let mut state = self.state();
        state.writes.clear();
        state.refused.clear();
        state.unselected.clear();
        drop(state);
        self
    }

    pub(super) fn client(&self) -> Client {
        let echo = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let echo = echo.clone();
            async move { echo.answer(request).await }
        });
        Client::new(service, "default")
    }

    pub(super) fn put(&self, path: &str, object: Value) {
        self.state().store(path, object);
    }

    pub(super) fn get(&self, path: &str) -> Option<Value> {
        self.state().objects.get(path).cloned()
    }

    pub(super) fn refuse(&self, part: &str, code: u16) {
        self.state().refused.push((part.to_owned(), code));
    }

    pub(super) fn writes(&self) -> Vec<Write> {
        self.state().writes.clone()
    }

    /// The objects that this label selector has left out of lists, as they are now.
    pub(super) fn unselected(&self, selector: &str) -> Vec<Value> {
        let state = self.state();
        let left_out = state.unselected.iter().filter(|(by, _)| by == selector);
        left_out
            .filter_map(|(_, path)| state.objects.get(path).cloned())
            .collect()
    }

    fn state(&self) -> MutexGuard<'_, EchoState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn answer(&self, request: Request<Body>) -> Result<Answer, kube::Error> {
        let (parts, body) = request.into_parts();
        let path = parts.uri.path().to_owned();
        if parts.uri.query().is_some_and(|query| query.contains("watch=true")) {
            // The reconciler makes all changes itself, so the watch has no events.
            let silence = stream::pending::<Result<Frame<Bytes>, Infallible>>();
            return Ok(Response::new(BodyExt::boxed_unsync(StreamBody::new(silence))));
        }
        let sent = body.collect().await?.to_bytes();
        let sent: Value = serde_json::from_slice(&sent).unwrap_or_default();
        let media = parts.headers.get("content-type").and_then(|media| media.to_str().ok());
        let apply = media.is_some_and(|media| media.contains("apply-patch"));
        let (code, answer) = if parts.method == Method::GET {
            self.state().read(&path, parts.uri.query().unwrap_or_default())
        } else {
            self.state().handle(&parts.method, &path, sent, apply)
        };
        let body = Full::new(Bytes::from(answer.to_string()));
        let mut response = Response::new(BodyExt::boxed_unsync(body));
        *response.status_mut() = code;
        Ok(response)
    }
}

impl EchoState {
    fn now(&self) -> Time {
        Time(in_seconds(self.clock.now()))
    }

    fn handle(&mut self, method: &Method, path: &str, sent: Value, apply: bool) -> (StatusCode, Value) {
        let verb = match *method {
            Method::POST => "create",
            Method::PUT => "update",
            Method::DELETE => "delete",
            _ if apply => "apply",
            _ => "patch",
        };
        self.writes.push(Write {
            verb,
            path: path.to_owned(),
            body: sent.clone(),
        });
        if let Some((_, code)) = self.refused.iter().find(|(part, _)| path.contains(part.as_str())) {
            let reason = if *code == 409 { "Conflict" } else { "Refused" };
            return failure(*code, reason, path);
        }
        match verb {
            "create" => self.create(path, sent),
            "delete" => self.delete(path),
            _ => self.change(path, sent, verb),
        }
    }

    fn read(&mut self, path: &str, query: &str) -> (StatusCode, Value) {
        if let Target::Collection = target(path) {
            let asked = query.split('&').find_map(|part| part.strip_prefix("labelSelector="));
            let asked = decoded(asked.unwrap_or_default());
            let Ok(selector) = selector::parse(&asked) else {
                return failure(400, "BadRequest", path);
            };
            let items = self.objects.iter().filter(|(at, _)| within(at, path));
            let (items, others): (Vec<_>, Vec<_>) = items.partition(|(_, object)| selector.matches(&labels(object)));
            let others = others.into_iter().map(|(at, _)| (asked.clone(), at.clone()));
            self.unselected.extend(others);
            let items: Vec<_> = items.into_iter().map(|(_, object)| object).collect();
            let meta = json!({"resourceVersion": self.version.to_string()});
            let list = json!({"kind": "List", "apiVersion": "v1", "metadata": meta, "items": items});
            return (StatusCode::OK, list);
        }
        match self.objects.get(path) {
            Some(object) => (StatusCode::OK, object.clone()),
            None => failure(404, "NotFound", path),
        }
    }

    fn create(&mut self, collection: &str, mut sent: Value) -> (StatusCode, Value) {
        if sent["metadata"]["name"].is_null() {
            let prefix = sent["metadata"]["generateName"].as_str().unwrap_or_default();
            sent["metadata"]["name"] = json!(format!("{prefix}{}", self.version + 1));
        }
        let path = format!("{collection}/{}", sent["metadata"]["name"].as_str().unwrap_or_default());
        if self.objects.contains_key(&path) {
            return failure(409, "AlreadyExists", &path);
        }
        (StatusCode::CREATED, self.store(&path, sent))
    }

    fn change(&mut self, path: &str, mut sent: Value, verb: &str) -> (StatusCode, Value) {
        let (path, part) = match target(path) {
            Target::Part(object, part) => (object, Some(part)),
            _ => (path, None),
        };
        let Some(mut object) = self.objects.get(path).cloned() else {
            return if verb == "apply" {
                (StatusCode::CREATED, self.store(path, sent))
            } else {
                failure(404, "NotFound", path)
            };
        };
        if let Some(meta) = sent["metadata"].as_object_mut() {
            meta.remove("resourceVersion");
        }
        match part {
            // A subresource request changes only that part.
            Some(part) => merge(&mut object[part], &sent[part]),
            None if verb == "update" => object = sent,
            None => merge(&mut object, &sent),
        }
        let stored = self.store(path, object);
        if !stored["metadata"]["deletionTimestamp"].is_null() && !is_held(&stored) {
            self.objects.remove(path);
        }
        (StatusCode::OK, stored)
    }

    fn delete(&mut self, path: &str) -> (StatusCode, Value) {
        match self.objects.get(path).cloned() {
            Some(mut object) if is_held(&object) => {
                object["metadata"]["deletionTimestamp"] = json!(self.now());
                (StatusCode::OK, self.store(path, object))
            }
            Some(object) => {
                self.objects.remove(path);
                (StatusCode::OK, object)
            }
            None => failure(404, "NotFound", path),
        }
    }

    fn store(&mut self, path: &str, mut object: Value) -> Value {
        self.version += 1;
        let meta = &mut object["metadata"];
        meta["resourceVersion"] = json!(self.version.to_string());
        let known = self.objects.get(path).map(|known| &known["metadata"]);
        let first = json!({"uid": format!("uid-{}", self.version), "generation": 1, "creationTimestamp": self.now()});
        for field in ["uid", "generation", "creationTimestamp"] {
            if meta[field].is_null() {
                meta[field] = known.unwrap_or(&first)[field].clone();
            }
        }
        self.objects.insert(path.to_owned(), object.clone());
        object
    }
}

/// The value of a query parameter: a selector is ASCII, so each escape is one character.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default().replace('+', " ");
    parts.fold(first, |mut all, part| {
        let (code, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        all.push(u8::from_str_radix(code, 16).map_or('%', char::from));
        all + &rest.replace('+', " ")
    })
}

fn labels(object: &Value) -> BTreeMap<String, String> {
    let labels = object["metadata"]["labels"].clone();
    serde_json::from_value(labels).unwrap_or_default()
}

/// Whether a finalizer keeps a deleted object.
fn is_held(object: &Value) -> bool {
    let finalizers = object["metadata"]["finalizers"].as_array();
    finalizers.is_some_and(|finalizers| !finalizers.is_empty())
}

/// Parses a path as the API server does: after the version follow a namespace, a plural, a name, a subresource.
fn target(path: &str) -> Target<'_> {
    let skipped = if path.starts_with("/api/") { 3 } else { 4 };
    let below: Vec<_> = path.split('/').skip(skipped).collect();
    let in_namespace = below.first() == Some(&"namespaces") && below.len() > 2;
    match below.len() - if in_namespace { 2 } else { 0 } {
        0 | 1 => Target::Collection,
        2 => Target::Object,
        _ => match path.rsplit_once('/') {
            Some((object, part)) => Target::Part(object, part),
            None => Target::Object,
        },
    }
}

/// Whether an object is in a collection of its namespace or of the whole cluster.
fn within(object: &str, collection: &str) -> bool {
    let of = object.rsplit_once('/').map_or("", |(of, _)| of);
    let everywhere = || {
        let (before, rest) = of.split_once("/namespaces/")?;
        let (_, plural) = rest.split_once('/')?;
        Some(format!("{before}/{plural}") == collection)
    };
    of == collection || everywhere() == Some(true)
}

/// A merge patch (RFC 7386).
fn merge(target: &mut Value, patch: &Value) {
    let Some(fields) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (name, value) in fields {
        if value.is_null() {
            target.as_object_mut().map(|map| map.remove(name));
        } else {
            merge(&mut target[name], value);
        }
    }
}

fn failure(code: u16, reason: &str, path: &str) -> (StatusCode, Value) {
    let mut words = path.rsplit('/');
    let (name, kind) = (words.next(), words.next());
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code,
        "reason": reason, "message": format!("{path}: {reason}"), "details": {"name": name, "kind": kind}});
    (
        StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        status,
    )
}
