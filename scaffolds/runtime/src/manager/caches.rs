//! The caches that the controllers share: one informer for each kind.

use std::{
    any::Any,
    collections::{BTreeSet, HashSet},
    sync::Arc,
};

use tokio::sync::watch;
use tracing::info;

use super::{
    Manager,
    added::Work,
    any_informer::AnyInformer,
    labelling::{self, Labelling, OwnerKind},
    lock,
    running::essential,
    searching::Search,
};
use crate::{
    error::{Error, Result},
    informer::{Informer, InformerConfig, paged},
    kind::{Kind, KindId},
    metrics::CacheMetrics,
    object::{AnyObject, Object},
};

/// One kind's informer: typed for subscribers, untyped for the manager.
pub(super) struct Cache {
    typed: Box<dyn Any + Send + Sync>,
    pub(super) running: Arc<dyn AnyInformer>,
    contents: Contents,
    start: Start,
    lifetime: Lifetime,
    /// Ends the informer, once it runs.
    stop: Option<watch::Sender<bool>>,
    _metrics: CacheMetrics,
}

/// The objects that the uses of a cache need; a further use only adds objects.
#[derive(Default)]
enum Contents {
    /// No use has a requirement.
    #[default]
    Any,
    /// The objects that the operator applies, all of which have its label. Some may be children of these kinds.
    Applied { owners: BTreeSet<OwnerKind> },
    /// All objects of the cache's configuration.
    Everything,
}

/// Whether the operator starts before a cache is filled.
#[derive(Clone, Copy, Default, PartialEq)]
enum Start {
    #[default]
    Filled,
    /// Not filled, as no use needs it.
    Late,
    /// Filled, because a use needs it.
    Required,
}

/// The end of a cache.
enum Lifetime {
    /// With the manager: something that was declared before the manager ran uses it.
    Manager,
    /// With the last of its users, which are controllers that can stop.
    Users(usize),
}

impl Cache {
    /// Whether the operator may start before it is filled.
    pub(super) fn may_be_late(&self) -> bool {
        self.start == Start::Late
    }

    pub(super) fn is_pinned(&self) -> bool {
        matches!(self.lifetime, Lifetime::Manager)
    }

    /// The owners of the cached objects, if the cache contains only objects that the operator applies.
    fn applied(&self) -> Option<&BTreeSet<OwnerKind>> {
        match &self.contents {
            Contents::Applied { owners } => Some(owners),
            Contents::Any | Contents::Everything => None,
        }
    }

    /// Adds the objects that the operator applies, and, with an owner, the search for its children without the label.
    fn need_applied(&mut self, owner: Option<OwnerKind>) {
        self.start = Start::Required;
        if let Contents::Any = self.contents {
            self.contents = Contents::Applied {
                owners: BTreeSet::new(),
            };
        }
        if let Contents::Applied { owners } = &mut self.contents {
            owners.extend(owner);
        }
    }

    pub(super) fn has_started(&self) -> bool {
        self.stop.is_some()
    }

    /// The signal that it ends, once it runs.
    pub(super) fn stopped(&self) -> Option<watch::Receiver<bool>> {
        self.stop.as_ref().map(watch::Sender::subscribe)
    }

    /// The task of the informer, until [`end`](Self::end).
    pub(super) fn start(&mut self) -> Work {
        let (stop, stopped) = watch::channel(false);
        self.stop = Some(stop);
        let name = format!("the cache of {}", self.running.name());
        Box::pin(essential(name, self.running.run(stopped.clone()), stopped))
    }

    fn end(&self) {
        if let Some(stop) = &self.stop {
            stop.send_replace(true);
        }
    }
}

impl Manager {
    /// The shared informer of a kind: one watch of the API server, one copy of each object. It contains every object of
    /// the watched namespaces, also of a kind that controllers only own. Call it before the manager runs.
    pub fn informer<K: Object>(&self) -> Informer<K> {
        self.informer_of(&Kind::of())
    }

