//! The caches that the controllers share: one informer for each kind.

use std::{
    any::{Any, TypeId},
    collections::BTreeSet,
    future::Future,
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use tokio::sync::watch;

use super::{
    Manager,
    labelling::{self, Labelling, OwnerKind, Search},
    lock,
};
use crate::{
    error::{Error, Result},
    informer::{Informer, InformerConfig, Scope, paged},
    object::Object,
};

/// One kind's informer: typed for subscribers, untyped for the manager.
pub(super) struct Kind {
    typed: Box<dyn Any + Send + Sync>,
    pub(super) running: Arc<dyn Runs>,
    /// Whether a controller needs more than the operator's own children, or the cache was configured.
    as_configured: bool,
    /// The kinds that may own objects of this kind.
    owners: BTreeSet<OwnerKind>,
}

impl Kind {
    /// Whether the cache contains only the operator's children.
    fn of_children(&self) -> bool {
        !self.as_configured && !self.owners.is_empty()
    }
}

pub(super) type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// An informer of any kind.
pub(super) trait Runs: Send + Sync {
    fn run(&self, stop: watch::Receiver<bool>) -> Pending<()>;
    /// Whether the API server serves the kind.
    fn is_served(&self) -> bool;
    /// Waits until [`is_served`](Self::is_served) has this value.
    fn until_served_is(&self, served: bool) -> Pending<()>;
    /// False once a first list has made no progress for this long.
    fn synced(&self, limit: Duration) -> Pending<bool>;
    fn last_error(&self) -> Option<String>;
    /// The kind and the watched namespaces.
    fn name(&self) -> String;
    /// Watches only the objects with this label. To be called before it runs.
    fn select(&self, labels: &str);
    /// Labels the children that the selector would miss.
    fn label(&self, labelling: Labelling) -> Pending<Result<()>>;
}

impl<K: Object> Runs for Informer<K> {
    fn run(&self, stop: watch::Receiver<bool>) -> Pending<()> {
        let informer = self.clone();
        Box::pin(async move {
            let mut stop = stop;
            informer.run(async move { _ = stop.wait_for(|stop| *stop).await }).await;
        })
    }

    fn is_served(&self) -> bool {
        Informer::is_served(self)
    }

    fn until_served_is(&self, served: bool) -> Pending<()> {
        let informer = self.clone();
        Box::pin(async move { informer.until_served_is(served).await })
    }

    fn synced(&self, limit: Duration) -> Pending<bool> {
        let informer = self.clone();
        Box::pin(async move { informer.synced_unless_stalled(limit).await })
    }

    fn last_error(&self) -> Option<String> {
        Informer::last_error(self)
    }

    fn name(&self) -> String {
        let (kind, group) = (K::kind(&()), K::group(&()));
        let dot = if group.is_empty() { "" } else { "." };
        format!("`{kind}{dot}{group}` {}", self.place())
    }

    fn select(&self, labels: &str) {
        Informer::select(self, labels);
    }

    fn label(&self, labelling: Labelling) -> Pending<Result<()>> {
        let informer = self.clone();
        Box::pin(async move { labelling.run(&informer).await })
    }
}

impl Manager {
    /// The shared informer of a kind: one watch of the API server, one copy of each object. It contains every object of
    /// the watched namespaces, also of a kind that controllers only own. Call it before the manager runs.
    pub fn informer<K: Object>(&self) -> Informer<K> {
        self.with_kind(|kind| kind.as_configured = true)
    }

    /// The informer of a kind whose objects may be children of a `K`. If no controller needs more, it contains only
    /// children.
    pub(crate) fn children_of<K: Object, C: Object>(&self) -> Informer<C> {
        self.with_kind(|kind| _ = kind.owners.insert(OwnerKind::of::<K>()))
    }

    /// The informer of a kind, without a requirement on its contents.
    pub(crate) fn cached<K: Object>(&self) -> Informer<K> {
        self.with_kind(|_| {})
    }

    fn with_kind<K: Object>(&self, note: impl FnOnce(&mut Kind)) -> Informer<K> {
        let new = || Informer::new(self.settings.client.clone(), self.informer_config()).without_records();
        self.informer_as(new, note)
    }

    /// The informer of a kind, a new one if there is none yet.
    fn informer_as<K: Object>(&self, new: impl FnOnce() -> Informer<K>, note: impl FnOnce(&mut Kind)) -> Informer<K> {
        let mut informers = lock(&self.informers);
        let kind = informers.entry(TypeId::of::<K>()).or_insert_with(|| {
            let informer = new();
            self.settings.metrics.cache(&informer);
            Kind {
                typed: Box::new(informer.clone()),
                running: Arc::new(informer),
                as_configured: false,
                owners: BTreeSet::new(),
            }
        });
        note(kind);
        let informer: Option<&Informer<K>> = kind.typed.downcast_ref();
        // The line above inserted the entry under K's TypeId, for this K.
        informer.expect("the informer of a kind is of that kind").clone()
    }

    /// Decides which caches contain only the operator's children: all uses are known by now, and nothing runs yet.
    pub(super) fn select_children(&self) {
        let selector = self.child_label().selector();
        for kind in lock(&self.informers).values().filter(|kind| kind.of_children()) {
            kind.running.select(&selector);
        }
    }

    /// The search for unlabelled children, for each cache that contains only the operator's children.
    pub(super) fn searches(&self) -> Vec<Search> {
        let informers = lock(&self.informers);
        let selected = informers.values().filter(|kind| kind.of_children());
        let search = |kind: &Kind| Search {
            kind: kind.running.clone(),
            labelling: Labelling {
                client: paged(&self.settings.client, labelling::PAGE),
                label: self.child_label(),
                manager: self.settings.name.clone(),
                owners: kind.owners.clone(),
            },
        };
        selected.map(search).collect()
    }

    /// The kind may be absent: its cache is empty while the API server does not serve it.
    pub(crate) fn allow_absence<K: Object>(&self) {
        self.cached::<K>().allow_absence();
    }

    /// Configures the shared cache of a kind, in place of the [default](crate::Controller::owns): its namespaces, a
    /// label or field selector, a transform of each object, how often objects are resynced. Call it before anything
    /// uses the kind.
    ///
    /// `change` gets the default settings: the manager's namespaces, and `managedFields` stripped except for this
    /// operator's field managers, which [`apply_child`](crate::Context::apply_child) compares with.
    ///
    /// # Caveats
    ///
    /// All controllers share the cache. Objects that it excludes wake no controller, and [`get`](crate::Context::get)
    /// and [`children`](crate::Context::children) do not find them: a child that a selector excludes is read from the
    /// API server each time it is applied, and never pruned. Writes made through a context are in the cache at once
    /// only if the selection is by labels alone.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if a controller, or [`informer`](Self::informer), already uses the kind.
    pub fn configure_cache<K: Object>(&self, change: impl FnOnce(&mut InformerConfig<K>)) -> Result<()> {
        if lock(&self.informers).contains_key(&TypeId::of::<K>()) {
            let text = format!(
                "the cache of {} is in use already, so it cannot be configured",
                K::kind(&())
            );
            let hint = "configure it before the first controller is registered";
            return Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
        }
        let mut config = self.informer_config();
        change(&mut config);
        self.informer_as::<K>(
            || Informer::new(self.settings.client.clone(), config),
            |kind| kind.as_configured = true,
        );
        Ok(())
    }

    fn informer_config<K: Object>(&self) -> InformerConfig<K> {
        let watched = &self.settings.watched;
        let everywhere = watched.is_empty() || !crate::key::is_namespaced::<K>();
        InformerConfig {
            scope: if everywhere {
                Scope::Cluster
            } else {
                Scope::Namespaces(watched.clone())
            },
            // Comparing children needs the entries of our own field managers only; a kind that no controller owns needs
            // none.
            keep_managers: vec![self.field_manager("")],
            pack_managed_fields: true,
            ..InformerConfig::default()
        }
    }
}
