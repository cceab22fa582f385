//! Requests to the server, its objects and its store: in the process, over sockets, and after a restart.

mod abuse;
mod apply;
mod auth;
mod cluster_roles;
#[path = "../common/mod.rs"]
mod common;
mod connections;
mod custom;
mod gc;
mod http;
mod http2;
mod inprocess;
mod namespaces;
mod patch;
mod protobuf;
mod quotas;
mod registry_writers;
mod restart;
mod served;
mod service_accounts;
mod store;
mod store_persist;
mod watch;
mod websocket;
