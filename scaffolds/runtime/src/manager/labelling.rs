//! Children without the operator's label: created by an earlier version of the operator, or by another client. They are
//! searched for once, before the workers start, because caches that select by the label would never contain them.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use kube::{
    Client,
    api::{ListParams, Patch},
    core::PartialObjectMeta,
};
use tokio::time::{Instant, sleep};
use tracing::{info, warn};

use super::{Manager, caches::Runs, lock};
use crate::{
    api::Requests,
    child::{ChildLabel, controller_of},
    error::{Error, Result, refusal},
    informer::Informer,
    jitter::Jitter,
    key::ObjectKey,
    kind::Kind,
    object::AnyObject,
};

/// The page size of lists, which contain only metadata: one or two kilobytes for each object. Pages are smaller if it
/// is larger: annotations of others may have 256 KiB for each object.
pub(super) const PAGE: u32 = 500;
/// How long lists are retried before the process ends: as long as a cache may take to be filled.
const PATIENCE: Duration = Duration::from_secs(120);
/// The delay after a failed list; it doubles, up to [`LONGEST`].
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);

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
    /// The field manager of the label. It differs from those of the controllers, whose entries record what their
    /// intents own.
    pub(super) manager: String,
    pub(super) owners: BTreeSet<OwnerKind>,
}

impl Manager {
    /// Labels the children that the caches would miss. If there are none, this is one paged list of metadata for each
    /// kind that is only owned. Returns the searches of absent kinds.
    pub(super) async fn find_children(&self) -> Result<Vec<Search>> {
        let mut late = Vec::new();
        if let Some(choosing) = &self.core.choosing {
            choosing.searched.store(true, Ordering::SeqCst);
        }
        // Without controllers nothing is written.
        if lock(&self.core.controllers).is_empty() {
            return Ok(late);
        }
        for search in self.searches(|_, cache| cache.is_pinned()) {
            if !search.run().await? {
                late.push(search);
            }
        }
        Ok(late)
    }
}

/// A search, and the kind that it is for.
#[derive(Clone)]
pub(super) struct Search {
    pub(super) kind: Arc<dyn Runs>,
    pub(super) labelling: Labelling,
}

impl Search {
    /// Returns false if the API server does not serve the kind, or ceased to.
    pub(super) async fn run(&self) -> Result<bool> {
        if !self.kind.is_served() {
            return Ok(false);
        }
        tokio::select! {
            found = self.kind.label(self.labelling.clone(), None) => found.map(|()| true),
            () = self.kind.until_served_is(false) => Ok(false),
        }
    }

    /// Searches in one namespace, if the API server serves the kind.
    pub(super) async fn run_in(&self, namespace: &str) -> Result<()> {
        if !self.kind.is_served() {
            return Ok(());
        }
        tokio::select! {
            found = self.kind.label(self.labelling.clone(), Some(namespace.to_owned())) => found,
            () = self.kind.until_served_is(false) => Ok(()),
        }
    }

    /// Searches once the kind is served.
    pub(super) async fn run_late(self) -> Result<()> {
        while !self.run().await? {
            self.kind.until_served_is(true).await;
        }
        Ok(())
    }
}

impl Labelling {
    /// Searches in one namespace, or in all that are watched.
    pub(super) async fn run<C: AnyObject>(&self, informer: &Informer<C>, only: Option<&str>) -> Result<()> {
        let (began, mut delay, mut jitter) = (Instant::now(), FIRST, Jitter::random());
        let watched = informer.namespaces().filter(|_| only.is_none());
        for namespace in watched.chain(only.map(Some)) {
            while let Err(error) = self.search(informer, namespace).await {
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
        Ok(())
    }

    async fn search<C: AnyObject>(&self, informer: &Informer<C>, namespace: Option<&str>) -> Result<()> {
        let requests = Requests::within(&self.client, informer.kind(), namespace);
        let mut params = ListParams::default()
            .labels(&self.label.selector_of_others())
            .limit(PAGE);
        loop {
            let page = requests.list_metadata(&params).await?;
            let admitted = |child: &&PartialObjectMeta<C>| informer.admits(child.metadata.namespace.as_deref());
            for child in page.items.iter().filter(|child| self.is_ours(child)).filter(admitted) {
                self.label(informer, child).await;
            }
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => return Ok(()),
            }
        }
    }

    fn is_ours<C: AnyObject>(&self, child: &PartialObjectMeta<C>) -> bool {
        let Some(owner) = controller_of(child).filter(|_| !self.label.is_on(&child.metadata)) else {
            return false;
        };
        let group = owner.api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let kind = OwnerKind {
            group: group.to_owned(),
            kind: owner.kind.clone(),
        };
        self.owners.contains(&kind)
    }

    /// A child that cannot be labelled delays no other: it is labelled when its owner applies it.
    async fn label<C: AnyObject>(&self, informer: &Informer<C>, child: &PartialObjectMeta<C>) {
        let kind = informer.kind();
        let key = ObjectKey::of(child);
        let patch = self.label.patch(child.metadata.uid.as_deref());
        let requests = Requests::beside(&self.client, kind, &key);
        match requests
            .patch(key.name(), None, &Patch::Merge(patch), &self.manager)
            .await
        {
            Ok(labelled) => {
                info!(kind = kind.kind(), object = %key, "labelled a child that was created without the label");
                informer.observe_write(labelled, None);
            }
            // The object is gone, or another object has its name.
            Err(error) if matches!(error.code(), Some(404 | 409)) => {}
            Err(error) => {
                let hint = refusal::hint(&error.to_string()).map(tracing::field::display);
                warn!(kind = kind.kind(), object = %key, hint, "a child cannot be labelled: {error}");
            }
        }
    }
}
