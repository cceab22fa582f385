//! Kinds that the API server may not serve: whether it does, and when it does again. A list that is answered with 404
//! proves nothing by itself; the discovery document of the kind's version decides, and its failures decide nothing.

use std::{
    sync::{
        Arc, Mutex as SyncMutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use kube::Error;
use tokio::{sync::Mutex, time::sleep};
use tracing::{debug, info};

use super::{SharedInformer, Watchable, list_watch::ListWatchError};
use crate::jitter::Jitter;

/// The delay before discovery is asked again; it doubles, up to [`LONGEST`].
const FIRST: Duration = Duration::from_secs(1);
/// The longest delay, as in controller-runtime (`pkg/internal/source/kind.go`).
const LONGEST: Duration = Duration::from_secs(10);

/// Called when the kind is served again (`true`), or no longer (`false`).
type Handler = Arc<dyn Fn(bool) + Send + Sync>;

/// Whether a kind may be absent, and whether it is.
#[derive(Default)]
pub(super) struct Presence {
    optional: AtomicBool,
    absent: AtomicBool,
    /// Locked while discovery is asked: one request at a time, however many namespaces are watched.
    asking: Mutex<()>,
    handlers: SyncMutex<Vec<(u64, Handler)>>,
    last_handler: AtomicU64,
}

impl Presence {
    pub(super) fn new(optional: bool) -> Self {
        Self {
            optional: optional.into(),
            ..Self::default()
        }
    }

    pub(super) fn may_be_absent(&self) -> bool {
        self.optional.load(Ordering::Relaxed)
    }

    pub(super) fn allow_absence(&self) {
        self.optional.store(true, Ordering::Relaxed);
    }

    /// Adds a handler, and returns a number by which it can be removed.
    pub(super) fn on_change(&self, handler: Handler) -> u64 {
        let id = self.last_handler.fetch_add(1, Ordering::Relaxed);
        self.handlers().push((id, handler));
        id
    }

    pub(super) fn remove(&self, id: u64) {
        self.handlers().retain(|(known, _)| *known != id);
    }

    pub(super) fn notify(&self, served: bool) {
        let handlers = self.handlers().clone();
        handlers.iter().for_each(|(_, handler)| handler(served));
    }

    fn handlers(&self) -> std::sync::MutexGuard<'_, Vec<(u64, Handler)>> {
        self.handlers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Watchable> SharedInformer<K> {
    /// Whether a watch failed because the API server does not serve the kind, which may be absent.
    pub(super) async fn is_absent(&self, error: &ListWatchError) -> bool {
        let presence = &self.presence;
        if !presence.optional.load(Ordering::Relaxed) || !error.is_not_found() {
            return false;
        }
        if presence.absent.load(Ordering::SeqCst) {
            return true;
        }
        let _one = presence.asking.lock().await;
        if presence.absent.load(Ordering::SeqCst) {
            return true;
        }
        match self.serves().await {
            Ok(true) => false,
            Ok(false) => {
                presence.absent.store(true, Ordering::SeqCst);
                info!(
                    "the API server does not serve {}: its cache is empty until it does",
                    self.kind
                );
                true
            }
            Err(error) => {
                debug!("cannot find out whether {} is served: {error}", self.kind);
                false
            }
        }
    }

    /// Waits until the API server serves the kind again. Discovery is asked after 1 s, then with delays that double up
    /// to 10 s.
    pub(super) async fn until_served(&self) {
        let presence = &self.presence;
        let _one = presence.asking.lock().await;
        let (mut delay, mut jitter) = (FIRST, Jitter::random());
        while presence.absent.load(Ordering::SeqCst) {
            sleep(jitter.scale(delay, 1.0, 1.1)).await;
            delay = (delay * 2).min(LONGEST);
            match self.serves().await {
                Ok(true) => {
                    presence.absent.store(false, Ordering::SeqCst);
                    info!("the API server serves {}: it is watched", self.kind);
                }
                Ok(false) => {}
                Err(error) => debug!("cannot find out whether {} is served: {error}", self.kind),
            }
        }
    }

    /// Whether the discovery document of the kind's version has the kind. Every authenticated user may read it.
    async fn serves(&self) -> kube::Result<bool> {
        let api_version = self.kind.api_version();
        let listed = if self.kind.group().is_empty() {
            self.client.list_core_api_resources(&api_version).await
        } else {
            self.client.list_api_group_resources(&api_version).await
        };
        match listed {
            Ok(list) => Ok(list
                .resources
                .iter()
                .any(|resource| resource.name == self.kind.plural())),
            Err(Error::Api(status)) if status.code == 404 => Ok(false),
            Err(error) => Err(error),
        }
    }
}
