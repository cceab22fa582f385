//! Finds the children of one kind without the operator's label, and labels them.

use std::{
    collections::{BTreeSet, HashSet},
    sync::{Arc, Mutex},
    time::Duration,
};

use kube::{
    Client,
    api::{ListParams, Patch},
    core::PartialObjectMeta,
};
use serde_json::json;
use tokio::time::{Instant, sleep};
use tracing::{info, warn};

use super::{any_informer::Pending, lock};
use crate::{
    api::Requests,
    child::{ChildLabel, controller_of, owner_name},
    client::AGENT,
    error::{Error, Result, refusal},
    informer::{Informer, managed},
    jitter::Jitter,
    key::ObjectKey,
    kind::Kind,
    object::AnyObject,
};

/// The page size of lists, which contain only metadata: one or two kilobytes for each object. Pages are smaller if it
/// is larger: annotations of others may have 256 KiB for each object.
pub(super) const PAGE: u32 = 500;
/// The time for which lists are retried before a search fails: the time limit for filling a cache.
const PATIENCE: Duration = Duration::from_secs(120);
/// The delay after a failed list; it doubles, up to [`LONGEST`].
pub(super) const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);
/// The labelling of the children that a search has found; false if one could not be labelled.
pub(super) type Found = Pending<bool>;

/// Group and kind of an owner; an owner reference may name any version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OwnerKind {
    group: String,
    kind: String,
}

impl OwnerKind {
    pub(super) fn of<K>(kind: &Kind<K>) -> Self {
        Self {
            group: kind.group().to_owned(),
            kind: kind.kind().to_owned(),
        }
    }
}

/// The search for children of one kind that lack the label.
#[derive(Clone)]
pub(super) struct Labelling {
    /// A client that reads [pages](crate::informer::paged) of bounded size.
    pub(super) client: Client,
    pub(super) label: ChildLabel,
    /// The operator's name, which is the field manager of the label. It differs from those of the controllers, whose
    /// entries record what their intents own.
    pub(super) manager: String,
    pub(super) owners: BTreeSet<OwnerKind>,
    /// Children are not labelled, but named in the log; with the uids of those that have been.
    pub(super) named: Option<Arc<Mutex<HashSet<String>>>>,
}

impl Labelling {
    /// Searches in one namespace, or in all that are watched.
    ///
    /// # Errors
    ///
    /// If lists fail for [`PATIENCE`].
    pub(super) async fn run<C: AnyObject>(&self, informer: &Informer<C>, only: Option<&str>) -> Result<Vec<Found>> {
        let (began, mut delay, mut jitter) = (Instant::now(), FIRST, Jitter::random());
        let mut found = Vec::new();
        let watched = informer.namespaces().filter(|_| only.is_none());
        for namespace in watched.chain(only.map(Some)) {
            loop {
                let error = match self.search(informer, namespace).await {
                    Ok(here) => {
                        found.push(here);
                        break;
                    }
                    Err(error) => error,
                };
                if began.elapsed() >= PATIENCE {
                    let kind = informer.kind().kind();
                    return Err(Error::Setup(format!(
                        "cannot list {kind} to find children without the label: {error}"
                    )));
                }
                let hint = refusal::hint(&error.to_string()).map(tracing::field::display);
                warn!(kind = informer.kind().kind(), retry_in = ?delay, hint, "cannot list objects to find children without the label: {error}");
                sleep(jitter.scale(delay, 1.0, 1.1)).await;
                delay = (delay * 2).min(LONGEST);
            }
        }
        Ok(found)
    }

