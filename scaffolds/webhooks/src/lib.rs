//! Admission webhooks, conversions between versions, and admission policies of operators made with
//! [kubewright](https://github.com/kubewright/kubewright), in Rust. A project has this crate while it has any of them.
//!
//! A [`Webhook`] joins a [`Validator`] or a [`Defaulter`] to a kind; a [`Hub`] converts between the versions of a kind; a [`Policy`] is a list of
//! expressions that API servers evaluate themselves. Each is registered with the operator's [`Manager`](kubewright_runtime::Manager), like a
//! controller; `make manifests` writes its configuration, and every replica of the operator serves it:
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kubewright_runtime::{Manager, Result};
//! use kubewright_webhooks::{Admission, Change, FailurePolicy, Validator, Verdict, Webhook};
//!
//! /// Refuses ConfigMaps without data.
//! struct HasData;
//!
//! impl Validator<ConfigMap> for HasData {
//!     async fn validate(&self, _cx: &Admission, change: Change<'_, ConfigMap>) -> Result<Verdict> {
//!         let mut verdict = Verdict::allowed();
//!         if change.new_object().is_some_and(|map| map.data.is_none()) {
//!             verdict.required("data", "a ConfigMap without data configures nothing");
//!         }
//!         Ok(verdict)
//!     }
//! }
//!
//! fn register(manager: &Manager) -> Result<()> {
//!     Webhook::validating(HasData).foreign().failure_policy(FailurePolicy::Ignore).register(manager)
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! # let service = tower::service_fn(|_| std::future::ready(Ok::<_, std::convert::Infallible>(http::Response::new(kube::client::Body::empty()))));
//! # register(&Manager::builder(kube::Client::new(service, "default")).build()).unwrap();
//! # }
//! ```
//!
//! # Features
//!
//! `testing`, off by default: `testing::Trial` tries policies, and `testing::round_trips` conversions, without a server.

mod conversion;
mod policy;
mod scope;
mod server;
#[cfg(feature = "testing")]
pub mod testing;
mod webhook;

#[cfg(all(test, feature = "testing"))]
mod certificates_tests;

pub use conversion::Hub;
pub use policy::{DenialReason, Mutating, Params, Policy, Validating, Validation, ValidationAction};
pub use scope::{FailurePolicy, Operation};
pub use webhook::{Admission, Change, Defaulter, ReadKind, Validator, Verdict, Webhook};
