//! The operator's service account: its permissions and their namespaces, its client, and its refused requests.

use std::{
    collections::BTreeSet,
    convert::Infallible,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderValue, Request, Response, header::AUTHORIZATION};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use kube::{Client, client::Body};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::{role::Grant, support::World};

const RBAC: &str = "/apis/rbac.authorization.k8s.io/v1";
/// The namespace of the operator's Pod.
pub const HOME: &str = "system";

/// The namespaces of the operator's role.
#[derive(Clone, Debug)]
pub enum Scope {
    /// A ClusterRole for all namespaces.
    Everywhere,
    /// A Role in each of these namespaces, which are the watched ones.
    Namespaces(Vec<&'static str>),
    /// Both are watched, but only the first has the Role.
    Unbound { bound: &'static str, unbound: &'static str },
}

impl Scope {
    /// The namespaces that the operator watches; empty for all.
    pub fn watched(&self) -> Vec<&'static str> {
        match self {
            Self::Everywhere => Vec::new(),
            Self::Namespaces(names) => names.clone(),
            Self::Unbound { bound, unbound } => vec![bound, unbound],
        }
    }

    fn bound(&self) -> Vec<&'static str> {
        match self {
            Self::Unbound { bound, .. } => vec![bound],
            _ => self.watched(),
        }
    }
}

/// The messages of responses with 403.
pub type Refusals = Arc<Mutex<BTreeSet<String>>>;

/// Creates the account with these grants, and returns its token.
pub fn make(world: &World, grants: &[Grant], scope: &Scope) -> String {
    let (leases, work): (Vec<_>, Vec<_>) = grants.iter().partition(|grant| grant.is_of_the_lease());
    world.post("/api/v1/namespaces", &json!({"metadata": {"name": HOME}}));
    let accounts = format!("/api/v1/namespaces/{HOME}/serviceaccounts");
    world.post(&accounts, &json!({"metadata": {"name": "operator"}}));
    grant(world, "leader-election", Some(HOME), &leases);
    for name in scope.watched().iter().filter(|name| **name != "default") {
        world.post("/api/v1/namespaces", &json!({"metadata": {"name": name}}));
    }
    if scope.watched().is_empty() {
        grant(world, "manager", None, &work);
    }
    for name in scope.bound() {
        grant(world, "manager", Some(name), &work);
    }
    let token = world.post(&format!("{accounts}/operator/token"), &json!({"spec": {}}));
    token["status"]["token"].as_str().unwrap().to_owned()
}

/// Creates a role of these grants and its binding: in a namespace, or cluster-wide.
fn grant(world: &World, name: &str, namespace: Option<&str>, grants: &[&Grant]) {
    let (kind, path) = match namespace {
        Some(namespace) => ("Role", format!("{RBAC}/namespaces/{namespace}/role")),
        None => ("ClusterRole", format!("{RBAC}/clusterrole")),
    };
    let rules: Vec<Value> = grants.iter().map(|grant| grant.rule()).collect();
    world.post(
        &format!("{path}s"),
        &json!({"metadata": {"name": name}, "rules": rules}),
    );
    let binding = json!({
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": "operator", "namespace": HOME}],
    });
    world.post(&format!("{path}bindings"), &binding);
}

/// A client with this token.
pub fn client(world: &World, token: &str, refusals: &Refusals) -> Client {
    let bearer = HeaderValue::from_str(&format!("Bearer {token}")).unwrap();
    let (server, refusals) = (world.server().clone(), refusals.clone());
    let service = tower::service_fn(move |mut request: Request<Body>| {
        let (service, refusals) = (server.service(), refusals.clone());
        request.headers_mut().insert(AUTHORIZATION, bearer.clone());
        let answer: BoxFuture<'static, Result<_, Infallible>> = Box::pin(async move {
            let answer = service.oneshot(request).await?.map(BodyExt::boxed_unsync);
            Ok(if answer.status() == 403 {
                note(answer, &refusals).await
            } else {
                answer
            })
        });
        answer
    });
    Client::new(service, HOME)
}

async fn note(
    answer: Response<UnsyncBoxBody<Bytes, Infallible>>,
    refusals: &Refusals,
) -> Response<UnsyncBoxBody<Bytes, Infallible>> {
    let (parts, body) = answer.into_parts();
    let Ok(body) = body.collect().await;
    let body = body.to_bytes();
    let status: Value = serde_json::from_slice(&body).unwrap_or_default();
    let said = status["message"].as_str().unwrap_or_default().to_owned();
    refusals.lock().unwrap().insert(said);
    Response::from_parts(parts, Full::new(body).boxed_unsync())
}
