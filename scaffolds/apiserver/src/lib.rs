//! A Kubernetes API server in one process, for developing and testing operators.

pub mod apply;
pub mod auth;
pub mod catalogue;
pub mod clock;
mod digest;
mod discovery;
mod kinds;
mod meta;
pub mod request;
pub mod resource;
pub mod response;
#[cfg(feature = "serve")]
pub mod serve;
pub mod server;
pub mod status;
pub mod store;
pub mod strategy;

pub use server::{ApiServer, Options};
