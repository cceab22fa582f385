//! A world for one test: objects in memory behind the requests that a controller makes, and a log of those requests.
//! It knows no schema, no defaults and no other verbs; a request that it does not understand fails the test by 501.

#![allow(dead_code, reason = "every test binary uses its own part")]

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures::{future::BoxFuture, stream};
use http::{Request, Response};
use http_body_util::{BodyExt, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::Frame;
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tokio::sync::watch;

type Reply = Response<UnsyncBoxBody<Bytes, Infallible>>;
/// Looks at a request before the world does, and may answer in its place.
type Hook = Arc<dyn Fn(&str, &str) -> Option<(u16, Value)> + Send + Sync>;

#[derive(Clone)]
pub struct World(Arc<Inner>);

struct Inner {
    state: Mutex<State>,
    version: watch::Sender<u64>,
    hook: Mutex<Option<Hook>>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Value>,
    events: Vec<(u64, String, String)>,
    requests: Vec<String>,
    next_uid: u64,
    crash: Option<Crash>,
    /// How long the answer to a write takes after it is stored, so that the watch is faster.
    reply_lag: Duration,
    /// Requests whose path contains this are never answered.
    hangs: Option<String>,
    /// How long the watch of a collection is behind.
    watch_lag: Option<(String, Duration)>,
}

/// The process under test dies around one of its writes.
struct Crash {
    writes_left: usize,
    /// Whether the write it dies at still reaches the store.
    stored: bool,
}

impl World {
    pub fn new() -> Self {
        let (version, _) = watch::channel(1);
        Self(Arc::new(Inner {
            state: Mutex::default(),
            version,
            hook: Mutex::default(),
        }))
    }

    pub fn client(&self) -> Client {
        let world = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let world = world.clone();
            let answer: BoxFuture<'static, Result<Reply, Infallible>> =
                Box::pin(async move { Ok(world.answer(request).await) });
            answer
        });
        Client::new(service, "default")
    }

    /// Answers requests by method and path before the world does.
    pub fn intercept(&self, hook: impl Fn(&str, &str) -> Option<(u16, Value)> + Send + Sync + 'static) {
        *self.0.hook.lock().unwrap() = Some(Arc::new(hook));
    }

    /// From now on requests whose path contains `part` are never answered.
    pub fn hang(&self, part: &str) {
        self.0.state.lock().unwrap().hangs = Some(part.to_owned());
    }

    /// From now on watch events overtake the answers to the writes that caused them, which take this long.
    pub fn delay_replies(&self, lag: Duration) {
        self.0.state.lock().unwrap().reply_lag = lag;
    }

    /// From now on the watches of collections of this name are behind by this much.
    pub fn delay_watches(&self, plural: &str, lag: Duration) {
        self.0.state.lock().unwrap().watch_lag = Some((plural.to_owned(), lag));
    }

    /// From its `n`th write on (from 0), nothing the process sends is answered: it is as good as dead. That
    /// write itself is `stored`, or not.
    pub fn crash_at(&self, n: usize, stored: bool) {
        self.0.state.lock().unwrap().crash = Some(Crash { writes_left: n, stored });
    }

    /// The next process is answered again. Returns whether the one before got as far as its crash.
    pub fn restart(&self) -> bool {
        let crash = self.0.state.lock().unwrap().crash.take();
        crash.is_some_and(|crash| crash.writes_left == usize::MAX)
    }

    /// All objects by their paths, without what differs from run to run.
    pub fn end_state(&self) -> BTreeMap<String, Value> {
        let state = self.0.state.lock().unwrap();
        let plain = |object: &Value| {
            let mut object = object.clone();
            for field in ["resourceVersion", "uid", "managedFields"] {
                object["metadata"].as_object_mut().map(|meta| meta.remove(field));
            }
            for owner in object["metadata"]["ownerReferences"]
                .as_array_mut()
                .into_iter()
                .flatten()
            {
                owner["uid"] = Value::Null;
            }
            for condition in object["status"]["conditions"].as_array_mut().into_iter().flatten() {
                condition["lastTransitionTime"] = Value::Null;
            }
            object
        };
        state
            .objects
            .iter()
            .map(|(path, object)| (path.clone(), plain(object)))
            .collect()
    }

    /// The requests so far, as `VERB path`, watches as `WATCH path`.
    pub fn requests(&self, starts_with: &str) -> Vec<String> {
        let state = self.0.state.lock().unwrap();
        state
            .requests
            .iter()
            .filter(|request| request.starts_with(starts_with))
            .cloned()
            .collect()
    }

    pub fn object(&self, path: &str) -> Option<Value> {
        self.0.state.lock().unwrap().objects.get(path).cloned()
    }

    pub fn count(&self, collection: &str) -> usize {
        let state = self.0.state.lock().unwrap();
        state.objects.keys().filter(|path| parent(path) == collection).count()
    }

    /// What somebody else writes: creates or replaces, or, with null, deletes at once.
    pub fn put(&self, path: &str, mut object: Value) {
        let mut state = self.0.state.lock().unwrap();
        if object.is_null() {
            if let Some(old) = state.objects.remove(path) {
                self.record(&mut state, "DELETED", path, old);
            }
            return;
        }
        let old = state.objects.get(path).cloned();
        object["metadata"]["name"] = json!(path.rsplit('/').next());
        if let Some(namespace) = namespace(path) {
            object["metadata"]["namespace"] = json!(namespace);
        }
        self.store(&mut state, path, old, object);
    }

    pub fn edit(&self, path: &str, change: impl FnOnce(&mut Value)) {
        let mut object = self.object(path).expect("the object to edit is there");
        change(&mut object);
        self.put(path, object);
    }

    /// `kubectl delete`: at once without finalizers, else by a timestamp.
    pub fn delete(&self, path: &str) {
        let finalizers = self
            .object(path)
            .is_some_and(|o| !is_empty(&o["metadata"]["finalizers"]));
        if finalizers {
            self.edit(path, |object| {
                object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z")
            });
        } else {
            self.put(path, Value::Null);
        }
    }

    fn store(&self, state: &mut State, path: &str, old: Option<Value>, mut object: Value) -> Value {
        match &old {
            None => {
                state.next_uid += 1;
                object["metadata"]["uid"] = json!(format!("uid-{}", state.next_uid));
                object["metadata"]["generation"] = json!(1);
            }
            Some(old) => {
                let moved = old["spec"] != object["spec"]
                    || old["metadata"]["deletionTimestamp"] != object["metadata"]["deletionTimestamp"];
                let generation = old["metadata"]["generation"].as_u64().unwrap_or(1);
                object["metadata"]["generation"] = json!(generation + u64::from(moved));
                for field in ["uid", "resourceVersion"] {
                    object["metadata"][field] = old["metadata"][field].clone();
                }
                if *old == object {
                    return object;
                }
            }
        }
        let gone = !object["metadata"]["deletionTimestamp"].is_null() && is_empty(&object["metadata"]["finalizers"]);
        if gone {
            state.objects.remove(path);
            self.record(state, "DELETED", path, object.clone());
            return object;
        }
        let stored = self.record(state, if old.is_some() { "MODIFIED" } else { "ADDED" }, path, object);
        state.objects.insert(path.to_owned(), stored.clone());
        stored
    }

    fn record(&self, state: &mut State, kind: &str, path: &str, mut object: Value) -> Value {
        let version = *self.0.version.borrow() + 1;
        object["metadata"]["resourceVersion"] = json!(version.to_string());
        // In the order in which the API server writes it: the type first.
        let event = format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n");
        state.events.push((version, path.to_owned(), event));
        self.0.version.send_replace(version);
        object
    }

    async fn answer(&self, request: Request<Body>) -> Reply {
        let (parts, body) = request.into_parts();
        let (path, query) = (
            parts.uri.path().to_owned(),
            parts.uri.query().unwrap_or_default().to_owned(),
        );
        let watching = query.contains("watch=true");
        let verb = if watching { "WATCH" } else { parts.method.as_str() };
        self.0.state.lock().unwrap().requests.push(format!("{verb} {path}"));
        let kind = parts
            .headers
            .get("content-type")
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or_default()
            .to_owned();
        let writing = !matches!(verb, "WATCH" | "GET");
        let dies = self.dies(writing);
        let hangs = self.0.state.lock().unwrap().hangs.clone();
        if dies == Some(false) || hangs.is_some_and(|part| path.contains(&part)) {
            return std::future::pending().await;
        }
        let hook = self.0.hook.lock().unwrap().clone();
        if let Some((code, body)) = hook.and_then(|hook| hook(verb, &path)) {
            return whole(code, body);
        }
        let bytes = body.collect().await.expect("a request has a body").to_bytes();
        let sent: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let reply = match verb {
            "WATCH" => self.watch(&path, &query),
            "GET" => self.get(&path),
            "POST" => self.create(&path, owned_by(sent, &query, "Update")),
            "PATCH" if kind.contains("apply") => self.patch(&path, owned_by(sent, &query, "Apply")),
            "PATCH" => self.patch(&path, sent),
            "DELETE" => self.remove(&path, &sent["preconditions"]["uid"]),
            _ => whole(501, failure(501, "NotImplemented", &path)),
        };
        if dies.is_some() {
            std::future::pending().await
        } else {
            reply
        }
    }

    fn remove(&self, path: &str, uid: &Value) -> Reply {
        match self.object(path) {
            Some(object) if object["metadata"]["uid"] == *uid => {
                self.delete(path);
                whole(
                    200,
                    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}),
                )
            }
            Some(_) => whole(409, failure(409, "Conflict", path)),
            None => whole(404, failure(404, "NotFound", path)),
        }
    }

    /// Whether the process is dead by now, and if so whether this very write is stored.
    fn dies(&self, writing: bool) -> Option<bool> {
        let mut state = self.0.state.lock().unwrap();
        let crash = state.crash.as_mut()?;
        match (crash.writes_left, writing) {
            (usize::MAX, _) => Some(false),
            (0, true) => {
                let stored = crash.stored;
                crash.writes_left = usize::MAX;
                Some(stored)
            }
            (_, true) => {
                crash.writes_left -= 1;
                None
            }
            (_, false) => None,
        }
    }

    fn get(&self, path: &str) -> Reply {
        let state = self.0.state.lock().unwrap();
        if is_collection(path) {
            let items: Vec<_> = state
                .objects
                .iter()
                .filter(|(at, _)| within(at, path))
                .map(|(_, o)| o.clone())
                .collect();
            let version = self.0.version.borrow().to_string();
            return whole(
                200,
                json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": version}, "items": items}),
            );
        }
        match state.objects.get(path) {
            Some(object) => whole(200, object.clone()),
            None => whole(404, failure(404, "NotFound", path)),
        }
    }

    fn create(&self, collection: &str, object: Value) -> Reply {
        let path = format!(
            "{collection}/{}",
            object["metadata"]["name"].as_str().unwrap_or_default()
        );
        let mut state = self.0.state.lock().unwrap();
        if state.objects.contains_key(&path) {
            return whole(409, failure(409, "AlreadyExists", &path));
        }
        whole(201, self.store(&mut state, &path, None, object))
    }

    fn patch(&self, path: &str, mut sent: Value) -> Reply {
        let (path, part) = match path.strip_suffix("/status") {
            Some(path) => (path, Some("status")),
            None => (path, None),
        };
        let mut state = self.0.state.lock().unwrap();
        let Some(old) = state.objects.get(path).cloned() else {
            return whole(404, failure(404, "NotFound", path));
        };
        let expected = sent["metadata"]
            .as_object_mut()
            .and_then(|meta| meta.remove("resourceVersion"));
        if expected.is_some_and(|expected| expected != old["metadata"]["resourceVersion"]) {
            return whole(409, failure(409, "Conflict", path));
        }
        let mut object = old.clone();
        match part {
            Some(part) => merge(&mut object[part], &sent[part]),
            None => merge(&mut object, &sent),
        }
        whole(200, self.store(&mut state, path, Some(old), object))
    }

    /// Everything after the asked version, and then whatever comes.
    fn watch(&self, collection: &str, query: &str) -> Reply {
        let asked = query
            .split('&')
            .find_map(|pair| pair.strip_prefix("resourceVersion="))
            .unwrap_or("0");
        let from: u64 = asked.parse().unwrap_or(0);
        let (world, collection) = (self.clone(), collection.to_owned());
        let events = stream::unfold((from, self.0.version.subscribe()), move |(seen, mut version)| {
            let (world, collection) = (world.clone(), collection.clone());
            async move {
                loop {
                    let next = {
                        let state = world.0.state.lock().unwrap();
                        state
                            .events
                            .iter()
                            .find(|(at, path, _)| *at > seen && within(path, &collection))
                            .cloned()
                    };
                    if let Some((at, _, event)) = next {
                        let lag = world.0.state.lock().unwrap().watch_lag.clone();
                        if let Some((_, lag)) = lag.filter(|(plural, _)| collection.ends_with(plural.as_str())) {
                            tokio::time::sleep(lag).await;
                        }
                        return Some((Ok(Frame::data(Bytes::from(event))), (at, version)));
                    }
                    version.changed().await.ok()?;
                }
            }
        });
        Response::new(BodyExt::boxed_unsync(StreamBody::new(events)))
    }
}

