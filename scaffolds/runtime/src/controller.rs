//! A controller: what wakes it, and how many workers it has. What it does is the reconciler's matter.

use std::{
    any::{Any, TypeId},
    borrow::Cow,
    collections::{BTreeMap, HashMap, HashSet},
    marker::PhantomData,
    sync::Arc,
    time::Duration,
};

use kube::Resource;
use kubewright_schema::rbac::PolicyRule;
use tokio::sync::mpsc;

use crate::{
    Object,
    child::{Applies, controller_of},
    claim::{Deleted, ORPHAN_INDEX, Selector, orphan_handler, orphan_namespace},
    context::{Blocked, InFlight, OWNER_INDEX, Shared, Source, is_namespaced},
    error::{Error, Result},
    informer::Delta,
    key::ObjectKey,
    manager::Manager,
    predicate::Predicate,
    queue::{Backoff, Priority, WorkQueue},
    rbac::{Registration, Use},
    reconciler::Reconciler,
    worker::{Main, Worker},
};

/// A controller for objects of kind `K`, before it is registered with a [`Manager`].
///
/// It is woken by every change of an object of kind `K`, of a child ([`owns`](Self::owns)) and of a watched
/// object ([`watches`](Self::watches)). Its own writes through the [`Context`](crate::Context) do not wake it.
///
/// # Defaults
///
/// Workers: `--max-concurrent-reconciles` (1). Time-out of one reconcile: none. Backoff of a failing key: 5 ms,
/// doubled each time, at most 1000 s (client-go's default rate limiter), with up to 10 % jitter. A panic fails the one
/// reconcile it happened in.
pub struct Controller<K: Resource> {
    name: String,
    workers: Option<usize>,
    timeout: Option<Duration>,
    backoff: Backoff,
    predicate: Option<Predicate<K>>,
    sources: Vec<SourceFn<K>>,
    indexed: Vec<(TypeId, Cow<'static, str>)>,
    prunes: HashSet<TypeId>,
    claims: HashMap<TypeId, Selector<K>>,
    foreign: bool,
    uses: Vec<Use>,
    rules: Vec<PolicyRule>,
}

/// Connects the controller with what wakes it, once its queue is there.
type SourceFn<K> = Box<dyn FnOnce(&Manager, &Wiring<K>, &mut Sources) -> Result<()>>;

/// The kinds that a controller reads beside its own: a [`Source`] each.
type Sources = HashMap<TypeId, Box<dyn Any + Send + Sync>>;

/// What a subscription needs of its controller.
pub(crate) struct Wiring<K> {
    pub(crate) queue: WorkQueue,
    pub(crate) blocked: Arc<Blocked>,
    pub(crate) applies: Arc<Applies>,
    pub(crate) deleted: Arc<Deleted>,
    kind: PhantomData<fn(K)>,
}

impl<K: Object> Controller<K> {
    /// A controller of this name: unique in its manager, and the label of its metrics, logs and events.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            workers: None,
            timeout: None,
            backoff: Backoff::default(),
            predicate: None,
            sources: Vec::new(),
            indexed: Vec::new(),
            prunes: HashSet::new(),
            claims: HashMap::new(),
            foreign: false,
            uses: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// Wakes the owner when a child of kind `C` changes, which is an object whose owner reference with
    /// `controller: true` names an object of kind `K` (in any version). The child is known to
    /// [`Context::apply_child`](crate::Context::apply_child) from the cache.
    pub fn owns<C: Object>(self) -> Self {
        self.owns_where::<C>(Predicate::new(|_| true))
    }

    /// As [`owns`](Self::owns), but only those changes of children that pass wake the owner. Deletions should: a child
    /// that is gone is to be made again.
    pub fn owns_where<C: Object>(mut self, predicate: Predicate<C>) -> Self {
        self.uses.push(Use::owned::<C>());
        self.sources.push(Box::new(move |manager, wiring, sources| {
            let source = subscribe(manager, own_handler::<K, C>(wiring, predicate));
            keep_children(&source);
            // In the place of a mere watch of this kind: writes of children are told to everybody but their owners.
            sources.insert(TypeId::of::<C>(), Box::new(source));
            Ok(())
        }));
        self
    }

