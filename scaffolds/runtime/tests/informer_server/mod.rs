//! A server of one kind, FooBar, for the informer's tests: in process, with the failures a test asks for. It keeps a
//! history of events, so that watches resume, and can forget it, so that they cannot.
#![allow(dead_code, unused_imports)] // Each test file uses its part.

mod diary;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::{StreamExt, channel::mpsc};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::Frame;
use kube::{Client, CustomResource, client::Body};
use kubewright_runtime::{Informer, InformerConfig, ObjectKey, Scope};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{sync::watch, time::Instant};

pub use self::diary::{Diary, Running, settle};

#[derive(CustomResource, Clone, Debug, PartialEq, Deserialize, Serialize)]
#[kube(
    group = "test.example.com",
    version = "v1",
    kind = "FooBar",
    namespaced,
    schema = "disabled"
)]
pub struct FooBarSpec {
    pub target: String,
}

type Answer = http::Response<UnsyncBoxBody<Bytes, Infallible>>;

/// The server; clones are the same one.
#[derive(Clone)]
pub struct Server(Arc<Mutex<State>>, Arc<watch::Sender<bool>>);

#[derive(Default)]
struct State {
    version: u64,
    uids: u64,
    objects: BTreeMap<(String, String), Value>,
    history: Vec<Event>,
    /// Watches from before this version get 410.
    compacted: u64,
    watches: Vec<Watch>,
    /// Namespaces (`*` for all) with the status every request is refused with.
    refused: BTreeMap<String, (u16, &'static str)>,
    down: bool,
    holding_events: bool,
    /// The rest of a list by its token, with the version the list was taken at.
    pages: HashMap<String, Value>,
    old_list: Option<Value>,
    requests: Vec<(Instant, String)>,
    accepted: BTreeSet<String>,
}

#[derive(Clone)]
struct Event {
    version: u64,
    namespace: String,
    line: String,
}

struct Watch {
    namespace: String,
    sent: u64,
    lines: mpsc::UnboundedSender<String>,
}

impl Server {
    pub fn new() -> Self {
        Self(Arc::default(), Arc::new(watch::Sender::new(false)))
    }

