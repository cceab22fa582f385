//! What was asked of a resource, read from the request by its path, query and headers, and what is answered.

use std::sync::Arc;

use bytes::Bytes;

use crate::{auth::User, resource::Resource};

/// One request for a resource, resolved against the catalogue.
#[derive(Clone)]
pub struct Call {
    /// What to do.
    pub verb: Verb,
    /// With which resource, in the version of the path.
    pub resource: Arc<Resource>,
    /// Empty for cluster-scoped resources and for lists over all namespaces.
    pub namespace: String,
    /// Empty for collections.
    pub name: String,
    /// `status` for example; empty for the resource itself.
    pub subresource: String,
    /// The query, percent-decoded, in its order.
    pub query: Vec<(String, String)>,
    /// The header `Content-Type` as it was sent; empty when it was not.
    pub content_type: String,
    /// The header `User-Agent`: what stands before its first `/` is the field manager of a write that names none.
    pub user_agent: String,
    /// The body, at most 3 MiB.
    pub body: Bytes,
    /// Whose request it is.
    pub user: User,
}

/// What may be done with a resource.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verb {
    /// GET with a name.
    Get,
    /// GET without a name.
    List,
    /// GET with `watch=true`.
    Watch,
    /// POST.
    Create,
    /// PUT.
    Update,
    /// PATCH.
    Patch,
    /// DELETE with a name.
    Delete,
    /// DELETE without a name.
    DeleteCollection,
}

/// An object or a Status that says Success, as the answer of one request.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The HTTP status: 200, 201 or 202.
    pub code: u16,
    /// JSON text in the version of the request; not yet a Table or PartialObjectMetadata, should those be wanted.
    pub object: Bytes,
}

/// The answer of one request.
pub enum Answer {
    /// An object, a list, or a Status that says Success.
    Object(Reply),
    /// What happens from now on.
    Events(super::Events),
}

impl Call {
    /// The first value of a query parameter, which is the one that counts.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let named = self.query.iter().find(|(key, _)| key == name);
        named.map(|(_, value)| value.as_str())
    }

    /// All values of a query parameter, `dryRun` for example.
    pub fn parameters<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.query.iter().filter(move |(key, _)| key == name);
        named.map(|(_, value)| value.as_str())
    }
}
