//! A Kubernetes API server in one process, for developing and testing operators: what it answers is what kube-apiserver
//! 1.36 answers, or a 501 that names what is missing.
//!
//! [`ApiServer::service`] is a tower service, which a client takes as it is, with no sockets in between and under a
//! paused clock. With the feature `serve` the same server listens on loopback for kubectl and everybody else, and with
//! `persist` its objects live in a directory.
//!
//! # Where what is
//! A request is read ([`request`]), its sender known ([`auth`]) and let through ([`authorize`]), and sent on by [`server`] to what
//! answers its path; resources are looked up in the [`catalogue`] and handled by the registry, the same way for all
//! kinds. What differs between kinds is their [`strategy`]. Objects are bytes in the [`store`]; [`apply`] and the patches
//! are pure functions. What went wrong is a [`status`]; [`response`] puts answers on the wire.

pub mod apply;
pub mod auth;
pub mod authorize;
pub mod catalogue;
pub mod clock;
pub mod controllers;
mod custom;
#[cfg(feature = "serve")]
pub mod dev;
mod digest;
mod discovery;
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
pub mod status;
pub mod store;
pub mod strategy;
mod table;

pub use server::{ApiServer, Options};
