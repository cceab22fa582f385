//! An API server with one lease and a real compare-and-swap, on a simulated clock, that can stop responding.

use std::{
    convert::Infallible,
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use kubewright_runtime::{Election, ElectionConfig, Metrics};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use tower::service_fn;

/// One lease, as the API server stores it.
#[derive(Clone, Default)]
pub struct LeaseServer(Arc<Mutex<Store>>);

#[derive(Default)]
struct Store {
    lease: Option<Value>,
    version: u64,
    requests: usize,
    fault: Fault,
    /// The writes before one that fails, and its code; 0 if it is carried out and not answered.
    fails: Option<(usize, u16)>,
}

#[derive(Clone, Copy, Default, PartialEq)]
pub enum Fault {
    #[default]
    None,
    /// No request is carried out or answered.
    Silent,
    /// Writes are carried out, but not answered.
    LosesAnswers,
    Errors,
}

impl LeaseServer {
    pub fn client(&self) -> Client {
        let server = self.clone();
        let serve = move |request: Request<Body>| {
            let server = server.clone();
            async move {
                let (method, body) = (request.method().clone(), request.into_body());
                let body = body.collect().await.map_err(|_| ()).unwrap().to_bytes();
                let body = serde_json::from_slice(&body).unwrap_or_default();
                // A request takes some time, so that two can be concurrent.
                sleep(Duration::from_millis(1)).await;
                let fault = server.0.lock().unwrap().fault;
                if fault == Fault::Silent {
                    pending::<()>().await;
                }
                let code = (method != Method::GET).then(|| server.failing()).flatten();
                if let Some(code) = code.filter(|code| *code != 0) {
                    return Ok(status(code, "Failed"));
                }
                let answer = server.answer(&method, body);
                if code == Some(0) || fault == Fault::LosesAnswers && method != Method::GET {
                    pending::<()>().await;
                }
                Ok::<_, Infallible>(answer)
            }
        };
        Client::new(service_fn(serve), "default")
    }

    fn answer(&self, method: &Method, mut body: Value) -> Response<Body> {
        let mut store = self.0.lock().unwrap();
        store.requests += 1;
        let (code, reason) = match (method, &store.lease) {
            _ if store.fault == Fault::Errors => (500, "InternalError"),
            (&Method::GET, Some(lease)) => return reply(200, lease.clone()),
            (&Method::POST, Some(_)) => (409, "AlreadyExists"),
            (&Method::PUT, Some(lease))
                if lease["metadata"]["resourceVersion"] != body["metadata"]["resourceVersion"] =>
            {
                (409, "Conflict")
            }
            (&Method::POST, None) | (&Method::PUT, Some(_)) => {
                store.version += 1;
                body["metadata"]["resourceVersion"] = json!(store.version.to_string());
                store.lease = Some(body.clone());
                return reply(200, body);
            }
            _ => (404, "NotFound"),
        };
        status(code, reason)
    }

    /// The code of this write, if it is to fail.
    fn failing(&self) -> Option<u16> {
        let mut store = self.0.lock().unwrap();
        let (left, code) = store.fails.take()?;
        if left == 0 {
            return Some(code);
        }
        store.fails = Some((left - 1, code));
        None
    }

    /// From now on, the write after this many others fails, once.
    pub fn fail_write(&self, after: usize, code: u16) {
        self.0.lock().unwrap().fails = Some((after, code));
    }

    pub fn set_fault(&self, fault: Fault) {
        self.0.lock().unwrap().fault = fault;
    }

    pub fn spec(&self) -> Value {
        self.0.lock().unwrap().lease.as_ref().unwrap()["spec"].clone()
    }

    pub fn holder(&self) -> String {
        self.spec()["holderIdentity"].as_str().unwrap().to_owned()
    }

    /// Another process writes the lease; its clock may have any value.
    pub fn write_as(&self, holder: &str, clock: &str) {
        let spec =
            json!({"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": clock, "acquireTime": clock});
        let mut store = self.0.lock().unwrap();
        store.version += 1;
        let version = store.version.to_string();
        store.lease = Some(json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": "op", "namespace": "ns", "resourceVersion": version, "labels": {"kept": "yes"}},
            "spec": spec,
        }));
    }

    /// The number of requests so far.
    pub fn requests(&self) -> usize {
        self.0.lock().unwrap().requests
    }

    /// The lease's metadata.
    pub fn metadata(&self) -> Value {
        self.0.lock().unwrap().lease.as_ref().unwrap()["metadata"].clone()
    }

    /// Deletes the lease, as another client would.
    pub fn forget(&self) {
        self.0.lock().unwrap().lease = None;
    }

    pub fn candidate(&self, identity: &str) -> Election {
        self.candidate_counted(identity, &Metrics::new())
    }

    pub fn candidate_counted(&self, identity: &str, metrics: &Metrics) -> Election {
        let config = ElectionConfig {
            identity: identity.to_owned(),
            ..ElectionConfig::new("op", "ns")
        };
        let election = Election::spawn(config, self.client(), metrics).unwrap();
        election.begin();
        election
    }
}

fn status(code: u16, reason: &str) -> Response<Body> {
    let status = json!({"kind": "Status", "status": "Failure", "message": reason, "reason": reason, "code": code});
    reply(code, status)
}

fn reply(code: u16, body: Value) -> Response<Body> {
    let mut response = Response::new(Body::from(body.to_string().into_bytes()));
    *response.status_mut() = StatusCode::from_u16(code).unwrap();
    response
}

pub async fn is_within<T>(seconds: u64, future: impl Future<Output = T>) -> Option<T> {
    timeout(Duration::from_secs(seconds), future).await.ok()
}
