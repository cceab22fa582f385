//! An API server with a kind that has two versions, a look into its store, and faults between it and its clients.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use kube::{Client, client::Body};
use kubewright_apiserver::{
    ApiServer, Options,
    testing::store::{HISTORY, Range, Store},
};
use kubewright_runtime::StorageMigration;
use serde_json::{Value, json};
use std::time::Duration;
use tower::ServiceExt;

pub const NAME: &str = "things.example.com";
pub const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// The fate of a client's request.
pub enum Fate {
    /// It is answered by the server.
    Served,
    /// It is answered so, and the server does not get it.
    Answered(u16, Value),
    /// It is lost, or its answer is.
    Lost { served: bool },
}

type Reply = Response<UnsyncBoxBody<Bytes, Infallible>>;
type Judge = Arc<Mutex<dyn FnMut(&str, &str) -> Fate + Send>>;

/// Clones are handles of one cluster.
#[derive(Clone)]
pub struct Cluster {
    pub store: Store,
    server: ApiServer,
    judge: Arc<Mutex<Option<Judge>>>,
    writes: Arc<Mutex<Vec<String>>>,
}

impl Cluster {
    /// With the kind Thing, stored as v1, and so many objects of it in three namespaces.
    pub async fn with_things(count: usize) -> Self {
        let store = Store::new(HISTORY);
        let cluster = Self {
            server: ApiServer::on(store.clone(), Options::default()),
            store,
            judge: Arc::default(),
            writes: Arc::default(),
        };
        cluster.must("POST", CRDS, &definition("v1", &["v1", "v2"])).await;
        for namespace in ["b", "c"] {
            let namespace = json!({"metadata": {"name": namespace}});
            cluster.must("POST", "/api/v1/namespaces", &namespace).await;
        }
        for number in 0..count {
            let namespace = ["default", "b", "c"][number % 3];
            let thing = thing(&format!("t{number}"), number);
            let path = format!("/apis/example.com/v1/namespaces/{namespace}/things");
            cluster.must("POST", &path, &thing).await;
        }
        cluster
    }

    /// Makes this version the storage version of the kind, which has these versions.
    pub async fn defines(&self, storage: &str, versions: &[&str]) -> (u16, Value) {
        let mut new = definition(storage, versions);
        let old = self.must("GET", &format!("{CRDS}/{NAME}"), &Value::Null).await;
        new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"].clone();
        self.ask("PUT", &format!("{CRDS}/{NAME}"), &new).await
    }

    /// `status.storedVersions`.
    pub async fn stored_versions(&self) -> Value {
        let definition = self.must("GET", &format!("{CRDS}/{NAME}"), &Value::Null).await;
        definition["status"]["storedVersions"].clone()
    }

    /// The objects as they are in the store, by their names.
    pub fn stored(&self) -> BTreeMap<String, Value> {
        let range = Range::new("example.com/things", "");
        let page = self.store.list(&range, None, None, 0).expect("a list of now");
        let object = |text: &Bytes| serde_json::from_slice::<Value>(text).expect("JSON");
        let records = page.records.iter();
        records
            .map(|record| (record.key.name.clone(), object(&record.object)))
            .collect()
    }

    /// The number of objects that are stored in this version.
    pub fn stored_as(&self, version: &str) -> usize {
        let version = json!(format!("example.com/{version}"));
        self.stored().values().filter(|it| it["apiVersion"] == version).count()
    }

    /// From now on this decides what happens to requests of clients, by method and path with query.
    pub fn judge(&self, judge: impl FnMut(&str, &str) -> Fate + Send + 'static) {
        *self.judge.lock().unwrap() = Some(Arc::new(Mutex::new(judge)));
    }

    /// From now on all requests are served.
    pub fn serve(&self) {
        *self.judge.lock().unwrap() = None;
    }

    /// The writes of clients since the last call.
    pub fn writes(&self) -> Vec<String> {
        std::mem::take(&mut self.writes.lock().unwrap())
    }

    /// A migration of this cluster, which does not wait.
    pub fn migration(&self) -> StorageMigration {
        let cluster = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let cluster = cluster.clone();
            let answer: BoxFuture<'static, Result<Reply, Infallible>> =
                Box::pin(async move { Ok(cluster.answer(request).await) });
            answer
        });
        StorageMigration::new(Client::new(service, "default")).settle(Duration::ZERO)
    }

    async fn answer(&self, request: Request<Body>) -> Reply {
        let (method, uri) = (request.method().to_string(), request.uri().to_string());
        if method != "GET" {
            self.writes.lock().unwrap().push(format!("{method} {uri}"));
        }
        let judge = self.judge.lock().unwrap().clone();
        let fate = judge.map_or(Fate::Served, |judge| judge.lock().unwrap()(&method, &uri));
        match fate {
            Fate::Served => self.forward(request).await,
            Fate::Answered(code, body) => whole(code, &body),
            Fate::Lost { served } => {
                if served {
                    self.forward(request).await;
                }
                std::future::pending().await
            }
        }
    }

    async fn forward(&self, request: Request<Body>) -> Reply {
        let Ok(reply) = self.server.service().oneshot(request).await;
        reply.map(BodyExt::boxed_unsync)
    }

    async fn must(&self, method: &str, path: &str, body: &Value) -> Value {
        let (code, answer) = self.ask(method, path, body).await;
        assert!(code < 300, "{method} {path}: {code} {answer}");
        answer
    }

    /// A request of somebody else, without faults.
    pub async fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", "application/json");
        let request = request.body(Full::new(Bytes::from(body))).expect("a request");
        let Ok(answer) = self.server.service().oneshot(request).await;
        let code = answer.status().as_u16();
        let body = answer.into_body().collect().await.expect("a body in memory").to_bytes();
        (code, serde_json::from_slice(&body).unwrap_or_default())
    }
}

/// A Thing as clients of v1 write it.
pub fn thing(name: &str, size: usize) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": name}, "spec": {"size": size}})
}

/// The kind Thing, which has a `size`, in these versions.
fn definition(storage: &str, versions: &[&str]) -> Value {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}});
    let version = |name: &&str| json!({"name": name, "served": true, "storage": *name == storage, "schema": {"openAPIV3Schema": schema}});
    let versions: Vec<_> = versions.iter().map(version).collect();
    json!({"metadata": {"name": NAME}, "spec": {"group": "example.com", "scope": "Namespaced",
        "names": {"kind": "Thing", "plural": "things"}, "versions": versions}})
}

/// A Status.
pub fn failure(code: u16, reason: &str, message: &str) -> Fate {
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": code,
        "reason": reason, "message": message});
    Fate::Answered(code, status)
}

fn whole(code: u16, body: &Value) -> Reply {
    let body = Full::new(Bytes::from(body.to_string()));
    let reply = Response::builder().status(code).body(BodyExt::boxed_unsync(body));
    reply.expect("a response of a code and a body")
}
