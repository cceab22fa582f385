//! The tasks of an informer: one per watch, and one for the resync. Each runs until it is aborted, even after errors
//! and panics.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use kube::{Api, Resource, api::ListParams};
use tokio::{
    task::yield_now,
    time::{Instant, MissedTickBehavior, interval, sleep},
};

use super::{
    InformerState, SharedInformer, Watchable,
    decode::Decoded,
    delta::Delta,
    echo,
    health::{Retry, reason},
    list_watch::{ListWatchError, ListWatchEvent, list_watch},
    merge::Fresh,
    paging::paged,
    place::WatchRequest,
    reflection::Broken,
    relist::Relist,
};
use crate::{error::refusal, isolate::isolated_future, jitter::Jitter, store::Text};

/// If a working watch has not shown one of our own writes after this time, the informer lists again. A watch cache lags
/// by milliseconds; the API server itself stops waiting for it after 3 s.
const UNSEEN_WRITE: Duration = Duration::from_secs(30);
/// A watch that has not failed for this long is considered to work, even without events: connecting takes at most 30 s.
const SILENCE: Duration = Duration::from_secs(40);
const CHECK: Duration = Duration::from_secs(10);
/// The number of objects that are resynced before the task yields to watches and workers.
const RESYNCED_AT_ONCE: usize = 256;
/// The delay after a panic, which no message of the server should be able to cause.
const AFTER_PANIC: Duration = Duration::from_secs(30);

/// Watches one source forever.
pub(super) async fn watch<K: Watchable>(shared: Arc<SharedInformer<K>>, source: usize) {
    shared.until_it_may_list().await;
    loop {
        if let Err(panic) = isolated_future(echo::watching(shared.clone(), watch_until_lost(&shared, source))).await {
            let error = format!("{}: panicked: {panic}", shared.watch_name(source));
            tracing::error!("{error}; it is restarted in {AFTER_PANIC:?}");
            shared.health.set_error(source, error);
            sleep(AFTER_PANIC).await;
        }
    }
}

/// Returns when the watch has to start with a list: it has not shown our own writes, the kind was absent, or the informer
/// starts over.
async fn watch_until_lost<K: Watchable>(shared: &SharedInformer<K>, source: usize) {
    let client = paged(&shared.client, shared.config.page_size);
    let place = &shared.places[source];
    let api: Api<Decoded<K>> = match &place.namespace {
        Some(namespace) => Api::namespaced_with(client, namespace, &shared.kind),
        None => Api::all_with(client, &shared.kind),
    };
    // Before the selector is read, so that no change of it is missed.
    let mut restarted = shared.restarts.subscribe();
    let mut relist = Relist::new();
    let relists = |ended_early| shared.store.invalid_len() > 0 && relist.follows(ended_early);
    let mut events = std::pin::pin!(list_watch(api, shared.list_params(place), relists));
    let mut retry = Retry::new();
    let mut check = interval(CHECK);
    check.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut working_since = Instant::now();
    loop {
        let event = tokio::select! {
            biased;
            _ = restarted.changed() => return,
            now = check.tick() => {
                if now.saturating_duration_since(working_since) < SILENCE || shared.is_listing(source) {
                    continue;
                }
                // A resumed watch sends nothing until something happens.
                recovered(shared, source);
                if shared.misses_write(source, now - UNSEEN_WRITE) {
                    tracing::warn!("{} does not show a write; listing again", shared.watch_name(source));
                    return;
                }
                continue;
            }
            event = events.next() => event,
        };
        match event {
            Some(Ok(event)) => {
                note_success(shared, source, &event, &mut retry);
                if matches!(event, ListWatchEvent::ListEnds) {
                    working_since = Instant::now();
                }
                let listing = matches!(event, ListWatchEvent::Listed(_));
                shared.handle(source, event);
                if listing {
                    let listed = shared.lock().reflection.listed(source);
                    shared.health.shown(source, listed);
                }
            }
            Some(Err(error)) if shared.is_absent(&error).await => {
                shared.vanish(source);
                shared.until_served().await;
                return;
            }
            Some(Err(error)) => {
                let delay = retry.failed(Instant::now()).max(error.asked_delay());
                note_failure(shared, source, &error, &retry, delay);
                tokio::select! {
                    () = sleep(delay) => working_since = Instant::now(),
                    _ = restarted.changed() => return,
                }
            }
            // The stream has no end.
            None => return,
        }
    }
}

fn note_success<K: Watchable>(
    shared: &SharedInformer<K>,
    source: usize,
    event: &ListWatchEvent<Decoded<K>>,
    retry: &mut Retry,
) {
    // A list that starts shows nothing yet.
    if matches!(event, ListWatchEvent::ListBegins) {
        return;
    }
    if matches!(event, ListWatchEvent::Changed(_) | ListWatchEvent::Deleted(_)) {
        retry.succeeded();
    }
    recovered(shared, source);
}

fn recovered<K: Watchable>(shared: &SharedInformer<K>, source: usize) {
    if shared.health.clear_error(source) {
        tracing::info!("{} works again", shared.watch_name(source));
    }
}