fn whole(code: u16, body: Value) -> Reply {
    let frame = stream::iter([Ok(Frame::data(Bytes::from(body.to_string())))]);
    Response::builder()
        .status(code)
        .body(BodyExt::boxed_unsync(StreamBody::new(frame)))
        .expect("a response of a code and a body")
}

pub fn failure(code: u16, reason: &str, path: &str) -> Value {
    let mut words = path.rsplit('/');
    let (name, kind) = (words.next(), words.next());
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code, "reason": reason,
        "message": format!("{path}: {reason}"), "details": {"name": name, "kind": kind}})
}

/// Records whose fields these are, as the API server does; of one writer, which is all that a test here has.
fn owned_by(mut sent: Value, query: &str, operation: &str) -> Value {
    let manager = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("fieldManager="))
        .unwrap_or("unknown");
    let mut fields = sent.clone();
    for field in ["apiVersion", "kind"] {
        fields.as_object_mut().map(|fields| fields.remove(field));
    }
    for field in ["name", "namespace"] {
        fields["metadata"].as_object_mut().map(|meta| meta.remove(field));
    }
    sent["metadata"]["managedFields"] =
        json!([{"manager": manager.replace("%2F", "/"), "operation": operation, "fieldsV1": fields_of(&fields)}]);
    sent
}

