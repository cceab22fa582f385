//! Requests of controllers to a shared informer, before and while it runs: the objects and the parts of their
//! `managedFields` it keeps, and that its kind may be absent.

use std::sync::{Arc, MutexGuard, PoisonError};

use tokio::sync::watch::Receiver;

use super::{Informer, SharedInformer, Watchable, place::WatchRequest};

/// The requests of the controllers that share an informer.
#[derive(Default)]
pub(super) struct SharedUses {
    pub(super) started: bool,
    /// A label selector in addition to the configuration's.
    label: Option<String>,
    records: Records,
    /// True once objects may be listed.
    may_list: Option<Receiver<bool>>,
}

/// Whether objects are stored with the `managedFields` entries that the configuration selects.
#[derive(Clone, Copy, Default, PartialEq)]
enum Records {
    #[default]
    Kept,
    Dropped,
    /// Kept of the objects that are stored from now on. Earlier ones lack them.
    KeptFromNowOn,
}

impl SharedUses {
    pub(super) fn keep_records(&self) -> bool {
        self.records != Records::Dropped
    }

    /// Drops the label, if `everything` is asked for. Returns whether stored objects, or their records, are missing.
    fn widen(&mut self, everything: bool) -> bool {
        let lacks_records = self.records == Records::KeptFromNowOn;
        if lacks_records {
            self.records = Records::Kept;
        }
        (everything && self.label.take().is_some()) || lacks_records
    }
}

impl<K: Watchable> Informer<K> {
    /// Keeps no `managedFields`, regardless of the configuration, until [`Self::keep_records`] is called.
    pub(crate) fn without_records(self) -> Self {
        self.shared.uses().records = Records::Dropped;
        self
    }

    /// Keeps the `managedFields` entries that the configuration selects, of objects that are stored from now on.
    /// [`Self::adapt`] adds those of objects that are stored already.
    pub(crate) fn keep_records(&self) {
        let mut uses = self.shared.uses();
        uses.records = match uses.records {
            Records::Dropped if uses.started => Records::KeptFromNowOn,
            Records::Dropped => Records::Kept,
            kept => kept,
        };
    }

    /// Watches only the objects with this label (one `key=value`), unless the configuration has a selector. To be
    /// called before the informer runs.
    pub(crate) fn select(&self, labels: &str) {
        if self.shared.config.label_selector.is_none() {
            self.shared.uses().label = Some(labels.to_owned());
        }
    }

    /// Lists nothing before this is true, or its sender is gone. To be called before the informer runs.
    pub(crate) fn hold(&self, may_list: Receiver<bool>) {
        self.shared.uses().may_list = Some(may_list);
    }

    /// Whether it is [held](Self::hold).
    pub(crate) fn is_held(&self) -> bool {
        let uses = self.shared.uses();
        uses.may_list
            .as_ref()
            .is_some_and(|may_list| !*may_list.borrow() && may_list.has_changed().is_ok())
    }

    /// The time without progress of the first list counts from now on.
    pub(crate) fn counts_from_now(&self) {
        self.shared.health.started();
    }

    /// Whether the kind [may be absent](Self::allow_absence).
    pub(crate) fn may_be_absent(&self) -> bool {
        self.shared.presence.may_be_absent()
    }

    /// Adapts an informer that runs to a further user: it keeps every object from now on, if that is asked for and it
    /// has kept only those with a label, and the `managedFields` that [`Self::keep_records`] asked for. If anything
    /// changes, everything is listed once more, and [`Self::synced`] waits for that list; meanwhile the store keeps what
    /// it has.
    pub(crate) fn adapt(&self, everything: bool) {
        if self.shared.uses().widen(everything) {
            self.shared.change(|state| {
                let sources = state.reflection.start_over();
                self.shared.health.starts_over(&sources);
            });
            self.shared.restarts.send_replace(());
        }
    }

    /// Whether the watched namespaces may contain objects of the kind that the store does not.
    pub(crate) fn selects(&self) -> bool {
        let selected = self.shared.label().is_some();
        selected || !self.has_synced() || self.shared.places.iter().any(WatchRequest::has_selectors)
    }

    /// The kind may be absent, as with [`InformerConfig::optional`](super::InformerConfig::optional).
    pub(crate) fn allow_absence(&self) {
        self.shared.presence.allow_absence();
    }

    /// Calls `handler` when the kind is served and listed again (`true`), or no longer served (`false`), after the
    /// deltas that this causes. Returns a number for [`Self::forget_presence`].
    pub(crate) fn on_presence(&self, handler: impl Fn(bool) + Send + Sync + 'static) -> u64 {
        self.shared.presence.on_change(Arc::new(handler))
    }

    /// Ends what [`Self::on_presence`] began.
    pub(crate) fn forget_presence(&self, handler: u64) {
        self.shared.presence.remove(handler);
    }

    /// Removes the index of this name, if there is one.
    pub(crate) fn remove_index(&self, name: &str) {
        self.shared.store.write().remove_index(name);
    }
}

impl<K: Watchable> SharedInformer<K> {
    /// Waits until objects [may be listed](Informer::hold).
    pub(super) async fn until_it_may_list(&self) {
        let held = self.uses().may_list.clone();
        if let Some(mut may_list) = held.filter(|may_list| !*may_list.borrow()) {
            // Without a sender there is nothing to wait for.
            _ = may_list.wait_for(|may_list| *may_list).await;
            self.health.started();
        }
    }

    /// The label selector in addition to the configuration's.
    pub(super) fn label(&self) -> Option<String> {
        self.uses().label.clone()
    }

    pub(super) fn uses(&self) -> MutexGuard<'_, SharedUses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
