//! A request as received, before it is answered.

use http::request::Parts;

use crate::request::{Info, Query, accept::Format};

/// A request without its body.
pub struct Incoming<'a> {
    pub parts: &'a Parts,
    /// Its subject, from its path and method.
    pub info: &'a Info,
    pub query: &'a Query,
    /// The form of answers that the client accepts.
    pub format: Format,
}
