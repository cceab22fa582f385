//! The API server of the informer's tests: the in-process one, over a connection with faults. The responses are the
//! server's own. Only the connection is scripted: requests that fail or are cut, responses that are late, in another
//! order, from an earlier state, or refused.

mod diary;
mod kind;
mod line;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use bytes::Bytes;
use futures::FutureExt;
use http::Request;
use http_body_util::{BodyExt, Full};
use kube::Client;
use kubewright_apiserver::{ApiServer, Controllers, Options};
use kubewright_runtime::{Informer, InformerConfig};
use serde_json::{Value, json};
use tower::ServiceExt;

pub use self::{
    diary::{Diary, Running, settle},
    kind::{FooBar, decoded, key, namespaces, typed},
};
use self::{kind::lenient_crd, line::Line};

/// The number of changes that the server keeps.
const HISTORY: usize = 16;
const API: &str = "/apis/test.example.com/v1";
const NOISE: &str = "/api/v1/namespaces/default/configmaps";

/// The server; clones share it.
#[derive(Clone)]
pub struct Server(Arc<Inner>);

struct Inner {
    api: ApiServer,
    line: Line,
    /// The versions of the FooBars, each with the number of the write that created it, counted over all writes.
    order: Mutex<HashMap<String, u64>>,
    writes: AtomicU64,
}

impl Server {
    /// A server with the namespaces `a`, `b` and `c`, and the kind FooBar.
    pub fn new() -> Self {
        let server = Self::without_the_kind();
        server.define();
        server
    }

    pub fn without_the_kind() -> Self {
        let api = ApiServer::new(Options {
            controllers: Controllers::NONE,
            history: Some(HISTORY),
            ..Options::default()
        });
        let server = Self(Arc::new(Inner {
            api,
            line: Line::default(),
            order: Mutex::default(),
            writes: AtomicU64::new(0),
        }));
        for name in ["a", "b", "c"] {
            server.must("POST", "/api/v1/namespaces", &json!({"metadata": {"name": name}}));
        }
        server
    }

    /// Defines the kind FooBar.
    pub fn define(&self) {
        let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        self.must("POST", definitions, &lenient_crd());
    }