/// Logs the first failure and then fewer and fewer: the 2nd, 4th, 8th in a row.
fn note_failure<K: Watchable>(
    shared: &SharedInformer<K>,
    source: usize,
    error: &ListWatchError,
    retry: &Retry,
    delay: Duration,
) {
    let name = shared.watch_name(source);
    let text = format!("{name}: {}", reason(error));
    if error.is_expired() {
        tracing::debug!("{text}");
        return;
    }
    if retry.failures().is_power_of_two() {
        let hint = refusal::hint(&text).map(tracing::field::display);
        tracing::warn!(failures = retry.failures(), retry_in = ?delay, hint, "{text}");
    }
    shared.health.set_error(source, text);
}

/// Delivers every stored object again once per period, ± 10 % so that informers do not do it at the same time.
pub(super) async fn resync<K: Watchable>(shared: Arc<SharedInformer<K>>, period: Duration) {
    let mut jitter = Jitter::random();
    loop {
        sleep(jitter.scale(period, 0.9, 1.1)).await;
        let keys = shared.store.keys();
        for some in keys.chunks(RESYNCED_AT_ONCE) {
            shared.change(|state| {
                // Read under the lock: no subscriber gets an object after its deletion.
                let stored = some.iter().filter_map(|key| shared.store.get(key));
                state.dispatch.push(stored.map(Delta::Resync), None);
            });
            yield_now().await;
        }
    }
}

impl<K: Watchable> SharedInformer<K> {
    pub(super) fn list_params(&self, place: &WatchRequest) -> ListParams {
        let mut params = self.config.list_params(place);
        params.label_selector = params.label_selector.or_else(|| self.label());
        params
    }

    /// Merges one watch event, and delivers the resulting changes.
    fn handle(&self, source: usize, event: ListWatchEvent<Decoded<K>>) {
        match event {
            ListWatchEvent::ListBegins => self.change(|state| state.reflection.list_begins(source)),
            ListWatchEvent::Listed(object) | ListWatchEvent::Changed(object) => self.shown(source, object),
            ListWatchEvent::Deleted(object) => self.change(|state| {
                let deltas = state.reflection.gone(source, object.meta());
                state.dispatch.push(deltas, None);
            }),
            ListWatchEvent::ListEnds => self.change(|state| {
                let (deltas, first) = state.reflection.list_ends(source);
                state.dispatch.push(deltas, None);
                if first {
                    state.dispatch.listed(source, self.health.round(source));
                }
            }),
        }
    }

    fn shown(&self, source: usize, object: Decoded<K>) {
        let object = match object {
            Decoded::Echo {
                metadata,
                text,
                records,
            } => {
                let has_records = records.is_some() && self.uses().keep_records() && self.config.has_records();
                let echo = |state: &mut InformerState<K>| state.reflection.echoed(source, &metadata, text, has_records);
                match self.change(echo) {
                    Ok(()) => return,
                    Err(text) => Decoded::of(text, records),
                }
            }
            object => object,
        };
        match self.finish(object) {
            Ok(fresh) => self.change(|state| {
                let deltas = state.reflection.shown(source, fresh);
                state.dispatch.push(deltas, None);
            }),
            Err(broken) => self.handle_broken(source, broken),
        }
    }

    /// Empties the cache: the API server does not serve the kind.
    fn vanish(&self, source: usize) {
        self.health.clear_error(source);
        self.change(|state| {
            let deltas = state.reflection.vanish(source);
            state.dispatch.push(deltas, None);
            state.dispatch.absent(source);
        });
    }

    fn handle_broken(&self, source: usize, broken: Broken) {
        let name = self.watch_name(source);
        self.change(|state| {
            let deltas = state.reflection.shown_broken(source, broken);
            for delta in &deltas {
                if let Delta::Invalid { key, error } = delta {
                    tracing::warn!(object = %key, "{name}: an object cannot be decoded and is left out: {error}");
                }
            }
            state.dispatch.push(deltas, None);
        });
    }

    /// Converts a decoded object into the form in which it is stored.
    pub(super) fn finish(&self, object: Decoded<K>) -> Result<Fresh<K>, Broken> {
        match object {
            Decoded::Valid {
                mut object,
                text,
                records,
            } => {
                let wanted = records.filter(|_| self.uses().keep_records());
                object.meta_mut().managed_fields = wanted.and_then(|text| self.config.records(&text));
                let object = self.trim(object)?;
                // The text does not contain the result of a transform.
                let text = match self.config.transform {
                    None => Text::new(text, object.meta().managed_fields.as_ref()),
                    Some(_) => None,
                };
                Ok(Fresh { object, text })
            }
            Decoded::Echo { text, records, .. } => self.finish(Decoded::of(text, records)),
            Decoded::Invalid { metadata, error } => Err(Broken {
                metadata,
                error: error.into(),
            }),
        }
    }

    fn is_listing(&self, source: usize) -> bool {
        self.lock().reflection.is_listing(source)
    }

    fn misses_write(&self, source: usize, deadline: Instant) -> bool {
        self.lock().reflection.misses_write(source, deadline)
    }

    fn watch_name(&self, source: usize) -> String {
        // Such as `watch of foobars.test.example.com in namespace a`.
        format!("watch of {} {}", self.kind.resource(), self.places[source].name())
    }
}
