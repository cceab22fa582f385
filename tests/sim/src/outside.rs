//! Operators of another system: each FooBar has a record in a DNS service that speaks HTTP.

use std::sync::Arc;

use http::{Method, Request, StatusCode};
use kube::ResourceExt;
use kubewright_apiserver::dev::sim::{Connection, Oracle, documents};
use kubewright_runtime::{Action, Cleanup, Context, Controller, Error, Manager, Reconciler, Result};
use serde_json::json;
use tower::{BoxError, ServiceExt, util::BoxCloneSyncService};

use crate::{FooBar, wrong::ready};

// ANCHOR: client
/// The client of the DNS service: sends a request, and returns the code of the answer.
pub type Dns = BoxCloneSyncService<Request<String>, StatusCode, BoxError>;

/// The client for a simulation: the service keeps a JSON document at each path.
pub fn simulated(connection: &Connection) -> Dns {
    let service = connection.external("dns", documents);
    let service = ServiceExt::<Request<String>>::map_response(service, |answer| answer.status());
    Dns::new(service)
}
// ANCHOR_END: client

/// What is wrong with an operator of the service.
#[derive(Clone, Copy, Eq, PartialEq)]
pub enum Mistake {
    /// Nothing.
    None,
    /// It creates a record, and fails if it exists.
    Creates,
    /// It names records after the names of objects: a late request for a deleted object deletes the record of its successor.
    Names,
    /// It writes by its cache: after a restart, which may contain an object that is deleted.
    Trusts,
    /// It has no finalizer.
    Leaves,
    /// It takes any answer for success.
    Ignores,
}

/// The wrong ones, and what a simulation finds.
pub const WRONG: [(Mistake, Oracle); 5] = [
    (Mistake::Creates, Oracle::State),
    (Mistake::Names, Oracle::State),
    (Mistake::Trusts, Oracle::State),
    (Mistake::Leaves, Oracle::Leftover),
    (Mistake::Ignores, Oracle::State),
];

struct Recording {
    dns: Dns,
    mistake: Mistake,
}

/// Registers the operator.
///
/// # Errors
/// The controller is registered already.
pub fn register(manager: &Manager, dns: Dns, mistake: Mistake) -> Result<()> {
    Controller::<FooBar>::new("foobar").register(manager, Recording { dns, mistake })
}

fn is_deleted(object: &FooBar) -> bool {
    object.metadata.deletion_timestamp.is_some()
}

impl Recording {
    async fn send(&self, object: &FooBar, method: Method, body: String) -> Result<StatusCode> {
        let name = match self.mistake {
            Mistake::Names | Mistake::Leaves => object.name_any(),
            _ => object.uid().unwrap_or_default(),
        };
        let url = format!("https://dns.example.com/records/{name}");
        let request = Request::builder().method(method).uri(url).body(body);
        let request = request.map_err(Error::retry)?;
        self.dns.clone().oneshot(request).await.map_err(Error::retry)
    }
}

impl Reconciler<FooBar> for Recording {
    fn finalizer(&self) -> Option<&str> {
        (self.mistake != Mistake::Leaves).then_some("test.example.com/record")
    }

    async fn reconcile(&self, cx: &Context<FooBar>, object: Arc<FooBar>) -> Result<Action> {
        // The cache may contain an object that was deleted long ago, and whose record nobody would delete again.
        if self.mistake != Mistake::Trusts && cx.live().await?.is_none_or(|live| is_deleted(&live)) {
            return Ok(Action::Done);
        }
        let method = match self.mistake {
            Mistake::Creates if object.status.is_none() => Method::POST,
            _ => Method::PUT,
        };
        let record = json!({"target": object.spec.target, "type": object.spec.r#type});
        let code = self.send(&object, method, record.to_string()).await?;
        if !code.is_success() && self.mistake != Mistake::Ignores {
            return Err(Error::retry(format!("the DNS service answers {code}")));
        }
        ready(cx, &object).await
    }

    async fn cleanup(&self, _: &Context<FooBar>, object: Arc<FooBar>) -> Result<Cleanup> {
        let code = self.send(&object, Method::DELETE, String::new()).await?;
        if !code.is_success() && code != StatusCode::NOT_FOUND {
            return Err(Error::retry(format!("the DNS service answers {code}")));
        }
        Ok(Cleanup::Done)
    }
}
