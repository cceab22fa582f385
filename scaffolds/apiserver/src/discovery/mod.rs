//! Discovery: the aggregated documents, and the older ones for each group and version.

mod aggregated;
mod legacy;
mod order;

use crate::{
    catalogue::{Catalogue, Snapshot},
    digest,
    resource::Resource,
};
use bytes::Bytes;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// The media type of [`Discovery::aggregated`].
pub(crate) const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// A document with its `ETag`, quotes included.
#[derive(Clone)]
pub(crate) struct Document {
    pub body: Bytes,
    pub etag: String,
}

/// Answers discovery requests from the catalogue; caches the large documents until the catalogue changes.
pub(crate) struct Discovery {
    catalogue: Catalogue,
    kept: Mutex<Option<Kept>>,
}

struct Kept {
    generation: u64,
    /// The documents of `/api` and `/apis`.
    documents: [Document; 2],
}

/// One of the two roots: `/api` contains the core group, `/apis` all others.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Root {
    Api,
    Apis,
}

impl Discovery {
    pub(crate) fn new(catalogue: Catalogue) -> Self {
        Self {
            catalogue,
            kept: Mutex::new(None),
        }
    }

    /// The aggregated document below `root`.
    pub(crate) fn aggregated(&self, root: Root) -> Document {
        let snapshot = self.catalogue.snapshot();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = match kept.take() {
            Some(fresh) if fresh.generation == snapshot.generation => kept.insert(fresh),
            _ => kept.insert(Kept::of(&snapshot)),
        };
        let [api, apis] = &kept.documents;
        match root {
            Root::Api => api.clone(),
            Root::Apis => apis.clone(),
        }
    }

    /// `/api` and `/apis` without aggregation. `address` is the server's host and port.
    pub(crate) fn root(&self, root: Root, address: &str) -> Value {
        match root {
            Root::Api => legacy::core(address),
            Root::Apis => legacy::groups(&self.snapshot()),
        }
    }

    /// `/apis/GROUP`; `None` if the group does not exist.
    pub(crate) fn group(&self, group: &str) -> Option<Value> {
        legacy::group(&self.snapshot(), group)
    }

    /// `/api/v1` (with an empty group) and `/apis/GROUP/VERSION`; `None` if the version does not exist.
    pub(crate) fn version(&self, group: &str, version: &str) -> Option<Value> {
        legacy::resources(&self.snapshot(), group, version)
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        self.catalogue.snapshot()
    }
}

impl Kept {
    fn of(snapshot: &Snapshot) -> Self {
        let document = |core| {
            let body = aggregated::document(snapshot, core).to_string();
            Document {
                etag: format!("\"{}\"", digest::sha512_hex(body.as_bytes())),
                body: Bytes::from(body + "\n"),
            }
        };
        Self {
            generation: snapshot.generation,
            documents: [document(true), document(false)],
        }
    }
}

/// The verbs of a resource. While its CRD is being deleted, only those that read or delete.
fn verbs(resource: &Resource) -> Vec<&'static str> {
    let closing = resource.rules().forbids_creation.is_some();
    let refused = |verb: &str| closing && matches!(verb, "create" | "update" | "patch");
    resource.verbs.iter().copied().filter(|verb| !refused(verb)).collect()
}
