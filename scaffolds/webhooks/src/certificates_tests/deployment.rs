//! The objects that `make deploy` applies for the webhooks of an operator, and the ways of API servers to its replicas.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use http::Request;
use kube::Client;
use kubewright_apiserver::ApiServer;
use kubewright_runtime::Manager;
use serde_json::{Value, json};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};

use super::{CONFIGURATION_PREFIX, OPERATOR, PREFIX, SERVICE, send};
use crate::webhook::{component, hooks};

pub(super) const CONFIGURATIONS: &str = "/apis/admissionregistration.k8s.io/v1";

/// The way of API servers to one of the replicas.
pub(super) enum Way {
    /// The Service, of which the in-process API server knows the backend.
    Service(ApiServer),
    /// A relay on loopback: nothing routes the addresses of Services to a kube-apiserver for tests.
    Relay(Relay),
}

impl Way {
    /// The URL in place of the Service.
    pub(super) fn url(&self) -> Option<String> {
        match self {
            Self::Service(_) => None,
            Self::Relay(relay) => Some(format!("https://{}", relay.address)),
        }
    }

    /// Leads new connections to this server.
    pub(super) fn lead(&self, to: SocketAddr) {
        match self {
            Self::Service(server) => server.set_backend("default", &format!("{PREFIX}{}", SERVICE), Some(to)),
            Self::Relay(relay) => *relay.to.lock().unwrap_or_else(PoisonError::into_inner) = Some(to),
        }
    }
}

/// Forwards connections, as kube-proxy does: a connection stays where it was first led.
pub(super) struct Relay {
    address: SocketAddr,
    to: Arc<Mutex<Option<SocketAddr>>>,
}

impl Relay {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, to) = (
            listener.local_addr().unwrap(),
            Arc::<Mutex<Option<SocketAddr>>>::default(),
        );
        let leads = to.clone();
        tokio::spawn(async move {
            loop {
                let Ok((mut from, _)) = listener.accept().await else {
                    continue;
                };
                let Some(to) = *leads.lock().unwrap_or_else(PoisonError::into_inner) else {
                    continue;
                };
                tokio::spawn(async move {
                    if let Ok(mut to) = TcpStream::connect(to).await {
                        // It fails when one of the two ends it.
                        _ = copy_bidirectional(&mut from, &mut to).await;
                    }
                });
            }
        });
        Self { address, to }
    }
}

/// Applies the Service, the Secret and the configurations of `config/webhook`, with a URL in place of the Service if there
/// is one.
pub(super) async fn deploy(client: &Client, namespace: &str, manager: &Manager, url: Option<&str>) {
    let files = component::files(&hooks(manager), OPERATOR);
    for object in files.values().flatten() {
        let Some(collection) = collection(object, namespace) else {
            continue;
        };
        let (code, answer) = apply(client, &collection, &placed(object, namespace, url)).await;
        assert!(code < 300, "{answer}");
    }
}

fn collection(object: &Value, namespace: &str) -> Option<String> {
    let kind = object["kind"].as_str().unwrap_or_default().to_lowercase();
    match kind.as_str() {
        "secret" | "service" => Some(format!("/api/v1/namespaces/{namespace}/{kind}s")),
        "mutatingwebhookconfiguration" | "validatingwebhookconfiguration" => Some(format!("{CONFIGURATIONS}/{kind}s")),
        _ => None,
    }
}

/// The object as kustomize makes it for this namespace.
fn placed(object: &Value, namespace: &str, url: Option<&str>) -> Value {
    let mut object = object.clone();
    let is_namespaced = object["metadata"].get("namespace").is_some();
    let prefix = if is_namespaced { PREFIX } else { CONFIGURATION_PREFIX };
    object["metadata"]["name"] = json!(format!("{prefix}{}", object["metadata"]["name"].as_str().unwrap()));
    if is_namespaced {
        object["metadata"]["namespace"] = json!(namespace);
    }
    let hooks = object.get_mut("webhooks").and_then(Value::as_array_mut);
    for hook in hooks.into_iter().flatten() {
        let service = &mut hook["clientConfig"]["service"];
        (service["namespace"], service["name"]) = (json!(namespace), json!(format!("{PREFIX}{}", SERVICE)));
        if let Some(url) = url {
            let path = service["path"].as_str().unwrap();
            hook["clientConfig"] = json!({"url": format!("{url}{path}")});
        }
    }
    object
}

/// Applies an object of a collection as `kubectl apply --server-side --force-conflicts` does.
pub(super) async fn apply(client: &Client, collection: &str, object: &Value) -> (u16, Value) {
    let name = object["metadata"]["name"].as_str().unwrap();
    let request = Request::patch(format!("{collection}/{name}?fieldManager=kubectl&force=true"));
    let request = request.header("content-type", "application/apply-patch+yaml");
    send(client, request, object).await
}
