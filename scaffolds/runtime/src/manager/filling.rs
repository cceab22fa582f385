//! Waits for caches to be filled, and reports the reason if a cache is not.

use std::{collections::HashSet, sync::atomic::Ordering, time::Duration};

use futures::future::try_join_all;
use tokio::{
    select,
    time::{Instant, sleep},
};
use tracing::{error, info};

use super::{Manager, any_informer::AnyInformer, caches::Cache, lock};
use crate::{
    error::{Error, Result, refusal},
    kind::KindId,
};

/// The interval at which a held cache is looked at.
const HELD: Duration = Duration::from_millis(100);

/// A remedy for a cache that may not be listed.
const NOT_GRANTED: &str = "run `make manifests` and apply config/rbac: the operator may not list it";

impl Manager {
    /// Waits until every cache is filled, but for those that may be late, and those of kinds that the operator converts; the
    /// informers run already.
    pub(crate) async fn fill_caches(&self) -> Result<()> {
        self.fill(|_, cache| cache.is_pinned() && !self.is_converted(cache), NOT_GRANTED)
            .await?;
        self.core.filled.store(true, Ordering::Relaxed);
        // Only now can API servers reach a converter behind a Service.
        for cache in lock(&self.core.caches)
            .values()
            .filter(|cache| self.is_converted(cache))
        {
            cache.running.counts_from_now();
        }
        info!("caches are filled");
        Ok(())
    }

    /// Waits until the caches of all kinds that the operator converts are filled.
    pub(super) async fn fill_all_converted(&self) -> Result<()> {
        select! {
            filled = self.fill_converted(None) => filled?,
            () = self.unready_while_refused() => {}
        }
        self.core.filled.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Is not ready while one of these caches may not be listed, which no converter changes. Never ends.
    async fn unready_while_refused(&self) {
        loop {
            let is_refused = |cache: &Cache| cache.running.last_error().is_some_and(|error| error.contains(": 403 "));
            let refused = lock(&self.core.caches)
                .values()
                .any(|cache| cache.is_pinned() && self.is_converted(cache) && is_refused(cache));
            self.core.filled.store(!refused, Ordering::Relaxed);
            sleep(HELD).await;
        }
    }

    /// Waits until the caches of the kinds that the operator converts are filled, or those among these kinds.
    pub(super) async fn fill_converted(&self, kinds: Option<&HashSet<KindId>>) -> Result<()> {
        let is_meant = |kind: &KindId| kinds.is_none_or(|kinds| kinds.contains(kind));
        self.fill(
            |kind, cache| cache.is_pinned() && self.is_converted(cache) && is_meant(kind),
            NOT_GRANTED,
        )
        .await
    }

    /// Whether the operator converts the objects of one of these kinds.
    pub(super) fn converts_any(&self, kinds: &HashSet<KindId>) -> bool {
        let caches = lock(&self.core.caches);
        caches
            .iter()
            .any(|(kind, cache)| kinds.contains(kind) && self.is_converted(cache))
    }

    fn is_converted(&self, cache: &Cache) -> bool {
        self.core.converted.has(&*cache.running)
    }

    /// As [`fill_caches`](Self::fill_caches), for the caches of an added controller. Its failure may be temporary.
    pub(super) async fn fill_caches_of(&self, kinds: &HashSet<KindId>) -> Result<()> {
        let hint = "declare the controller with `Manager::may_start`, run `make manifests` and apply config/rbac";
        let filled = self.fill(|kind, _| kinds.contains(kind), hint).await;
        filled.map_err(|error| Error::retry(error.to_string()))
    }

    /// Waits until these caches are filled. `hint` is for one that may not be listed.
    async fn fill(&self, these: impl Fn(&KindId, &Cache) -> bool, hint: &'static str) -> Result<()> {
        let limit = self.core.settings.sync_limit;
        if let Some(choosing) = &self.core.choosing {
            if !choosing.informer.synced_unless_stalled(limit).await {
                let hint = "add `.chooses_namespaces()` to the operator, run `make manifests` and apply config/rbac";
                return Err(not_synced(&choosing.informer, limit, hint));
            }
            choosing.known().await;
        }
        let waits: Vec<_> = lock(&self.core.caches)
            .iter()
            .filter(|(kind, cache)| these(kind, cache))
            .map(|(_, cache)| {
                let (running, synced) = (cache.running.clone(), cache.running.synced(limit));
                let may_be_late = cache.may_be_late();
                async move {
                    if until_it_may_list(&*running, limit, may_be_late).await {
                        return Ok(());
                    }
                    if synced.await {
                        return Ok(());
                    }
                    let error = not_synced(&*running, limit, hint);
                    if !may_be_late {
                        return Err(error);
                    }
                    // A log message is one line.
                    let text = error.to_string();
                    let (text, hint) = text.split_once("\n\nhint: ").unwrap_or((&text, ""));
                    error!(hint, "starting without a cache: {text}");
                    Ok(())
                }
            })
            .collect();
        try_join_all(waits).await?;
        Ok(())
    }
}

/// Waits while a cache is held. Returns true if the operator starts without it.
async fn until_it_may_list(cache: &dyn AnyInformer, limit: Duration, may_be_late: bool) -> bool {
    if !cache.is_held() {
        return false;
    }
    let (name, since) = (cache.name(), Instant::now());
    let mut logged = false;
    while cache.is_held() {
        sleep(HELD).await;
        if !logged && since.elapsed() >= limit {
            logged = true;
            error!(
                "the cache of {name} waits until its definition names the converter; a warning about certificates has the reason"
            );
        }
        if may_be_late || logged && cache.may_be_absent() {
            return true;
        }
    }
    cache.counts_from_now();
    false
}

/// `hint` is for a cache that may not be listed.
fn not_synced(cache: &dyn AnyInformer, limit: Duration, hint: &'static str) -> Error {
    let (name, error) = (cache.name(), cache.last_error());
    let refused = error.as_deref().filter(|error| error.contains(": 403 "));
    // A controller that was added has its rules from `Manager::may_start`.
    let named = refused.and_then(refusal::hint).filter(|_| hint == NOT_GRANTED);
    let hint = match error.as_deref() {
        Some(error) if error.contains(": 403 ") => named.as_deref().unwrap_or(hint),
        Some(error) if error.contains(": 404 ") => {
            "install its CustomResourceDefinition, or declare the kind `.optional` in each controller"
        }
        _ => "if the API server is slow, pass a longer --cache-sync-timeout",
    };
    let error = error.unwrap_or_else(|| "the API server sent nothing".to_owned());
    Error::Setup(format!(
        "the cache of {name} is not filled, without progress for {limit:?}: {error}\n\nhint: {hint}"
    ))
}