    /// As [`informer`](Self::informer), for a kind that may have no Rust type.
    pub fn informer_of<K: AnyObject>(&self, kind: &Kind<K>) -> Informer<K> {
        self.with_cache(kind, |cache| {
            (cache.contents, cache.lifetime) = (Contents::Everything, Lifetime::Manager)
        })
    }

    /// The informer of a kind, which contains every object of the watched namespaces.
    pub(super) fn whole<K: AnyObject>(&self, kind: &Kind<K>) -> Informer<K> {
        self.with_cache(kind, |cache| cache.contents = Contents::Everything)
    }

    /// Counts a user of the cache.
    pub(super) fn hold<K: AnyObject>(&self, kind: &Kind<K>) {
        self.with_cache(kind, |cache| {
            if let Lifetime::Users(users) = &mut cache.lifetime {
                *users += 1;
            }
        });
    }

    /// Removes a user of the cache, which [`hold`](Self::hold) counted. The cache ends with its last user.
    pub(super) fn let_go(&self, kind: &KindId) {
        let mut caches = lock(&self.core.caches);
        let Some(cache) = caches.get_mut(kind) else { return };
        let Lifetime::Users(users) = &mut cache.lifetime else {
            return;
        };
        *users = users.saturating_sub(1);
        if *users > 0 {
            return;
        }
        let ended = caches.remove(kind);
        drop(caches);
        if let Some(cache) = ended {
            info!("{} is not used any more: its cache ends", cache.running.name());
            cache.end();
        }
    }

    /// The informer of a kind whose objects may be children of `owner`. If no controller needs more, it contains only
    /// children.
    pub(crate) fn children_of<K, C: AnyObject>(&self, owner: &Kind<K>, kind: &Kind<C>) -> Informer<C> {
        self.with_cache(kind, |cache| cache.need_applied(Some(OwnerKind::of(owner))))
    }

    /// The informer of a kind whose objects are applied with other ownership. If no controller needs more, it contains
    /// only objects with the operator's label.
    pub(crate) fn labelled_of<C: AnyObject>(&self, kind: &Kind<C>) -> Informer<C> {
        self.with_cache(kind, |cache| cache.need_applied(None))
    }

    /// The informer of a kind, without a requirement on its contents.
    pub(crate) fn cached<K: AnyObject>(&self, kind: &Kind<K>) -> Informer<K> {
        self.with_cache(kind, |_| {})
    }

    fn with_cache<K: AnyObject>(&self, kind: &Kind<K>, note: impl FnOnce(&mut Cache)) -> Informer<K> {
        let new = || {
            let config = self.informer_config(kind);
            Informer::of(self.core.settings.client.clone(), kind.clone(), config).without_records()
        };
        self.cache_of(kind, new, note)
    }

    /// The informer of a kind, which is created if it does not exist yet.
    fn cache_of<K: AnyObject>(
        &self,
        kind: &Kind<K>,
        new: impl FnOnce() -> Informer<K>,
        note: impl FnOnce(&mut Cache),
    ) -> Informer<K> {
        let mut caches = lock(&self.core.caches);
        let cache = caches.entry(kind.id().clone()).or_insert_with(|| {
            let informer = new();
            self.core.converted.hold(&informer);
            Cache {
                _metrics: self.core.settings.metrics.cache(&informer),
                typed: Box::new(informer.clone()),
                running: Arc::new(informer),
                contents: Contents::default(),
                start: Start::default(),
                lifetime: match self.has_begun() {
                    true => Lifetime::Users(0),
                    false => Lifetime::Manager,
                },
                stop: None,
            }
        });
        note(cache);
        let informer: Option<&Informer<K>> = cache.typed.downcast_ref();
        // The id of a kind contains the TypeId of K.
        informer.expect("the informer of a kind is of that kind").clone()
    }

    /// Decides which caches contain only the operator's children: all uses are known by now, and nothing runs yet.
    pub(super) fn select_children(&self) {
        let selector = self.child_label().selector();
        for cache in lock(&self.core.caches)
            .values()
            .filter(|cache| cache.applied().is_some())
        {
            cache.running.select(&selector);
        }
    }

