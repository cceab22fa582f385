//! Children without the operator's label: created by an earlier version of the operator, or by another client. They are
//! searched for once, before the workers start, because caches that select by the label would never contain them. For
//! tests and development, the log names those that are created later.

use std::{
    collections::{BTreeSet, HashSet},
    sync::{Arc, Mutex, atomic::Ordering},
    time::Duration,
};

use kube::{
    Client,
    api::{ListParams, Patch},
    core::PartialObjectMeta,
};
use tokio::time::{Instant, sleep};
use tracing::{info, warn};

use super::{Manager, any_informer::AnyInformer, lock};
use crate::{
    api::Requests,
    child::{ChildLabel, controller_of, owner_name},
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
/// The time for which lists are retried before the process ends: the time limit for filling a cache.
const PATIENCE: Duration = Duration::from_secs(120);
/// The delay after a failed list; it doubles, up to [`LONGEST`].
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);
/// The longest delay before children that could not be labelled are searched for again.
const RARELY: Duration = Duration::from_secs(300);
/// The interval of searches for children that no cache contains, to name them.
const OFTEN: Duration = Duration::from_secs(2);

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
    /// Children are not labelled, but named in the log; with the uids of those that have been.
    pub(super) named: Option<Arc<Mutex<HashSet<String>>>>,
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

    /// The tasks that name children which no cache contains, if the manager is to report them.
    pub(super) fn name_unseen(&self) -> Vec<impl Future<Output = ()> + use<>> {
        let searches = if self.core.settings.reports_unseen {
            self.searches(|_, cache| cache.is_pinned())
        } else {
            Vec::new()
        };
        searches.into_iter().map(Search::name).collect()
    }
}

/// A search, and the kind that it is for.
#[derive(Clone)]
pub(super) struct Search {
    pub(super) kind: Arc<dyn AnyInformer>,
    pub(super) labelling: Labelling,
}

impl Search {
    /// Returns false if the API server does not serve the kind, or ceased to, or if a child could not be labelled.
    pub(super) async fn run(&self) -> Result<bool> {
        if !self.kind.is_served() {
            return Ok(false);
        }
        tokio::select! {
            found = self.kind.label(self.labelling.clone(), None) => found,
            () = self.kind.until_served_is(false) => Ok(false),
        }
    }

    /// Searches in one namespace, if the API server serves the kind. Returns false if a child could not be labelled.
    pub(super) async fn run_in(&self, namespace: &str) -> Result<bool> {
        if !self.kind.is_served() {
            return Ok(true);
        }
        tokio::select! {
            found = self.kind.label(self.labelling.clone(), Some(namespace.to_owned())) => found,
            () = self.kind.until_served_is(false) => Ok(true),
        }
    }

    /// Searches once the kind is served, and again until every child is labelled.
    pub(super) async fn run_late(self) -> Result<()> {
        let mut delay = FIRST;
        loop {
            if self.kind.is_served() {
                sleep(delay).await;
                delay = (delay * 2).min(RARELY);
            } else {
                self.kind.until_served_is(true).await;
            }
            if self.run().await? {
                return Ok(());
            }
        }
    }

    async fn name(mut self) {
        self.labelling.named = Some(Arc::default());
        loop {
            sleep(OFTEN).await;
            // A failure is logged, and ends nothing.
            _ = self.run().await;
        }
    }
}

impl Labelling {
    /// Searches in one namespace, or in all that are watched. Returns whether every child that was found has the label.
    pub(super) async fn run<C: AnyObject>(&self, informer: &Informer<C>, only: Option<&str>) -> Result<bool> {
        let (began, mut delay, mut jitter) = (Instant::now(), FIRST, Jitter::random());
        let mut labelled = true;
        let watched = informer.namespaces().filter(|_| only.is_none());
        for namespace in watched.chain(only.map(Some)) {
            loop {
                let error = match self.search(informer, namespace).await {
                    Ok(all) => {
                        labelled &= all;
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
        Ok(labelled)
    }

    async fn search<C: AnyObject>(&self, informer: &Informer<C>, namespace: Option<&str>) -> Result<bool> {
        let mut labelled = true;
        let requests = Requests::within(&self.client, informer.kind(), namespace);
        let mut params = ListParams::default()
            .labels(&self.label.selector_of_others())
            .limit(PAGE);
        loop {
            let page = requests.list_metadata(&params).await?;
            let admitted = |child: &&PartialObjectMeta<C>| informer.admits(child.metadata.namespace.as_deref());
            for child in page.items.iter().filter(|child| self.is_ours(child)).filter(admitted) {
                labelled &= self.label(informer, child).await;
            }
            match page.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => return Ok(labelled),
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
        let patch = self.label.patch(child.metadata.uid.as_deref());
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
            // Another object may have its name by now: the next search finds out.
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
