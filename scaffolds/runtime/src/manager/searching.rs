//! Children without the operator's label: created by an earlier version of the operator, or by its code. They are
//! searched for because caches that select by the label would never contain them: before this process asks for the lease,
//! which it never holds while it only searches, and once more beside the workers, for those that the former leader has
//! created meanwhile. For tests and development, the log names those that are created later.

use std::{sync::Arc, time::Duration};

use tokio::time::sleep;
use tracing::warn;

use super::{
    Manager,
    any_informer::AnyInformer,
    labelling::{FIRST, Found, Labelling},
    lock,
};
use crate::error::Result;

/// The longest delay before children that could not be labelled are searched for again.
const RARELY: Duration = Duration::from_secs(300);
/// The interval of searches for children that no cache contains, to name them.
const OFTEN: Duration = Duration::from_secs(2);

/// The children that the caches would miss.
pub(super) struct Unlabelled {
    /// What each search has found; `None` if it has not searched.
    found: Vec<(Search, Option<Vec<Found>>)>,
    /// Whether each search is repeated beside the workers.
    again: bool,
}

impl Unlabelled {
    /// Labels what was found. Returns the searches to be made beside the workers.
    pub(super) async fn label(self) -> Vec<Search> {
        let mut late = Vec::new();
        for (search, found) in self.found {
            let labelled = match found {
                Some(found) => label_all(found).await,
                None => false,
            };
            if self.again || !labelled {
                late.push(search);
            }
        }
        late
    }
}

impl Manager {
    /// Finds the children that the caches would miss: one paged list of metadata for each kind that is only owned. With
    /// `again`, each search is repeated beside the workers.
    pub(super) async fn find_children(&self, again: bool) -> Result<Unlabelled> {
        // Without controllers nothing is written.
        let searches = if lock(&self.core.controllers).is_empty() {
            Vec::new()
        } else {
            self.searches(|_, cache| cache.is_pinned())
        };
        self.find_by(searches, again).await
    }

    /// As [`find_children`](Self::find_children), by these searches.
    pub(super) async fn find_by(&self, searches: Vec<Search>, again: bool) -> Result<Unlabelled> {
        let mut found = Vec::new();
        for search in searches {
            // Nothing but the controllers of a converted kind waits for its converter.
            let here = if self.core.converted.has(&*search.kind) {
                None
            } else {
                search.find().await?
            };
            found.push((search, here));
        }
        Ok(Unlabelled { found, again })
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
    /// Returns `None` if the API server does not serve the kind, or ceased to.
    async fn find(&self) -> Result<Option<Vec<Found>>> {
        if !self.kind.is_served() {
            return Ok(None);
        }
        tokio::select! {
            found = self.kind.find(self.labelling.clone(), None) => found.map(Some),
            () = self.kind.until_served_is(false) => Ok(None),
        }
    }

    /// Returns false if the API server does not serve the kind, or ceased to, or if a child could not be labelled.
    pub(super) async fn run(&self) -> Result<bool> {
        match self.find().await? {
            Some(found) => Ok(label_all(found).await),
            None => Ok(false),
        }
    }

    /// Searches in one namespace, if the API server serves the kind. Returns false if a child could not be labelled.
    pub(super) async fn run_in(&self, namespace: &str) -> Result<bool> {
        if !self.kind.is_served() {
            return Ok(true);
        }
        tokio::select! {
            found = self.kind.find(self.labelling.clone(), Some(namespace.to_owned())) => Ok(label_all(found?).await),
            () = self.kind.until_served_is(false) => Ok(true),
        }
    }

    /// Searches once the kind is served, and again until every child is labelled. A failure is logged, and ends nothing.
    pub(super) async fn run_late(self) {
        let mut delay = FIRST;
        loop {
            if self.kind.is_served() {
                sleep(delay).await;
                delay = (delay * 2).min(RARELY);
            } else {
                self.kind.until_served_is(true).await;
            }
            match self.run().await {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => warn!("{error}"),
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

/// Returns whether all could be labelled.
async fn label_all(found: Vec<Found>) -> bool {
    let mut labelled = true;
    for child in found {
        labelled &= child.await;
    }
    labelled
}