    /// As [`owns`](Self::owns), for children that are known by labels as well: `selector` gives those of an object. Such an
    /// object without a controller wakes whoever may adopt it. [`Context::claim`](crate::Context::claim) settles who is whose, and
    /// children may be deleted ([`prunes`](Self::prunes) is included).
    pub fn claims<C: Object>(
        mut self,
        selector: impl Fn(&K) -> BTreeMap<String, String> + Send + Sync + 'static,
    ) -> Self {
        let selector: Selector<K> = Arc::new(selector);
        self.uses.extend([Use::owned::<C>(), Use::pruned::<C>()]);
        self.prunes.insert(TypeId::of::<C>());
        self.claims.insert(TypeId::of::<C>(), selector.clone());
        self.sources.push(Box::new(move |manager, wiring, sources| {
            let owned = own_handler::<K, C>(wiring, Predicate::new(|_| true));
            let orphaned = orphan_handler(wiring.queue.clone(), manager.informer::<K>().store(), selector);
            let source = subscribe(manager, move |delta: &Delta<C>| {
                owned(delta);
                orphaned(delta);
            });
            keep_children(&source);
            _ = source.informer.add_index(ORPHAN_INDEX, orphan_namespace::<C>);
            sources.insert(TypeId::of::<C>(), Box::new(source));
            Ok(())
        }));
        self
    }

    /// Lets [`Context::prune_children`](crate::Context::prune_children) delete children of kind `C`, which is a permission
    /// of its own. Beside [`owns`](Self::owns).
    pub fn prunes<C: Object>(mut self) -> Self {
        self.uses.push(Use::pruned::<C>());
        self.prunes.insert(TypeId::of::<C>());
        self
    }

    /// Wakes the objects that `map` names when an object of kind `W` changes. After an update `map` is asked about the
    /// old and the new object. It runs on the informer's task: keep it short and free of I/O.
    ///
    /// Where names and labels are all that counts, watch [`PartialObjectMeta<W>`](kube::core::PartialObjectMeta): the API
    /// server then sends the metadata alone, and the cache holds no more.
    pub fn watches<W: Object>(self, map: impl Fn(&W) -> Vec<ObjectKey> + Send + Sync + 'static) -> Self {
        self.watches_where(Predicate::new(|_| true), map)
    }