    /// Gives `spec.target` a default. The API server ends the watches of the kind, as with any change of its schema.
    pub fn default_target(&self) {
        let mut definition = lenient_crd();
        let target = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true,
            "properties": {"target": {"type": "string", "default": "x"}}});
        definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"] = json!({"spec": target});
        let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/foobars.test.example.com";
        self.must("PATCH", path, &definition);
    }

    pub fn client(&self) -> Client {
        self.0.line.client(&self.0.api)
    }

    pub fn informer(&self, config: InformerConfig<FooBar>) -> Informer<FooBar> {
        Informer::new(self.client(), config)
    }

    /// Writes an object as a client would, merging `fields` into an existing one, and returns the server's response.
    pub fn write(&self, namespace: &str, name: &str, fields: Value) -> Value {
        let mut object = fields;
        object["apiVersion"] = json!("test.example.com/v1");
        object["kind"] = json!("FooBar");
        object["metadata"]["name"] = json!(name);
        let collection = format!("{API}/namespaces/{namespace}/foobars");
        // If two writers both find no object, one of them creates it.
        let requests = [("PATCH", format!("{collection}/{name}")), ("POST", collection)];
        for (method, path) in requests.iter().cycle().take(3) {
            let (code, stored) = self.ask(method, path, &object);
            if code < 300 {
                self.count(&stored);
                return stored;
            }
            assert!(code == 404 || code == 409, "{method} {path}: {code} {stored}");
        }
        panic!("`{name}` was created and deleted meanwhile")
    }

    /// Applies fields under this field manager.
    pub fn apply(&self, manager: &str, namespace: &str, name: &str, fields: Value) -> Value {
        let mut object = fields;
        object["apiVersion"] = json!("test.example.com/v1");
        object["kind"] = json!("FooBar");
        object["metadata"] = json!({"name": name});
        let path = format!("{API}/namespaces/{namespace}/foobars/{name}?force=true&fieldManager={manager}");
        let stored = self.must("APPLY", &path, &object);
        self.count(&stored);
        stored
    }

    /// Writes a valid object, with a change each time.
    pub fn put(&self, namespace: &str, name: &str, target: &str) -> FooBar {
        let number = self.0.writes.load(Ordering::SeqCst);
        typed(self.write(namespace, name, json!({"spec": {"target": target, "number": number}})))
    }

    /// Writes an object that cannot be decoded as a `FooBar`.
    pub fn put_broken(&self, namespace: &str, name: &str) {
        let number = self.0.writes.load(Ordering::SeqCst);
        self.write(namespace, name, json!({"spec": {"target": 7, "number": number}}));
    }

    pub fn delete(&self, namespace: &str, name: &str) {
        self.must(
            "DELETE",
            &format!("{API}/namespaces/{namespace}/foobars/{name}"),
            &Value::Null,
        );
        self.0.writes.fetch_add(1, Ordering::SeqCst);
    }

    pub fn has(&self, namespace: &str, name: &str) -> bool {
        let path = format!("{API}/namespaces/{namespace}/foobars/{name}");
        self.ask("GET", &path, &Value::Null).0 == 200
    }

    /// The current list of all objects.
    pub fn list(&self) -> Value {
        self.must("GET", &format!("{API}/foobars"), &Value::Null)
    }

    /// Ends the watches, and deletes the server's history: they cannot be resumed, and have to list.
    pub fn compact(&self) {
        self.0.line.cut();
        let noise = json!({"metadata": {"name": "noise"}});
        for _ in 0..=HISTORY / 2 {
            self.must("POST", NOISE, &noise);
            self.must("DELETE", &format!("{NOISE}/noise"), &Value::Null);
        }
    }

    /// The connection to the server.
    pub fn line(&self) -> &Line {
        &self.0.line
    }

    /// A subscriber that records its deltas, with the versions as numbers of writes.
    pub fn diary(&self, informer: &Informer<FooBar>) -> Diary {
        let diary = self.empty_diary();
        informer.subscribe(diary.writer());
        diary
    }

    /// The same, before it subscribes.
    pub fn empty_diary(&self) -> Diary {
        let server = self.clone();
        Diary::new(move |version| server.number_of(version))
    }

    /// The number of the write that created this version.
    pub fn number_of(&self, version: &str) -> u64 {
        let order = self.0.order.lock().expect("no test panics in here");
        order.get(version).copied().unwrap_or_default()
    }

    fn count(&self, stored: &Value) {
        let version = stored["metadata"]["resourceVersion"].as_str().unwrap_or_default();
        let mut order = self.0.order.lock().expect("no test panics in here");
        let number = self.0.writes.fetch_add(1, Ordering::SeqCst) + 1;
        order.insert(version.to_owned(), number);
    }

    fn must(&self, method: &str, path: &str, body: &Value) -> Value {
        let (code, answer) = self.ask(method, path, body);
        assert!(code < 300, "{method} {path}: {code} {answer}");
        answer
    }

    /// Sends a request without the connection's faults.
    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let (method, form) = match method {
            "PATCH" => ("PATCH", "application/merge-patch+json"),
            "APPLY" => ("PATCH", "application/apply-patch+yaml"),
            other => (other, "application/json"),
        };
        let text = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = Request::builder().method(method).uri(path).header("content-type", form);
        let request = request.body(Full::new(Bytes::from(text))).expect("a request");
        let answer = async {
            let answer = self.0.api.service().oneshot(request).await;
            let (parts, body) = answer.expect("the service never fails").into_parts();
            let body = body.collect().await.expect("a body in memory").to_bytes();
            (parts.status.as_u16(), body)
        };
        // The response waits for nothing but locks; without `unconstrained` tokio might make it yield.
        let mut answer = std::pin::pin!(tokio::task::unconstrained(answer));
        let (code, body) = loop {
            match answer.as_mut().now_or_never() {
                Some(answer) => break answer,
                None => std::thread::yield_now(),
            }
        };
        (code, serde_json::from_slice(&body).unwrap_or_default())
    }
}
