//! A world for one test: the in-process API server behind a client whose requests are logged and may meet faults
//! (`faults.rs`). All other responses are the server's own.

#![allow(dead_code, reason = "every test binary uses its own part")]

pub mod any_certificate;
pub mod faults;
pub mod kinds;
pub mod notes;
pub mod page;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures::FutureExt;
use http::Request;
use http_body_util::{BodyExt, Full};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kubewright_apiserver::{ApiServer, Controllers, Options};
use serde_json::{Value, json};
use tower::ServiceExt;

use self::faults::{Crash, Faults};

/// Clones share the world.
#[derive(Clone)]
pub struct World(Arc<Inner>);

struct Inner {
    server: ApiServer,
    /// Path and plural of every kind of the tests.
    kinds: Vec<(String, String)>,
    faults: Mutex<Faults>,
}

impl World {
    /// A new server with these kinds, and a garbage collector.
    pub fn new(crds: &[CustomResourceDefinition]) -> Self {
        Self::beside(Controllers::default(), crds)
    }

    /// A server without a garbage collector: children of deleted owners stay.
    pub fn uncollected(crds: &[CustomResourceDefinition]) -> Self {
        Self::beside(Controllers::NONE, crds)
    }

    fn beside(controllers: Controllers, crds: &[CustomResourceDefinition]) -> Self {
        let server = ApiServer::new(Options {
            controllers,
            ..Options::default()
        });
        let kind = |crd: &CustomResourceDefinition| {
            let version = &crd.spec.versions[0].name;
            (
                format!("/apis/{}/{version}", crd.spec.group),
                crd.spec.names.plural.clone(),
            )
        };
        let built_in = ("/api/v1".to_owned(), "configmaps".to_owned());
        let world = Self(Arc::new(Inner {
            server,
            kinds: crds.iter().map(kind).chain([built_in]).collect(),
            faults: Mutex::default(),
        }));
        for crd in crds {
            let definition = serde_json::to_value(crd).expect("a definition is JSON");
            let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
            world.must("POST", path, &definition);
        }
        world
    }

    /// The server itself.
    pub fn server(&self) -> &ApiServer {
        &self.0.server
    }

    /// Creates an object in a collection, or posts to a subresource, such as a token request.
    pub fn post(&self, collection: &str, object: &Value) -> Value {
        self.must("POST", collection, object)
    }

    /// A client whose requests are logged, and meet the faults.
    pub fn client(&self) -> Client {
        faults::client(self.clone())
    }

    /// Calls this hook, with method and path, before the server answers a request.
    pub fn intercept(&self, hook: impl Fn(&str, &str) -> Option<(u16, Value)> + Send + Sync + 'static) {
        self.faults().hook = Some(Arc::new(hook));
    }

    /// From now on, requests whose path contains `part` are never answered.
    pub fn hang(&self, part: &str) {
        self.faults().hangs = Some(part.to_owned());
    }

    /// From now on, every new request is answered; hanging requests go on hanging.
    pub fn answer_again(&self) {
        self.faults().hangs = None;
    }

    /// From now on, responses to writes take this long, so that watch events arrive before them.
    pub fn delay_replies(&self, lag: Duration) {
        self.faults().reply_lag = lag;
    }

    /// From now on, the watches of collections of this name are delayed by this much.
    pub fn delay_watches(&self, plural: &str, lag: Duration) {
        self.faults().watch_lag = Some((plural.to_owned(), lag));
    }

    /// From its `n`th write on (from 0), no request of the process is answered, as if it were dead. The `n`th write
    /// itself is `stored`, or not.
    pub fn crash_at(&self, n: usize, stored: bool) {
        self.faults().crash = Some(Crash::at(n, stored));
    }

    /// Answers the next process again. Returns whether the one before reached its crash.
    pub fn restart(&self) -> bool {
        let crash = self.faults().crash.take();
        crash.is_some_and(|crash| crash.happened())
    }

    /// The requests so far, as `VERB path`, watches as `WATCH path`.
    pub fn requests(&self, starts_with: &str) -> Vec<String> {
        let faults = self.faults();
        let requests = faults.requests.iter();
        requests
            .filter(|request| request.starts_with(starts_with))
            .cloned()
            .collect()
    }

    /// The writes so far whose paths start with `path`, as `VERB path`.
    pub fn writes(&self, path: &str) -> Vec<String> {
        let all = ["POST", "PATCH", "PUT", "DELETE"].map(|verb| self.requests(&format!("{verb} {path}")));
        all.concat()
    }

    /// The `Accept` headers of the lists and watches of this collection.
    pub fn accepted(&self, collection: &str) -> Vec<String> {
        let faults = self.faults();
        let accepted = faults.accepted.iter();
        accepted
            .filter(|(path, _)| path == collection)
            .map(|(_, types)| types.clone())
            .collect()
    }

    /// The queries of the reads under this path, each with its `Accept` header.
    pub fn reads(&self, path: &str) -> Vec<(String, String)> {
        let faults = self.faults();
        let reads = faults.reads.iter().filter(|[read, ..]| read == path);
        reads
            .map(|[_, query, accepted]| (query.clone(), accepted.clone()))
            .collect()
    }

