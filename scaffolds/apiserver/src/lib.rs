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
//! | [`status`] | what went wrong, in the words of the API server |
//! | [`clock`] | the time |
//! | `user` | who somebody is |
//! | [`store`] | all objects, as bytes; watches |
//! | [`apply`] | server-side apply and who owns which field: pure functions |
//! | `allocation` | what objects are given of what a cluster has only so much of |
//! | [`strategy`] | what differs from kind to kind |
//! | [`resource`] | a kind in one version, as it is served |
//! | `meta` | the metadata of objects |
//! | [`kinds`] | the built-in kinds |
//! | [`request`] | requests, read |
//! | [`response`] | answers, put on the wire |
//! | [`select`] | label and field selectors |
//! | [`patch`] | JSON, merge and strategic merge patches: pure functions |
//! | [`catalogue`] | all resources that are served now |
//! | [`authorize`] | who may do what |
//! | [`auth`] | who asks |
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
//! | [`controllers`] | the garbage collector, the end of namespaces, roles that aggregate others |
//! | [`server`] | the server: routes requests to all of the above |
//! | `serve` | HTTPS on loopback |
//! | `dev` | an operator and a server in one process |

mod actions;
mod admission;
mod allocation;
pub mod apply;
pub mod auth;
pub mod authorize;
mod call;
pub mod catalogue;
pub mod clock;
pub mod controllers;
mod custom;
#[cfg(feature = "serve")]
pub mod dev;
mod digest;
mod discovery;
mod effects;
pub mod kinds;
mod meta;
mod openapi;
pub mod patch;
mod registry;
pub mod request;
pub mod resource;
pub mod response;
pub mod select;
#[cfg(feature = "serve")]
pub mod serve;
pub mod server;
mod state;
pub mod status;
pub mod store;
pub mod strategy;
mod table;
mod user;

pub use server::{ApiServer, Options};
