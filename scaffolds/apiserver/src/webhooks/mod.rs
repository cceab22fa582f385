//! Webhooks: which are configured, where they are, and how they are called. What is sent to them, and what their answers
//! mean, is known above.

mod answer;
mod backends;
mod hook;
mod selection;
mod target;
#[cfg(feature = "webhooks")]
mod tls;
#[cfg(feature = "webhooks")]
mod transport;
#[cfg(feature = "webhooks")]
mod verifier;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use serde_json::{Map, Value};

use crate::store::{Derived, Store};
pub use backends::Backends;
pub use hook::{Hook, SideEffects};
pub use selection::{Rule, Selection};
pub use target::Target;

/// The two kinds of webhooks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WebhookKind {
    /// They may change objects.
    Mutating,
    /// They may only refuse.
    Validating,
}

/// The webhooks of a server.
#[derive(Default)]
pub struct Webhooks {
    mutating: Configured,
    validating: Configured,
    /// The processes behind Services.
    pub backends: Backends,
}

/// The webhooks of all configurations of a kind, as they were read last.
type Configured = Derived<Arc<[Hook]>>;

/// The reason that a webhook was not called.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// In the words of Go's client, without the webhook's name.
    Call(String),
    /// This build cannot call webhooks.
    #[cfg(not(feature = "webhooks"))]
    Missing,
}

impl Webhooks {
    /// The webhooks of a kind, in the order of the names of their configurations.
    pub fn of(&self, kind: WebhookKind, store: &Store) -> Arc<[Hook]> {
        let (configured, resource) = match kind {
            WebhookKind::Mutating => (
                &self.mutating,
                "admissionregistration.k8s.io/mutatingwebhookconfigurations",
            ),
            WebhookKind::Validating => (
                &self.validating,
                "admissionregistration.k8s.io/validatingwebhookconfigurations",
            ),
        };
        configured.get(store, [resource], |[configurations]| {
            configurations.iter().flat_map(Hook::all).collect()
        })
    }

    /// Posts a body to a webhook, and returns the object that it answers with.
    ///
    /// # Errors
    /// The reason in the words of Go's client.
    #[cfg(feature = "webhooks")]
    pub async fn post(&self, store: &Store, call: Posted) -> Result<Map<String, Value>, Failure> {
        let url = kubewright_machinery::go::quote(&call.target.url(call.timeout));
        let address = self.backends.resolve(store, &call.target);
        let received = match address {
            Ok(address) => transport::post(call, address).await,
            Err(why) => Err(transport::Lost::Before(why)),
        };
        let received = received.map_err(|lost| match lost {
            transport::Lost::Before(why) => Failure::Call(format!("Post {url}: {why}")),
            transport::Lost::Within(why) => Failure::Call(why),
        })?;
        answer::read(received).map_err(Failure::Call)
    }

    /// Without the feature `webhooks`.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(feature = "webhooks"))]
    #[expect(clippy::unused_async, reason = "as with the feature")]
    pub async fn post(&self, _store: &Store, _call: Posted) -> Result<Map<String, Value>, Failure> {
        Err(Failure::Missing)
    }
}

/// One call.
pub struct Posted {
    /// The webhook.
    pub target: Arc<Target>,
    /// The time that the call may take.
    pub timeout: Duration,
    /// The body, in JSON.
    pub body: Bytes,
}