    pub fn client(&self) -> Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: http::Request<Body>| {
            let server = server.clone();
            async move { server.answer(request).await }
        });
        Client::new(service, "default")
    }

    pub fn informer(&self, config: InformerConfig<FooBar>) -> Informer<FooBar> {
        Informer::new(self.client(), config)
    }

    /// Writes an object as a client would, `fields` beside its metadata, and returns what the server answers.
    pub fn write(&self, namespace: &str, name: &str, fields: Value) -> Value {
        let mut state = self.0.lock().expect("no test panics in here");
        state.version += 1;
        state.uids += 1;
        let version = state.version;
        let old = state.objects.get(&(namespace.to_owned(), name.to_owned()));
        let uid = old.map_or(json!(format!("uid-{}", state.uids)), |old| {
            old["metadata"]["uid"].clone()
        });
        let kind = if old.is_some() { "MODIFIED" } else { "ADDED" };
        let mut object = json!({
            "apiVersion": "test.example.com/v1", "kind": "FooBar",
            "metadata": {"namespace": namespace, "name": name, "uid": uid, "resourceVersion": version.to_string()},
        });
        for (field, value) in fields.as_object().into_iter().flatten() {
            match (field.as_str(), value) {
                ("metadata", Value::Object(more)) => more.iter().for_each(|(k, v)| object["metadata"][k] = v.clone()),
                _ => object[field] = value.clone(),
            }
        }
        state
            .objects
            .insert((namespace.to_owned(), name.to_owned()), object.clone());
        state.emit(kind, namespace, &object);
        object
    }

    /// Writes a valid object.
    pub fn put(&self, namespace: &str, name: &str, target: &str) -> FooBar {
        typed(self.write(namespace, name, json!({"spec": {"target": target}})))
    }

    /// Writes an object that is no `FooBar`.
    pub fn put_broken(&self, namespace: &str, name: &str) {
        self.write(namespace, name, json!({"spec": {"target": 7}}));
    }

    pub fn delete(&self, namespace: &str, name: &str) {
        let mut state = self.0.lock().expect("no test panics in here");
        let mut object = state
            .objects
            .remove(&(namespace.to_owned(), name.to_owned()))
            .expect("exists");
        state.version += 1;
        object["metadata"]["resourceVersion"] = json!(state.version.to_string());
        state.emit("DELETED", namespace, &object);
    }

    pub fn has(&self, namespace: &str, name: &str) -> bool {
        let state = self.0.lock().expect("no test panics in here");
        state.objects.contains_key(&(namespace.to_owned(), name.to_owned()))
    }

    /// Closes the watches, which then resume.
    pub fn disconnect(&self) {
        self.0.lock().expect("no test panics in here").watches.clear();
    }

    /// Refuses connections, and closes those there are, or accepts them again.
    pub fn set_down(&self, down: bool) {
        self.0.lock().expect("no test panics in here").down = down;
        self.disconnect();
    }

    /// Forgets the history and closes the watches: they get 410 and have to list.
    pub fn compact(&self) {
        let mut state = self.0.lock().expect("no test panics in here");
        state.history.clear();
        // One past, so that even a watch that has seen everything is too old.
        state.version += 1;
        state.compacted = state.version;
        state.watches.clear();
    }

    /// Refuses all requests for a namespace, `*` for those across all.
    pub fn refuse(&self, namespace: &str, status: Option<(u16, &'static str)>) {
        let mut state = self.0.lock().expect("no test panics in here");
        match status {
            Some(status) => _ = state.refused.insert(namespace.to_owned(), status),
            None => _ = state.refused.remove(namespace),
        }
        state.watches.retain(|watch| watch.namespace != namespace);
    }

    /// Keeps events from the watches, or lets them go.
    pub fn hold_events(&self, hold: bool) {
        let mut state = self.0.lock().expect("no test panics in here");
        state.holding_events = hold;
        state.flush();
    }

    /// Keeps the answers of lists, with what they say fixed when they were asked for, or lets them go.
    pub fn hold_lists(&self, hold: bool) {
        self.1.send_replace(hold);
    }

    /// What a list says now.
    pub fn list(&self) -> Value {
        self.0.lock().expect("no test panics in here").list("*")
    }

    /// Has the next list answered with this.
    pub fn answer_next_list(&self, list: Value) {
        self.0.lock().expect("no test panics in here").old_list = Some(list);
    }

    /// Sends a line to all watches as it is.
    pub fn send(&self, line: &Value) {
        let state = self.0.lock().expect("no test panics in here");
        state
            .watches
            .iter()
            .for_each(|watch| _ = watch.lines.unbounded_send(format!("{line}\n")));
    }

    /// Times of the requests whose path and query contain `part`.
    pub fn requests(&self, part: &str) -> Vec<Instant> {
        let state = self.0.lock().expect("no test panics in here");
        state
            .requests
            .iter()
            .filter(|(_, uri)| uri.contains(part))
            .map(|(at, _)| *at)
            .collect()
    }

    pub fn lists(&self) -> usize {
        let state = self.0.lock().expect("no test panics in here");
        state
            .requests
            .iter()
            .filter(|(_, uri)| !uri.contains("watch=true"))
            .count()
    }

    /// The media types asked for.
    pub fn accepted(&self) -> BTreeSet<String> {
        self.0.lock().expect("no test panics in here").accepted.clone()
    }

    async fn answer(&self, request: http::Request<Body>) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
        let uri = request.uri().to_string();
        let (path, query) = uri.split_once('?').unwrap_or((&uri, ""));
        let query: HashMap<&str, &str> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        let namespace = path
            .split_once("/namespaces/")
            .and_then(|(_, rest)| rest.split('/').next())
            .unwrap_or("*");
        let answer = {
            let mut state = self.0.lock().expect("no test panics in here");
            state.requests.push((Instant::now(), uri.clone()));
            let accept = request.headers().get("accept").and_then(|value| value.to_str().ok());
            state.accepted.extend(accept.map(str::to_owned));
            if state.down {
                return Err("connection refused".into());
            }
            if let Some((code, message)) = state.refused.get(namespace) {
                let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "message": message});
                return Ok(respond(*code, Full::new(status.to_string().into()).boxed_unsync()));
            }
            if query.contains_key("watch") {
                return Ok(respond(200, state.watch(namespace, query["resourceVersion"].parse()?)));
            }
            state.page(namespace, &query)
        };
        self.1.subscribe().wait_for(|held| !held).await?;
        Ok(respond(200, Full::new(answer.to_string().into()).boxed_unsync()))
    }
}

