//! A Kubernetes API server in one process, for developing and testing operators: what it answers is what
//! kube-apiserver 1.37 answers, or a 501 that names what is missing.
//!
//! [`ApiServer::service`] is a tower service: a client calls it without a socket, even while tokio's clock is paused. With the
//! feature `serve` the same server listens on loopback, for kubectl and other clients; with `persist` it stores its objects in
//! a directory.

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
mod conversion;
#[cfg_attr(
    not(feature = "webhooks"),
    allow(dead_code, reason = "without the feature no webhook is called")
)]
mod converters;
mod custom;
#[cfg(feature = "serve")]
pub mod dev;
mod digest;
mod discovery;
mod effects;
mod encode;
mod flow;
mod ip;
mod json;
mod kinds;
mod meta;
mod openapi;
mod patch;
mod pem;
mod policies;
mod quota;
mod registry;
mod release;
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
#[cfg_attr(
    not(feature = "webhooks"),
    allow(dead_code, unused_imports, reason = "without the feature no webhook is called")
)]
mod webhooks;

pub use admission::admission_plugins;
pub use auth::{Issuer, KeyError, Peer, SigningKey};
pub use authorize::{Attributes, Authorization, Refusal};
pub use clock::Clock;
pub use controllers::Controllers;
pub use release::PROGRAM_VERSION;
pub use response::{Answer, Body};
pub use server::{ApiServer, Options, Service};
#[cfg(feature = "persist")]
pub use store::OpenError;
pub use user::User;