    /// As [`watches`](Self::watches), but only those changes that pass wake anybody.
    pub fn watches_where<W: Object>(
        mut self,
        predicate: Predicate<W>,
        map: impl Fn(&W) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> Self {
        self.uses.push(Use::watched::<W>());
        self.sources.push(Box::new(move |manager, wiring, sources| {
            let queue = wiring.queue.clone();
            let source = subscribe(manager, move |delta: &Delta<W>| {
                if predicate.test(delta) {
                    for key in objects(delta).flat_map(&map) {
                        queue.add(key, priority(delta));
                    }
                }
            });
            // It may be made a child by its name.
            source.informer.keep_records();
            sources.entry(TypeId::of::<W>()).or_insert(Box::new(source));
            Ok(())
        }));
        self
    }

    /// Wakes the objects whose keys come out of a channel: for what is outside of Kubernetes, a webhook of a cloud or a
    /// poll. It is emptied as long as the manager runs, on a standby too, and waits for no reconcile: keys that are not
    /// handled yet are joined, so the queue is bounded by the number of objects and the channel by its own capacity.
    ///
    /// On a standby the keys are dropped: every object is reconciled once it leads. They are lost with the process, too. What must not be missed after a restart has to be found by the reconcile that
    /// every object gets then.
    pub fn watches_channel(mut self, mut keys: mpsc::Receiver<ObjectKey>) -> Self {
        self.sources.push(Box::new(move |manager, wiring, _| {
            let queue = wiring.queue.clone();
            manager.background(async move {
                while let Some(key) = keys.recv().await {
                    queue.add(key, Priority::Normal);
                }
            });
            Ok(())
        }));
        self
    }

    /// Lets [`Context::by_index`](crate::Context::by_index), and the `map` of [`watches`](Self::watches), find objects of
    /// kind `C` by the values that `values` gives for them. The index belongs to the manager's one cache of the kind, so
    /// its name is unique among all controllers. `C` is a kind that this controller reconciles, owns or watches.
    pub fn index<C: Object>(
        mut self,
        name: &'static str,
        values: impl Fn(&C) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.indexed.push((TypeId::of::<C>(), C::kind(&())));
        self.sources.push(Box::new(move |manager, _, _| {
            let added = manager.informer::<C>().add_index(name, values);
            added.map_err(|error| Error::Setup(format!("{}: {error}\n\nhint: give it another name", C::kind(&()))))
        }));
        self
    }

    /// For a kind of Kubernetes or of another operator: its status is not this controller's to write. A failure that a person
    /// has to act on is told by an event and the log, not by a condition, and `config/rbac/role.yaml` grants no `/status`.
    pub fn foreign(mut self) -> Self {
        self.foreign = true;
        self
    }

    /// Wakes the controller only for those changes of its own kind that pass; deletions always do.
    pub fn predicate(mut self, predicate: Predicate<K>) -> Self {
        self.predicate = Some(predicate);
        self
    }

    /// The number of workers, instead of `--max-concurrent-reconciles`. At least one.
    pub fn concurrency(mut self, workers: usize) -> Self {
        self.workers = Some(workers.max(1));
        self
    }

    /// Ends a reconcile that takes longer, as a failure.
    pub fn reconcile_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Another delay after failures.
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.backoff = backoff;
        self
    }

    /// A permission that the reconciler needs beyond what the controller's declaration tells: it goes into
    /// `config/rbac/role.yaml`.
    pub fn rule(mut self, groups: &[&str], resources: &[&str], verbs: &[&str]) -> Self {
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        self.rules.push(PolicyRule {
            api_groups: own(groups),
            resources: own(resources),
            verbs: own(verbs),
            ..PolicyRule::default()
        });
        self
    }

    /// Hands the controller to the manager, which starts it.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] when the manager has a controller of this name, or the kind an index of that
    /// name.
    pub fn register<R: Reconciler<K>>(self, manager: &Manager, reconciler: R) -> Result<()> {
        let (worker, workers) = self.connect(manager, reconciler)?;
        manager.add(Arc::new(worker), workers);
        Ok(())
    }

