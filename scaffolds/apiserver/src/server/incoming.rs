//! What is known of a request before it is answered.

use http::request::Parts;

use crate::request::{Info, Query, accept::Format};

/// A request without its body.
pub struct Incoming<'a> {
    pub parts: &'a Parts,
    /// What it is about, from its path and method.
    pub info: &'a Info,
    pub query: &'a Query,
    /// How the client wants to read answers.
    pub format: Format,
}
