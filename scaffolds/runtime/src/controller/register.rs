//! A declared controller joined to its manager: its queue, its caches, its workers.

use std::{any::TypeId, marker::PhantomData, sync::Arc};

use super::{
    Controller,
    sources::{Sources, subscribe},
};
use crate::{
    child::Applies,
    context::{Blocked, Deleted, InFlight, Shared},
    error::{Error, Result},
    informer::Delta,
    key::ObjectKey,
    manager::Manager,
    metrics::QueueMetrics,
    object::Object,
    queue::WorkQueue,
    rbac::{Registration, Use},
    reconciler::Reconciler,
    worker::{Main, Traces, Worker},
};

/// What a subscription needs of its controller.
pub(super) struct Wiring<K> {
    pub(super) controller: Arc<str>,
    pub(super) queue: WorkQueue,
    pub(super) blocked: Arc<Blocked>,
    pub(super) applies: Arc<Applies>,
    pub(super) deleted: Arc<Deleted>,
    kind: PhantomData<fn(K)>,
}

impl<K: Object> Controller<K> {
    /// Hands the controller to the manager, which starts it.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] when the manager has a controller of this name, another controller of the kind writes the same
    /// [`condition`](Controller::condition), or the kind has an index of that name.
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
        if !self.foreign {
            manager.conditions().add::<K>(&self.name, self.condition)?;
        }
        let wiring = Wiring {
            controller: self.name.as_str().into(),
            queue: WorkQueue::new(self.backoff, QueueMetrics::new(manager.metrics(), &self.name))
                .shared_by(workers)
                .asleep(),
            blocked: Arc::default(),
            applies: Arc::default(),
            deleted: Arc::default(),
            kind: PhantomData,
        };
        let in_flight = Arc::<InFlight>::default();
        let main = Main::new(
            wiring.queue.clone(),
            in_flight.clone(),
            self.predicate,
            wiring.controller.clone(),
        );
        manager.background(wiring.blocked.clone().poll(wiring.queue.clone()));
        let source = subscribe(manager.informer(), forgetting(&wiring, main.handler()));
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
            label: manager.child_label(),
            queue: wiring.queue.clone(),
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
            conditions: manager.conditions().clone(),
            traces: Traces::default(),
            timeout: self.timeout,
            main,
        };
        Ok((worker, workers))
    }
}

/// Forgets what is remembered of an object once it is gone, and passes its changes on.
fn forgetting<K: Object>(
    wiring: &Wiring<K>,
    handler: impl Fn(&Delta<K>) + Send + Sync + 'static,
) -> impl Fn(&Delta<K>) + Send + Sync + 'static {
    let (applies, blocked) = (wiring.applies.clone(), wiring.blocked.clone());
    move |delta| {
        if let Delta::Deleted(owner) = delta {
            let key = ObjectKey::of(&**owner);
            applies.forget_owner(&key);
            blocked.forget_owner(&key);
        }
        handler(delta);
    }
}