    /// All objects by their paths, without fields that differ from run to run.
    pub fn end_state(&self) -> BTreeMap<String, Value> {
        let mut objects = BTreeMap::new();
        for (group, plural) in &self.0.kinds {
            for mut object in self.list(&format!("{group}/{plural}")) {
                let meta = &object["metadata"];
                let name = meta["name"].as_str().unwrap_or_default();
                let path = match meta["namespace"].as_str() {
                    Some(namespace) => format!("{group}/namespaces/{namespace}/{plural}/{name}"),
                    None => format!("{group}/{plural}/{name}"),
                };
                forget_the_run(&mut object);
                objects.insert(path, object);
            }
        }
        objects
    }

    pub fn object(&self, path: &str) -> Option<Value> {
        match self.ask("GET", path, &Value::Null) {
            (200, object) => Some(object),
            (404, _) => None,
            (code, answer) => panic!("GET {path}: {code} {answer}"),
        }
    }

    pub fn count(&self, collection: &str) -> usize {
        self.list(collection).len()
    }

    pub fn list(&self, collection: &str) -> Vec<Value> {
        let list = self.must("GET", collection, &Value::Null);
        list["items"].as_array().cloned().unwrap_or_default()
    }

    /// Creates or replaces an object, as another client would.
    pub fn put(&self, path: &str, mut object: Value) {
        object["metadata"]["name"] = json!(path.rsplit('/').next());
        match self.object(path) {
            Some(old) => {
                object["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"].clone();
                self.must("PUT", path, &object);
            }
            None => {
                let collection = path.rsplit_once('/').map_or("", |(collection, _)| collection);
                self.must("POST", collection, &object);
            }
        }
    }

    /// Creates an object under this field manager, as a controller does.
    pub fn put_as(&self, path: &str, manager: &str, mut object: Value) {
        object["metadata"]["name"] = json!(path.rsplit('/').next());
        let collection = path.rsplit_once('/').map_or("", |(collection, _)| collection);
        let path = format!("{collection}?fieldManager={}", form_encoded(manager));
        self.must("POST", &path, &object);
    }

    /// `kubectl edit`.
    pub fn edit(&self, path: &str, change: impl FnOnce(&mut Value)) {
        self.change(path, "", change);
    }

    /// `kubectl edit --subresource=status`.
    pub fn edit_status(&self, path: &str, change: impl FnOnce(&mut Value)) {
        self.change(path, "/status", change);
    }

    fn change(&self, path: &str, part: &str, change: impl FnOnce(&mut Value)) {
        let mut object = self.object(path).expect("the object to change is there");
        change(&mut object);
        self.must("PUT", &format!("{path}{part}"), &object);
    }

    /// `kubectl patch --field-manager`: writes under this field manager.
    pub fn merge_as(&self, path: &str, manager: &str, change: &Value) {
        let query = form_encoded(manager);
        let (code, answer) = self.send(
            "PATCH",
            &format!("{path}?fieldManager={query}"),
            "application/merge-patch+json",
            change,
        );
        assert!(code < 300, "PATCH {path}: {code} {answer}");
    }

    /// `kubectl apply --server-side --field-manager`.
    pub fn apply_as(&self, path: &str, manager: &str, intent: &Value) {
        let path = format!("{path}?fieldManager={}&force=true", form_encoded(manager));
        let (code, answer) = self.send("PATCH", &path, "application/apply-patch+yaml", intent);
        assert!(code < 300, "PATCH {path}: {code} {answer}");
    }

    /// `kubectl delete`: at once without finalizers, else by a deletion timestamp.
    pub fn delete(&self, path: &str) {
        self.must("DELETE", path, &Value::Null);
    }

    /// `kubectl delete --cascade=orphan`.
    pub fn orphan(&self, path: &str) {
        self.must("DELETE", path, &json!({"propagationPolicy": "Orphan"}));
    }

    fn must(&self, method: &str, path: &str, body: &Value) -> Value {
        let (code, answer) = self.ask(method, path, body);
        assert!(code < 300, "{method} {path}: {code} {answer}");
        answer
    }

    /// Sends a request without the log and the faults.
    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        self.send(method, path, "application/json", body)
    }

    fn send(&self, method: &str, path: &str, media: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() {
            Bytes::new()
        } else {
            Bytes::from(body.to_string())
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", media)
            .body(Full::new(body))
            .expect("a request");
        let answer = async {
            let answer = self.0.server.service().oneshot(request).await;
            let (parts, body) = answer.expect("the service never fails").into_parts();
            let body = body.collect().await.expect("a body in memory").to_bytes();
            (parts.status.as_u16(), body)
        };
        // The server waits for nothing; without `unconstrained` tokio might make it yield.
        let (code, body) = tokio::task::unconstrained(answer)
            .now_or_never()
            .expect("a server without a disk answers at once");
        (code, serde_json::from_slice(&body).unwrap_or_default())
    }

    fn faults(&self) -> std::sync::MutexGuard<'_, Faults> {
        self.0.faults.lock().unwrap()
    }
}

/// A name of a field manager in a query.
fn form_encoded(manager: &str) -> String {
    manager.replace('/', "%2F").replace('@', "%40").replace(' ', "%20")
}

fn forget_the_run(object: &mut Value) {
    for field in ["resourceVersion", "uid", "managedFields", "creationTimestamp"] {
        object["metadata"].as_object_mut().map(|meta| meta.remove(field));
    }
    let owners = object["metadata"]["ownerReferences"].as_array_mut();
    for owner in owners.into_iter().flatten() {
        owner["uid"] = Value::Null;
    }
    let conditions = object["status"]["conditions"].as_array_mut();
    for condition in conditions.into_iter().flatten() {
        condition["lastTransitionTime"] = Value::Null;
    }
}