    /// The tasks of all informers.
    pub(super) fn start_caches(&self) -> Vec<Work> {
        lock(&self.core.caches).values_mut().map(Cache::start).collect()
    }

    /// Runs the caches of these kinds that do not run yet, and adapts the others to what controllers need by now.
    pub(super) fn run_caches(&self, kinds: &HashSet<KindId>) {
        let selector = self.child_label().selector();
        let mut running = Vec::new();
        for (kind, cache) in lock(&self.core.caches).iter_mut() {
            if !kinds.contains(kind) {
                continue;
            }
            if cache.has_started() {
                running.push((cache.running.clone(), cache.applied().is_none()));
                continue;
            }
            if cache.applied().is_some() {
                cache.running.select(&selector);
            }
            self.start_cache(cache);
        }
        // Subscribers are notified when the lock is not held.
        for (cache, everything) in running {
            cache.adapt(everything);
        }
    }

    /// Ends all informers.
    pub(super) fn end_caches(&self) {
        lock(&self.core.caches).values().for_each(Cache::end);
    }

    /// The search for unlabelled children, for each of these caches that contains only the operator's children.
    pub(super) fn searches(&self, these: impl Fn(&KindId, &Cache) -> bool) -> Vec<Search> {
        let caches = lock(&self.core.caches);
        let these = caches.iter().filter(|(kind, cache)| these(kind, cache));
        let owned = these.filter_map(|(_, cache)| cache.applied().map(|owners| (cache, owners)));
        let search = |(cache, owners): (&Cache, &BTreeSet<OwnerKind>)| Search {
            kind: cache.running.clone(),
            labelling: Labelling {
                client: paged(&self.core.settings.client, labelling::PAGE),
                label: self.child_label(),
                manager: self.core.settings.name.clone(),
                owners: owners.clone(),
                named: None,
            },
        };
        owned.filter(|(_, owners)| !owners.is_empty()).map(search).collect()
    }

    /// The operator may start before the cache of this kind is filled.
    pub(crate) fn allow_lateness<K: AnyObject>(&self, kind: &Kind<K>) {
        self.with_cache(kind, |cache| {
            if cache.start == Start::Filled {
                cache.start = Start::Late;
            }
        });
    }

    /// The operator does not start before the cache of this kind is filled.
    pub(crate) fn require<K: AnyObject>(&self, kind: &Kind<K>) {
        self.with_cache(kind, |cache| cache.start = Start::Required);
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
        self.configure_cache_of(&Kind::of(), change)
    }

    /// As [`configure_cache`](Self::configure_cache), for a kind that may have no Rust type.
    ///
    /// # Errors
    ///
    /// As [`configure_cache`](Self::configure_cache).
    pub fn configure_cache_of<K: AnyObject>(
        &self,
        kind: &Kind<K>,
        change: impl FnOnce(&mut InformerConfig<K>),
    ) -> Result<()> {
        if lock(&self.core.caches).contains_key(kind.id()) {
            let kind = kind.kind();
            let text = format!("the cache of {kind} is in use already, so it cannot be configured");
            let hint = "configure it before the first controller is registered";
            return Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
        }
        let mut config = self.informer_config(kind);
        change(&mut config);
        let new = || Informer::of(self.core.settings.client.clone(), kind.clone(), config);
        self.cache_of(kind, new, |cache| cache.contents = Contents::Everything);
        Ok(())
    }

    fn informer_config<K>(&self, kind: &Kind<K>) -> InformerConfig<K> {
        InformerConfig {
            scope: self.core.settings.scope(kind.is_namespaced()),
            // Comparing children needs the entries of our own field managers only; a kind that no controller owns needs
            // none.
            keep_managers: vec![self.field_manager("")],
            pack_managed_fields: true,
            ..InformerConfig::default()
        }
    }
}