fn respond(code: u16, body: UnsyncBoxBody<Bytes, Infallible>) -> Answer {
    http::Response::builder()
        .status(code)
        .body(body)
        .expect("a valid response")
}

impl State {
    fn emit(&mut self, kind: &str, namespace: &str, object: &Value) {
        // As the API server writes it: `type` first.
        let line = format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n");
        self.history.push(Event {
            version: self.version,
            namespace: namespace.to_owned(),
            line,
        });
        self.flush();
    }

    fn flush(&mut self) {
        if self.holding_events {
            return;
        }
        for watch in &mut self.watches {
            let news = self.history.iter().filter(|event| event.version > watch.sent);
            for event in news.filter(|event| watch.namespace == "*" || watch.namespace == event.namespace) {
                _ = watch.lines.unbounded_send(event.line.clone());
            }
            watch.sent = self.version;
        }
    }

    fn watch(&mut self, namespace: &str, version: u64) -> UnsyncBoxBody<Bytes, Infallible> {
        let (lines, body) = mpsc::unbounded::<String>();
        if version < self.compacted {
            let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410, "reason": "Expired", "message": "too old"});
            _ = lines.unbounded_send(format!("{{\"type\":\"ERROR\",\"object\":{status}}}\n"));
        } else {
            self.watches.push(Watch {
                namespace: namespace.to_owned(),
                sent: version,
                lines,
            });
            self.flush();
        }
        StreamBody::new(body.map(|line| Ok(Frame::data(Bytes::from(line))))).boxed_unsync()
    }

    fn list(&self, namespace: &str) -> Value {
        let items = self
            .objects
            .iter()
            .filter(|((ns, _), _)| namespace == "*" || ns == namespace);
        let items: Vec<&Value> = items.map(|(_, object)| object).collect();
        json!({
            "apiVersion": "test.example.com/v1", "kind": "FooBarList",
            "metadata": {"resourceVersion": self.version.to_string()}, "items": items,
        })
    }

    fn page(&mut self, namespace: &str, query: &HashMap<&str, &str>) -> Value {
        let limit: usize = query
            .get("limit")
            .and_then(|limit| limit.parse().ok())
            .unwrap_or(usize::MAX);
        let mut list = match query.get("continue").and_then(|token| self.pages.remove(*token)) {
            Some(rest) => rest,
            None => self.old_list.take().unwrap_or_else(|| self.list(namespace)),
        };
        let items = list["items"].as_array().cloned().unwrap_or_default();
        let (page, rest) = items.split_at(limit.min(items.len()));
        if !rest.is_empty() {
            let token = format!("page-{}", self.requests.len());
            let mut later = list.clone();
            later["items"] = json!(rest);
            self.pages.insert(token.clone(), later);
            list["metadata"]["continue"] = json!(token);
        }
        list["items"] = json!(page);
        list
    }
}

pub fn typed(object: Value) -> FooBar {
    serde_json::from_value(object).expect("a FooBar")
}

pub fn key(namespace: &str, name: &str) -> ObjectKey {
    ObjectKey::new(Some(namespace), name)
}

pub fn namespaces(names: &[&str]) -> Scope {
    Scope::Namespaces(names.iter().map(|name| (*name).to_owned()).collect())
}
