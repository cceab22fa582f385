//! A request for a resource, read from its path, query and headers.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use crate::{resource::Resource, status::Subject, store::Key, user::User};

/// One request for a resource, resolved against the catalogue.
#[derive(Clone)]
pub struct Call {
    /// The verb.
    pub verb: Verb,
    /// The resource, in the version of the path.
    pub resource: Arc<Resource>,
    /// Empty for cluster-scoped resources and for lists across all namespaces.
    pub namespace: String,
    /// Empty for collections.
    pub name: String,
    /// For example `status`; empty for the resource itself.
    pub subresource: String,
    /// The query parameters, percent-decoded, in the order of the request.
    pub query: Vec<(String, String)>,
    /// The header `Content-Type` as sent; empty if there is none.
    pub content_type: String,
    /// The header `User-Agent`: the part before its first `/` is the field manager of a write that names none.
    pub user_agent: String,
    /// The body, at most 3 MiB.
    pub body: Bytes,
    /// The user that sent the request.
    pub user: User,
    /// The warnings for the client.
    pub warnings: Warnings,
}

/// The sentences for `Warning` headers, each once. Clones are handles of the same list.
#[derive(Clone, Debug, Default)]
pub struct Warnings(Arc<Mutex<Vec<String>>>);

impl Warnings {
    /// Adds a sentence.
    pub fn add(&self, sentence: String) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&sentence) {
            all.push(sentence);
        }
    }

    /// Takes all sentences.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The verbs of resources.
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
    /// Whether the verb changes nothing.
    pub fn is_read(self) -> bool {
        matches!(self, Self::Get | Self::List | Self::Watch)
    }
}

impl Call {
    /// A request for a whole resource by the server itself, which may do everything. `agent` is its user agent.
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
            warnings: Warnings::default(),
        }
    }

    /// Group and plural, by which answers about missing and existing objects name the resource.
    pub fn subject(&self) -> Subject<'_> {
        Subject::new(&self.resource.group, &self.resource.names.plural)
    }

    /// Whether it is for a subresource, other than `status`, that reads the object and writes a part of it.
    pub fn writes_part(&self) -> bool {
        let parts = &self.resource.rules().resets.parts;
        parts.iter().any(|(name, _)| *name == self.subresource)
    }

    /// The namespace of the objects: that of the path, if the kind is namespaced.
    pub fn namespace(&self) -> &str {
        if self.resource.namespaced { &self.namespace } else { "" }
    }

    /// The key in the store of the object of this name.
    pub fn key(&self, name: &str) -> Key {
        Key::new(&self.resource.store_name(), self.namespace(), name)
    }

    /// The first value of a query parameter; upstream ignores further values.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let named = self.query.iter().find(|(key, _)| key == name);
        named.map(|(_, value)| value.as_str())
    }

    /// All values of a query parameter, for example `dryRun`.
    pub fn parameters<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.query.iter().filter(move |(key, _)| key == name);
        named.map(|(_, value)| value.as_str())
    }
}