    async fn search<C: AnyObject>(&self, informer: &Informer<C>, namespace: Option<&str>) -> Result<Found> {
        let mut found = Vec::new();
        let requests = Requests::within(&self.client, informer.kind(), namespace);
        let mut params = ListParams::default()
            .labels(&self.label.selector_of_others())
            .limit(PAGE);
        loop {
            let page = match requests.list_metadata(&params).await {
                Ok(page) => page,
                // The list has expired, and goes on where it was with the objects as they are now.
                Err(error) => match error.next_page() {
                    Some(token) => {
                        params = params.continue_token(&token);
                        continue;
                    }
                    None => return Err(error),
                },
            };
            let admitted = |child: &PartialObjectMeta<C>| informer.admits(child.metadata.namespace.as_deref());
            let children = page
                .items
                .into_iter()
                .filter(|child| self.seeks(child))
                .filter(admitted);
            // There may be many, and a standby keeps them.
            found.extend(children.map(|mut child| {
                let meta = &mut child.metadata;
                (meta.labels, meta.annotations, meta.managed_fields) = (None, None, None);
                child
            }));
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => break,
            }
        }
        let (labelling, informer) = (self.clone(), informer.clone());
        Ok(Box::pin(async move {
            let mut labelled = true;
            for child in &found {
                labelled &= labelling.label(&informer, child).await;
            }
            labelled
        }))
    }

    /// Whether an object is one of ours that lacks the label: it has an owner that we reconcile, and this operator has
    /// written it. Others may reconcile the same owner, and have children of their own.
    fn seeks<C: AnyObject>(&self, child: &PartialObjectMeta<C>) -> bool {
        let Some(owner) = controller_of(child).filter(|_| !self.label.is_on(&child.metadata)) else {
            return false;
        };
        let group = owner.api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let kind = OwnerKind {
            group: group.to_owned(),
            kind: owner.kind.clone(),
        };
        // Objects that a test creates are named, too.
        self.owners.contains(&kind) && (self.named.is_some() || self.is_of_this_operator(child))
    }

    /// Whether a controller of this operator has written the object, or its code has created it with a client.
    fn is_of_this_operator<C: AnyObject>(&self, child: &PartialObjectMeta<C>) -> bool {
        let mut entries = child.metadata.managed_fields.iter().flatten();
        entries.any(|entry| {
            let manager = entry.manager.as_deref().unwrap_or_default();
            match manager.strip_prefix(&self.manager) {
                // The label is written under the name alone, too.
                Some("" | AGENT) => {
                    managed::fields(entry).is_some_and(|fields| fields["f:metadata"]["f:ownerReferences"].is_object())
                }
                Some(rest) => rest.starts_with('/'),
                None => false,
            }
        })
    }

    /// A child that cannot be labelled delays no other. Returns false for it.
    async fn label<C: AnyObject>(&self, informer: &Informer<C>, child: &PartialObjectMeta<C>) -> bool {
        let kind = informer.kind();
        if let Some(named) = &self.named {
            if lock(named).insert(child.metadata.uid.clone().unwrap_or_default()) {
                self.name(kind.kind(), child);
            }
            return true;
        }
        let key = ObjectKey::of(child);
        let mut patch = self.label.patch(child.metadata.uid.as_deref());
        // It may have been found long ago, and have another owner by now.
        patch["metadata"]["resourceVersion"] = json!(child.metadata.resource_version);
        let requests = Requests::beside(&self.client, kind, &key);
        match requests
            .patch(key.name(), None, &Patch::Merge(patch), &self.manager)
            .await
        {
            Ok(labelled) => {
                info!(kind = kind.kind(), object = %key, "labelled a child that was created without the label");
                informer.observe_write(labelled, None);
                true
            }
            Err(error) if error.code() == Some(404) => true,
            // It has changed, or another object has its name: the next search finds out.
            Err(error) if error.code() == Some(409) => false,
            Err(error) => {
                let hint = refusal::hint(&error.to_string()).map(tracing::field::display);
                warn!(kind = kind.kind(), object = %key, hint, "a child cannot be labelled: {error}");
                false
            }
        }
    }

    fn name<C: AnyObject>(&self, kind: &str, child: &PartialObjectMeta<C>) {
        let (label, value) = self.label.pair();
        let hint = format!(
            "create it with `apply_child` or `create_once`, or with the label of `cx.child_label()`, or declare `.caches_all::<{kind}>()`"
        );
        warn!(
            kind, object = %ObjectKey::of(child), controller = owner_name(child), hint,
            "an object is not seen by `owns`: it has a controller of this operator, but lacks the label {label}={value}"
        );
    }
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, future::ready};

    use http::{Request, Response};
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::client::Body;
    use tower::service_fn;

    use super::*;
    use crate::informer::{InformerConfig, paged};

    #[tokio::test]
    async fn a_list_that_has_expired_goes_on_in_pages() {
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let seen = asked.clone();
        let service = service_fn(move |request: Request<Body>| {
            let query = request.uri().query().unwrap_or_default().to_owned();
            let (code, metadata) = match query.split_once("continue=") {
                None => (200, json!({"continue": "one"})),
                Some((_, token)) if token.starts_with("one") => (410, json!({"continue": "two"})),
                Some(_) => (200, json!({})),
            };
            lock(&seen).push(query);
            let owner = json!({"apiVersion": "test.example.com/v1", "kind": "FooBar", "name": "a", "uid": "1", "controller": true});
            let item = json!({"metadata": {"name": "a", "namespace": "b", "ownerReferences": [owner], "managedFields": [{"manager": "test/foobar"}]}});
            let body =
                json!({"kind": "Status", "status": "Failure", "code": code, "metadata": metadata, "items": [item]});
            let response = Response::builder()
                .status(code)
                .body(Body::from(body.to_string().into_bytes()));
            ready(Ok::<_, Infallible>(response.unwrap()))
        });
        let client = Client::new(service, "default");
        let labelling = Labelling {
            client: paged(&client, PAGE),
            label: ChildLabel::new("test"),
            manager: "test".to_owned(),
            owners: BTreeSet::from([OwnerKind {
                group: "test.example.com".to_owned(),
                kind: "FooBar".to_owned(),
            }]),
            named: None,
        };
        let informer = Informer::<ConfigMap>::new(client, InformerConfig::default());
        for _ in 0..2 {
            for found in labelling.run(&informer, None).await.unwrap() {
                found.await;
            }
        }
        let asked = lock(&asked);
        let lists = asked.iter().filter(|query| query.contains("limit=")).count();
        assert_eq!((lists, asked.len() - lists), (6, 4), "{asked:?}");
    }
}
