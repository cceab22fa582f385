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
    labelling::{self, Labelling, OwnerKind},
    lock,
};
use crate::{
    error::{Error, Result},
    informer::{Informer, InformerConfig, Scope, paged},
    object::Object,
};

/// One kind's informer: typed for those who subscribe, untyped for the manager.
pub(super) struct Kind {
    typed: Box<dyn Any + Send + Sync>,
    pub(super) running: Arc<dyn Runs>,
    /// Whether somebody needs more than the operator's own children, or has said what is needed.
    as_configured: bool,
    /// Whose children the objects of this kind may be.
    owners: BTreeSet<OwnerKind>,
}

impl Kind {
    /// Whether the cache holds the operator's children alone.
    fn of_children(&self) -> bool {
        !self.as_configured && !self.owners.is_empty()
    }
}

pub(super) type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// An informer of whatever kind.
pub(super) trait Runs: Send + Sync {
    fn run(&self, stop: watch::Receiver<bool>) -> Pending<()>;
    /// False once no first list has made progress for this long.
    fn synced(&self, limit: Duration) -> Pending<bool>;
    fn last_error(&self) -> Option<String>;
    /// The kind and where it is watched.
    fn name(&self) -> String;
    /// Watches the objects with these labels alone. Before it runs.
    fn select(&self, labels: &str);
    /// Labels the children that the selection would miss.
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
    /// The one informer of a kind, shared by everybody who asks: one watch of the API server, one copy of each object. It
    /// holds every object of the watched namespaces, also of a kind that controllers only own. Ask before the manager runs.
    pub fn informer<K: Object>(&self) -> Informer<K> {
        self.with_kind(|kind| kind.as_configured = true)
    }

    /// The informer of a kind whose objects may be children of a `K`. Where nobody needs more, it holds children alone.
    pub(crate) fn children_of<K: Object, C: Object>(&self) -> Informer<C> {
        self.with_kind(|kind| _ = kind.owners.insert(OwnerKind::of::<K>()))
    }

    /// The informer of a kind, whatever it holds.
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
        // The entry under K's TypeId was made by the line above, for this K.
        informer.expect("the informer of a kind is of that kind").clone()
    }

    /// Decides which caches hold the operator's children alone: all uses are known by now, and nothing runs yet.
    pub(super) fn select_children(&self) {
        let selector = self.child_label().selector();
        for kind in lock(&self.informers).values().filter(|kind| kind.of_children()) {
            kind.running.select(&selector);
        }
    }

    /// The caches that hold the operator's children alone, each with whose they may be.
    pub(super) fn label_children(&self) -> Vec<Pending<Result<()>>> {
        let informers = lock(&self.informers);
        let selected = informers.values().filter(|kind| kind.of_children());
        let label = |kind: &Kind| {
            kind.running.label(Labelling {
                client: paged(&self.settings.client, labelling::PAGE),
                label: self.child_label(),
                manager: self.settings.name.clone(),
                owners: kind.owners.clone(),
            })
        };
        selected.map(label).collect()
    }

    /// Decides what the one cache of a kind holds, in the place of the [default](crate::Controller::owns): its namespaces, a selection by labels or fields, what a transform
    /// leaves of each object, how often objects are told anew. To be called before anything uses the kind.
    ///
    /// `change` gets the settings as they are otherwise: the manager's namespaces, and `managedFields` stripped but for
    /// what this operator's controllers own, which [`apply_child`](crate::Context::apply_child) compares with.
    ///
    /// # Caveats
    ///
    /// The cache is every controller's. What it leaves out wakes nobody, and is not found by
    /// [`get`](crate::Context::get) or [`children`](crate::Context::children): a child without the labels of a
    /// selection is looked up at the API server each time it is applied, and never pruned. What is written through a
    /// context is in the cache at once only where labels alone select.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] when a controller, or [`informer`](Self::informer), has begun to use the kind.
    pub fn configure_cache<K: Object>(&self, change: impl FnOnce(&mut InformerConfig<K>)) -> Result<()> {
        if lock(&self.informers).contains_key(&TypeId::of::<K>()) {
            let text = format!(
                "the cache of {} is in use, and cannot be configured any more",
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
            // The children's comparison needs what our controllers own, and nobody else's; kinds that nobody owns need none.
            keep_managers: vec![self.field_manager("")],
            pack_managed_fields: true,
            ..InformerConfig::default()
        }
    }
}
