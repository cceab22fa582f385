//! A Kubernetes API server in one process, for developing and testing operators: what it answers is what kube-apiserver
//! 1.36 answers, or a 501 that names what is missing.
//!
//! [`ApiServer::service`] is a tower service, which a client takes as it is, with no sockets in between and under a
//! paused clock. With the feature `serve` the same server listens on loopback for kubectl and everybody else, and with
//! `persist` its objects live in a directory.
//!
//! # Modules
//! Each imports from those above it alone, and from none below.
//!
//! | module | what it does |
//! |---|---|
//! | `digest` | hashes of what is published |
//! | `status` | what went wrong, in the words of the API server |
//! | `clock` | the time |
//! | `user` | who somebody is |
//! | `store` | all objects, as bytes; watches |
//! | `apply` | server-side apply and who owns which field: pure functions |
//! | `allocation` | what objects are given of what a cluster has only so much of |
//! | `strategy` | what differs from kind to kind |
//! | `resource` | a kind in one version, as it is served |
//! | `meta` | the metadata of objects |
//! | `kinds` | the built-in kinds |
//! | `request` | requests, read |
//! | `response` | answers, put on the wire |
//! | `select` | label and field selectors |
//! | `patch` | JSON, merge and strategic merge patches: pure functions |
//! | `catalogue` | all resources that are served now |
//! | `authorize` | who may do what |
//! | `auth` | who asks |
//! | `call` | a request for a resource |
//! | `state` | what all below share |
//! | `admission` | what may refuse or change a write: one ordered list |
//! | `registry` | the verbs, and the one pipeline of all writes |
//! | `table` | objects as rows |
//! | `discovery` | which resources there are, for clients |
//! | `openapi` | the shapes of all kinds, for clients |
//! | `custom` | CustomResourceDefinitions and the kinds that they define |
//! | `effects` | what follows from writes |
//! | `actions` | what requests do to Pods besides storing something: bindings and evictions |
//! | `controllers` | the garbage collector, the end of namespaces, roles that aggregate others |
//! | `server` | the server: routes requests to all of the above |
//! | [`serve`] | HTTPS on loopback |
//! | [`dev`] | an operator and a server in one process |
//! | `testing` | what the tests of this workspace reach beyond the public API |

mod actions;
mod admission;
mod allocation;
mod apply;
mod auth;
mod authorize;
mod call;
mod catalogue;
mod clock;
mod controllers;
mod custom;
#[cfg(feature = "serve")]
pub mod dev;
mod digest;
mod discovery;
mod effects;
mod kinds;
mod meta;
mod openapi;
mod patch;
mod registry;
mod request;
mod resource;
mod response;
mod select;
#[cfg(feature = "serve")]
pub mod serve;
mod server;
mod state;
mod status;
mod store;
mod strategy;
mod table;
#[cfg(feature = "testing")]
pub mod testing;
mod user;

pub use auth::Peer;
pub use authorize::{Attributes, Refusal};
pub use clock::Clock;
pub use controllers::Controllers;
pub use response::{Answer, Body};
pub use server::{ApiServer, Options, Service};
#[cfg(feature = "persist")]
pub use store::OpenError;
pub use user::User;
