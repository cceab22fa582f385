//! What was asked of a resource, read from the request by its path, query and headers.

use std::sync::Arc;

use bytes::Bytes;

use crate::{resource::Resource, status::Subject, store::Key, user::User};

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

impl Verb {
    /// Whether nothing is changed.
    pub fn is_read(self) -> bool {
        matches!(self, Self::Get | Self::List | Self::Watch)
    }
}

impl Call {
    /// A request of the server itself, which may do everything, about a resource as a whole. `agent` is its user agent.
    pub fn by_server(agent: &str, verb: Verb, resource: Arc<Resource>) -> Self {
        Self {
            verb,
            resource,
            namespace: String::new(),
            name: String::new(),
            subresource: String::new(),
            query: Vec::new(),
            content_type: String::new(),
            user_agent: agent.to_owned(),
            body: Bytes::new(),
            user: User::admin(),
        }
    }

    /// Group and plural, as answers about what is there or not name the resource.
    pub fn subject(&self) -> Subject<'_> {
        (&self.resource.group, &self.resource.names.plural)
    }

    /// The namespace of the objects: that of the path, for kinds that have one.
    pub fn namespace(&self) -> &str {
        if self.resource.namespaced { &self.namespace } else { "" }
    }

    /// Where the store keeps the object of this name.
    pub fn key(&self, name: &str) -> Key {
        Key::new(&self.resource.store_name(), self.namespace(), name)
    }

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
