//! Certificates of the webhook server at work: an API server calls webhooks that a replica of an operator serves.

mod conversion;
mod deployment;
mod foobars;
mod forgotten;
mod migration;
mod requests;
mod rotation;
mod story;

use std::{
    future::pending,
    net::SocketAddr,
    time::{Duration, SystemTime},
};

use clap::Parser;
use kube::{Client, client::Body};
use kubewright_runtime::{
    Manager, Options,
    component::{
        certificates::{Affixes, CertificateStatus, Keeper, Lifetimes, RenewalTiming, Settings, WebhookAddress},
        http::Held,
    },
};
use kubewright_schema::webhook::{SECRET, SERVICE};
use serde_json::Value;
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};

use self::deployment::{apply, deploy};
use crate::{
    server::Webhooks,
    webhook::{
        IDENTITY,
        component::{configured, converting},
        hooks,
    },
};

/// The prefix that kustomize adds to names.
const PREFIX: &str = "foobar-operator-";
/// The same for configurations, as in a chart's second release of one name.
const CONFIGURATION_PREFIX: &str = "elsewhere.foobar-operator-";
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// The name of the operator.
const OPERATOR: &str = "foobar-operator";

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    operator: Options,
}

/// Intervals of a test without renewals.
const PACE: RenewalTiming = RenewalTiming {
    look: Duration::from_millis(200),
    ..RenewalTiming::DEFAULT
};

/// A replica of the operator: its webhook server and the task that keeps the certificates. Both end when it is dropped.
struct Replica {
    server: Webhooks,
    standing: CertificateStatus,
    keeper: JoinHandle<()>,
}

impl Replica {
    /// Serves the webhooks of a manager. API servers reach its converters through the Service, or at the URL.
    fn start(manager: &Manager, namespace: &str, pace: RenewalTiming, url: Option<String>) -> Self {
        Self::reached(manager, namespace, pace, false, |_| url)
    }

    /// As in a Pod, whose Service does not lead to it.
    fn start_in_pod(manager: &Manager, namespace: &str) -> Self {
        Self::reached(manager, namespace, PACE, true, |_| None)
    }

    /// As above; API servers reach its converters at its own address.
    fn start_here(manager: &Manager, namespace: &str) -> Self {
        Self::reached(manager, namespace, PACE, false, |address| {
            Some(format!("https://{address}"))
        })
    }

    fn reached(
        manager: &Manager,
        namespace: &str,
        pace: RenewalTiming,
        in_cluster: bool,
        url: impl FnOnce(SocketAddr) -> Option<String>,
    ) -> Self {
        let held = Held::default();
        let options = Flags::parse_from(["operator", "--webhook-bind-address=127.0.0.1:0"]).operator;
        let hooks = hooks(manager);
        let endpoints = hooks.iter().map(|hook| hook.endpoint.clone()).collect();
        let server = Webhooks::start(&options, endpoints, manager.metrics(), &held)
            .unwrap()
            .unwrap();
        let settings = Settings {
            identity: IDENTITY,
            client: manager.client().clone(),
            operator: OPERATOR.to_owned(),
            namespace: namespace.to_owned(),
            affixes: Affixes::prefix(PREFIX),
            configuration_affixes: Affixes::prefix(CONFIGURATION_PREFIX),
            hosts: vec!["127.0.0.1".to_owned()],
            configured: configured(&hooks),
            converting: converting(&hooks),
            reach: WebhookAddress {
                address: Some(server.address()),
                url: url(server.address()),
                in_cluster,
            },
            pace,
        };
        let keeper = Keeper::new(settings, held, manager.metrics());
        let standing = keeper.standing();
        let keeper = tokio::spawn(keeper.keep(pending));
        Self {
            server,
            standing,
            keeper,
        }
    }

    /// Where it serves its webhooks.
    fn url(&self) -> String {
        format!("https://{}", self.server.address())
    }

    /// Waits until API servers accept its certificate.
    async fn ready(&self) {
        until("an accepted certificate", async || self.standing.check().is_ok()).await;
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

/// Sends a request with this body, and returns code and body of the answer.
async fn send(client: &Client, request: http::request::Builder, body: &Value) -> (u16, Value) {
    let request = request.body(Body::from(body.to_string().into_bytes())).unwrap();
    let answer = client.send(request).await.unwrap();
    let code = answer.status().as_u16();
    let body = answer.into_body().collect_bytes().await.unwrap();
    // A path that is not served yet is answered with text.
    (code, serde_json::from_slice(&body).unwrap_or_default())
}

async fn until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so().await {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        sleep(Duration::from_millis(50)).await;
    }
}

/// Seconds since 1970.
fn now() -> i64 {
    let elapsed = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    i64::try_from(elapsed.as_secs()).unwrap_or(i64::MAX)
}