    /// The controller joined to the caches, and how many workers are to run it.
    pub(crate) fn connect<R: Reconciler<K>>(self, manager: &Manager, reconciler: R) -> Result<(Worker<K, R>, usize)> {
        let workers = self.workers.unwrap_or(manager.default_workers());
        manager.claim(Registration {
            controller: self.name.clone(),
            main: Use::main::<K>(reconciler.finalizer().is_some(), self.foreign),
            others: self.uses,
            rules: self.rules,
        })?;
        let wiring = Wiring {
            queue: WorkQueue::new(self.backoff, manager.metrics().queue(&self.name)).asleep(),
            blocked: Arc::default(),
            applies: Arc::default(),
            deleted: Arc::default(),
            kind: PhantomData,
        };
        let in_flight = Arc::<InFlight>::default();
        let main = Main::new(wiring.queue.clone(), in_flight.clone(), self.predicate);
        let source = subscribe(manager, main.handler());
        let mut sources = Sources::new();
        for connect in self.sources {
            connect(manager, &wiring, &mut sources)?;
        }
        let unread = |of: &TypeId| *of != TypeId::of::<K>() && !sources.contains_key(of);
        if let Some((_, kind)) = self.indexed.iter().find(|(of, _)| unread(of)) {
            let text = format!("`{}` indexes {kind}, and neither owns nor watches it", self.name);
            return Err(Error::Setup(format!("{text}\n\nhint: add `.owns::<{kind}>()` to it")));
        }

        let shared = Shared {
            client: manager.client().clone(),
            recorder: manager.recorder(&self.name),
            manager: manager.field_manager(&self.name),
            namespace: manager.namespace().to_owned(),
            main: source,
            sources,
            prunes: self.prunes,
            claims: self.claims,
            deleted: wiring.deleted,
            foreign: self.foreign,
            applies: wiring.applies,
            blocked: wiring.blocked,
            in_flight,
        };
        let worker = Worker {
            metrics: manager.metrics().controller(&self.name, workers),
            name: self.name,
            queue: wiring.queue,
            shared: Arc::new(shared),
            reconciler,
            timeout: self.timeout,
            main,
        };
        Ok((worker, workers))
    }
}

/// Joins the subscribers of the manager's one informer of this kind.
fn subscribe<C: Object>(manager: &Manager, handler: impl Fn(&Delta<C>) + Send + Sync + 'static) -> Source<C> {
    let informer = manager.informer::<C>();
    let subscription = informer.subscribe(handler).id();
    Source { informer, subscription }
}

/// Children are found by their owner, and compared with the records of what this operator owns of them.
fn keep_children<C: Object>(source: &Source<C>) {
    source.informer.keep_records();
    // Another controller that owns this kind may have added the very same index.
    _ = source.informer.add_index(OWNER_INDEX, |child: &C| {
        controller_of(child)
            .map(|owner| owner.uid.clone())
            .into_iter()
            .collect()
    });
}

/// What a child's change means for its owner.
fn own_handler<K: Object, C: Object>(
    wiring: &Wiring<K>,
    predicate: Predicate<C>,
) -> impl Fn(&Delta<C>) + Send + Sync + 'static {
    let (queue, blocked, applies) = (wiring.queue.clone(), wiring.blocked.clone(), wiring.applies.clone());
    let deleted = wiring.deleted.clone();
    move |delta| {
        if predicate.test(delta) {
            for owner in objects(delta).filter_map(|child| owner_of::<K, C>(child)) {
                queue.add(owner, priority(delta));
            }
        }
        if let Some(child) = objects(delta).next() {
            let key = ObjectKey::of(child);
            for waiting in blocked.wake::<C>(&key) {
                queue.add(waiting, priority(delta));
            }
            if matches!(delta, Delta::Deleted(_)) {
                deleted.forget(child);
                applies.forget::<C>(&key);
            }
        }
    }
}

/// The object of kind `K` that controls this child. Group and kind count, the version does not: the same object may be
/// named in any version that is served.
pub(crate) fn owner_of<K: Object, C: Object>(child: &C) -> Option<ObjectKey> {
    let owner = controller_of(child)?;
    let group = owner.api_version.rsplit_once('/').map_or("", |(group, _)| group);
    if owner.kind != K::kind(&()) || group != K::group(&()) {
        return None;
    }
    // An owner in a namespace is always in its child's; a cluster-scoped one is in none.
    let namespace = if is_namespaced::<K>() {
        child.meta().namespace.as_deref()
    } else {
        None
    };
    Some(ObjectKey::new(namespace, &owner.name))
}

/// The objects that a delta speaks of: after an update the new one and the old one.
pub(crate) fn objects<C>(delta: &Delta<C>) -> impl Iterator<Item = &C> {
    delta.object().into_iter().chain(delta.old()).map(|object| &**object)
}

/// Live changes go before what is only there already.
pub(crate) fn priority<C>(delta: &Delta<C>) -> Priority {
    if delta.is_routine() {
        Priority::Low
    } else {
        Priority::Normal
    }
}
