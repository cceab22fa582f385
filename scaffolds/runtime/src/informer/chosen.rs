//! Namespaces that join and leave while the informer runs.

use std::{collections::BTreeSet, time::Duration};

use kube::Api;
use tokio::time::{Instant, sleep};

use super::{
    Informer, Scope, SharedInformer, Watchable,
    decode::Decoded,
    health::{Retry, reason},
    list_watch::list_page,
    membership::Join,
    paging::paged,
};
use crate::key::ObjectKey;

/// The delay before a namespace asks again whether the list of all namespaces is complete.
const AGAIN: Duration = Duration::from_millis(100);

impl<K: Watchable> Informer<K> {
    /// Stores only the objects of these namespaces, and of those that [join](Self::join). The watch shows all of them. To be called
    /// before the informer runs; without effect for a kind without namespaces, and if the configuration names namespaces.
    pub(crate) fn choose(&self, namespaces: BTreeSet<String>) {
        if self.shared.kind.is_namespaced() && matches!(self.shared.config.scope, Scope::Cluster) {
            self.shared
                .change(|state| state.reflection.membership.choose(namespaces));
        }
    }

    /// Whether objects of this namespace are stored.
    pub(crate) fn admits(&self, namespace: Option<&str>) -> bool {
        self.shared.lock().reflection.membership.admits(namespace)
    }

    /// Stores the objects of a namespace from now on. Returns when all of them are stored and delivered; retries without
    /// limit.
    pub(crate) async fn join(&self, namespace: &str) {
        self.shared.until_it_may_list().await;
        let mut retry = Retry::new();
        loop {
            // A statement of its own, because the lock must not be held while objects are listed.
            let join = self.shared.lock().reflection.join_begins(namespace);
            match join {
                Join::Done => return,
                Join::Wait => sleep(AGAIN).await,
                Join::List(list) => {
                    if let Err(error) = self.shared.list_joining(namespace, list).await {
                        let delay = retry.failed(Instant::now());
                        let kind = self.shared.kind.resource();
                        tracing::warn!(retry_in = ?delay, "cannot list {kind} in namespace {namespace}: {error}");
                        sleep(delay).await;
                    }
                }
            }
        }
    }

    /// Drops the objects of a namespace, which are delivered as deleted.
    pub(crate) fn leave(&self, namespace: &str) {
        self.shared.change(|state| {
            let deltas = state.reflection.leave(namespace);
            state.dispatch.push(deltas, None);
        });
    }
}

impl<K: Watchable> SharedInformer<K> {
    /// Lists the objects of a namespace, page by page, as the watch of its place does.
    async fn list_joining(&self, namespace: &str, list: u64) -> Result<(), String> {
        let key = ObjectKey::new(Some(namespace), "");
        let place = self.places.iter().find(|place| place.covers(&key));
        let mut next = Some(place.map(|place| self.list_params(place)).unwrap_or_default());
        let client = paged(&self.client, self.config.page_size);
        let api: Api<Decoded<K>> = Api::namespaced_with(client, namespace, &self.kind);
        while let Some(asked) = next {
            let page = list_page(&api, asked).await.map_err(|error| reason(&error))?;
            for object in page.objects {
                let object = self.finish(object);
                self.change(|state| {
                    let deltas = state.reflection.join_shows(list, object);
                    state.dispatch.push(deltas, None);
                });
            }
            next = page.next;
        }
        self.change(|state| state.reflection.membership.joined(list, namespace));
        Ok(())
    }
}