fn fields_of(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .map(|(name, value)| (format!("f:{name}"), fields_of(value)))
            .collect(),
        Value::Array(items) => items
            .iter()
            .filter_map(|item| Some((format!("k:{{\"uid\":{}}}", item.get("uid")?), json!({".": {}}))))
            .collect(),
        _ => json!({}),
    }
}

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

fn is_empty(list: &Value) -> bool {
    list.as_array().is_none_or(Vec::is_empty)
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn namespace(path: &str) -> Option<&str> {
    path.split_once("/namespaces/")?.1.split('/').next()
}

/// `/api/v1/configmaps` and `/apis/g/v1/foobars` are collections, and the same under a namespace.
fn is_collection(path: &str) -> bool {
    let below = path.split_once("/namespaces/").map_or(path, |(_, rest)| rest);
    let depth = below.split('/').count();
    if path.contains("/namespaces/") {
        depth == 2
    } else {
        depth == if path.starts_with("/api/") { 4 } else { 5 }
    }
}

/// Whether an object belongs to a collection of its namespace or of the whole cluster.
fn within(object: &str, collection: &str) -> bool {
    let of = parent(object);
    if of == collection {
        return true;
    }
    let Some((before, rest)) = of.split_once("/namespaces/") else {
        return false;
    };
    rest.split_once('/')
        .is_some_and(|(_, plural)| format!("{before}/{plural}") == collection)
}
