//! The runtime of operators made with [kubewright](https://github.com/kubewright/kubewright): the counterpart of Go's
//! controller-runtime, on kube-rs.
//!
//! An operator registers [`Controller`]s with a [`Manager`]; each has a [`Reconciler`]. The manager runs one
//! [`Informer`] per kind, shared by all its controllers. An informer keeps a cache and enqueues the keys of changed
//! objects into each controller's work queue. Workers take keys from the queue, never two of them the same key, and
//! call the reconciler with the newest cached object:
//!
//! ```text
//!  API server ══ watch ═▶ Informer ── key ─▶ WorkQueue ── key ─▶ worker ── object ─▶ Reconciler
//!      ▲                   │   cache                      ▲         │                   │
//!      │                   └──────────── read ────────────┼─────────┼───────────────────┤
//!      │                                                  └─ retry ─┘                   │
//!      └───────────────────────────────── apply, patch status ──────────────────────────┘
//! ```
//!
//! [`Operator`] is the whole process around a manager: flags, client, signals, probes, metrics, leader election.
//!
//! # Guarantees
//!
//! - One object is never reconciled by two workers at once.
//! - A reconcile sees a cache at least as new as this process's own writes through its [`Context`].
//! - A failing object delays no other; a panic fails only the reconcile in which it happens.
//! - An object that cannot be decoded blocks no other, and is reported.
//! - No request is sent that would change nothing, and a controller's own writes do not wake it.
//!
//! # Features
//!
//! `testing`, `otel` and `pprof`, all off by default. Webhooks, conversions and policies are in the crate `kubewright-webhooks`, on
//! [`component`]; a generated project has it when `kubewright create webhook` has made the first one.

mod api;
mod certificates;
mod checkout;
mod child;
mod client;
mod clock;
mod completion;
pub mod component;
mod condition_types;
mod connection;
mod context;
mod controller;
mod crds;
mod dashboards;
mod error;
mod events;
mod heartbeat;
mod informer;
mod intent;
mod isolate;
mod jitter;
mod key;
mod kind;
mod leader;
mod limit;
mod logging;
mod manager;
mod metrics;
mod migration;
#[cfg(feature = "testing")]
mod mortal;
mod namespaces;
mod object;
mod operator;
mod options;
#[cfg(feature = "otel")]
mod otel;
mod patch;
pub mod pods;
mod predicate;
mod priority;
mod queue;
mod rbac;
mod reconciler;
mod rollout;
mod schedule;
mod selector;
mod server;
mod signals;
mod status;
mod store;
#[cfg(feature = "testing")]
pub mod testing;
mod worker;

pub use checkout::built_from;
pub use child::{Applied, child_name, job_name, label_value, stateful_set_name};
pub use clock::Clock;
pub use completion::Completion;
pub use context::{Context, KeptPods, OfKind};
pub use controller::{AddedWatches, Controller, Controllers, RunningController, Uses};
pub use error::{
    BoxError, CONFLICT_MAX_DELAY, Class, Error, FORBIDDEN_MAX_DELAY, NotOwned, REJECTED_MIN_DELAY, Result,
};
pub use events::EventType;
pub use heartbeat::Heartbeat;
pub use informer::{Delta, DuplicateIndex, Informer, InformerConfig, Scope, Selectors, Subscription, SubscriptionId};
pub use intent::quantity_value;
pub use key::ObjectKey;
pub use kind::Kind;
pub use kubewright_schema::cause::{Cause, Path as FieldPath};
pub use leader::{Election, ElectionConfig, LostReason};
pub use limit::RateLimit;
pub use manager::{Manager, ManagerBuilder, Stop, Task};
pub use metrics::{Counter, Gauge, Histogram, Metrics};
pub use migration::{Migrated, StorageMigration};
pub use object::{AnyObject, Object};
pub use operator::Operator;
pub use options::{BindAddress, Command, LogFormat, Options};
pub use predicate::Predicate;
pub use priority::{Priority, Wake};
pub use queue::Backoff;
#[cfg(feature = "testing")]
pub use queue::{Held, WorkQueue};
pub use rbac::Rule;
pub use reconciler::{Action, Cleanup, Reconciler};
pub use rollout::{RolledOut, Rollout};
pub use schedule::Schedule;
pub use server::{Checks, RouteRequest, RouteResponse};
pub use status::{Conditions, condition};
pub use store::Store;
