//! Connects a declared controller to its manager: its queue, its caches, its workers.

use std::sync::Arc;

use super::{Controller, Named, sources::Sources, uses::subscribe};
use crate::{
    condition_types::check_polarity,
    context::{ControllerState, ReconcileShared},
    error::{Error, Result},
    kind::Kind,
    manager::{Claim, Joining, Manager},
    metrics::QueueMetrics,
    object::AnyObject,
    predicate::{Filter, Predicate},
    queue::WorkQueue,
    rbac::{Registration, Use},
    reconciler::{AnyReconciler, Reconciler},
    worker::{Alarms, Outage, PrimaryEvents, Traces, Worker},
};

/// The parts of a controller that its subscriptions use.
pub(super) struct Wiring<K> {
    pub(super) state: Arc<ControllerState>,
    /// The kind that the controller reconciles.
    pub(super) kind: Kind<K>,
}

impl<K: AnyObject> Controller<K> {
    /// Registers the controller with the manager, which starts it.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the manager has a controller of this name, another controller of the kind writes the same
    /// [`condition`](Controller::condition), or the kind has an index of that name.
    pub fn register<R: Reconciler<K>>(self, manager: &Manager, reconciler: R) -> Result<()> {
        if manager.has_begun() {
            let text = format!("`{}` is registered while the manager runs", self.name);
            let hint = "start it with `Manager::controllers`";
            return Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
        }
        let joining = Joining::new(manager);
        let (worker, workers) = self.join(&joining, Box::new(reconciler))?;
        manager.add(Arc::new(worker), workers, joining.into_uses());
        Ok(())
    }

    /// The worker, connected to the caches for as long as the manager, and the number of its workers.
    #[cfg(feature = "testing")]
    pub(crate) fn connect(
        self,
        manager: &Manager,
        reconciler: Box<dyn AnyReconciler<K>>,
    ) -> Result<(Worker<K>, usize)> {
        let joining = Joining::new(manager);
        let connected = self.join(&joining, reconciler)?;
        manager.keep(joining.into_uses());
        Ok(connected)
    }

    /// The permissions that the controller needs.
    pub(super) fn registration(&self, finalizer: bool) -> Registration {
        Registration {
            controller: self.name.clone(),
            main: Use::main(&self.kind, finalizer, self.foreign),
            others: self.uses.clone(),
            rules: self.rules.clone(),
        }
    }

    /// The worker, connected to the caches, and the number of its workers.
    pub(super) fn join(
        self,
        joining: &Joining<'_>,
        reconciler: Box<dyn AnyReconciler<K>>,
    ) -> Result<(Worker<K>, usize)> {
        let manager = joining.manager();
        let workers = self.workers.unwrap_or(manager.default_workers());
        let condition = if self.foreign {
            Claim::Foreign
        } else {
            check_polarity(&self.name, self.condition.as_deref(), self.abnormal)?;
            Claim::Writes(self.condition.clone())
        };
        let registration = self.registration(reconciler.finalizer().is_some());
        joining.claim(registration, &self.kind, condition)?;
        let queue = WorkQueue::new(self.backoff, QueueMetrics::new(manager.metrics(), &self.name))
            .shared_by(workers)
            .limited(self.limit)
            .asleep();
        let state = ControllerState::new(&self.name, queue, manager.gate().clone());
        let wiring = Wiring {
            state: state.clone(),
            kind: self.kind,
        };
        let filter = self.predicate.map(|predicate| wiring.filter(&wiring.kind, predicate));
        let primary = Arc::new(PrimaryEvents::new(state.clone(), filter));
        let polled = state.clone();
        joining.background(async move { polled.blocked.poll(&polled.queue).await });
        let alarms = Arc::new(Alarms::new(manager.clock().clone()));
        joining.background(alarms.clone().ring(state.queue.clone()));
        let outage = Arc::<Outage>::default();
        joining.background(outage.clone().report(self.name.clone()));
        let events = primary.clone();
        let source = subscribe(joining, joining.informer_of(&wiring.kind), move |delta| {
            events.on_event(delta);
        });
        manager.require(&wiring.kind);
        let mut sources = Sources::new();
        for connect in self.sources {
            connect(joining, &wiring, &mut sources)?;
        }
        let unread = |of: &&Named| of.id != *wiring.kind.id() && !sources.contains_key(&of.id);
        if let Some(Named { name: kind, .. }) = self.indexed.iter().find(unread) {
            let text = format!("`{}` indexes {kind}, but neither owns nor watches it", self.name);
            return Err(Error::Setup(format!("{text}\n\nhint: add `.owns::<{kind}>()` to it")));
        }
        if let Some(Named { name: kind, .. }) = self.optional.iter().find(unread) {
            let text = format!(
                "`{}` allows {kind} to be absent, but neither owns nor watches it",
                self.name
            );
            return Err(Error::Setup(format!("{text}\n\nhint: add `.owns::<{kind}>()` to it")));
        }
        if let Some(Named { name: kind, .. }) = self.late.iter().find(unread) {
            let text = format!("`{}` starts without {kind}, but does not watch it", self.name);
            let hint = format!("add `.watches::<{kind}>(…)` to it");
            return Err(Error::Setup(format!("{text}\n\nhint: {hint}")));
        }

        let known = manager.downgrade();
        let shared = ReconcileShared {
            client: manager.client().clone(),
            recorder: manager.recorder(&self.name),
            clock: manager.clock().clone(),
            manager: manager.field_manager(&self.name),
            knows: Box::new(move |name| known.upgrade().is_some_and(|manager| manager.knows(name))),
            label: manager.child_label(),
            state,
            namespace: manager.namespace().to_owned(),
            main: source,
            sources,
            prunes: self.prunes,
            claims: self.claims,
            foreign: self.foreign,
        };
        let worker = Worker {
            metrics: manager.metrics().controller(&self.name, workers),
            name: self.name,
            shared: Arc::new(shared),
            reconciler,
            conditions: manager.conditions().clone(),
            traces: Traces::new(self.abnormal),
            outage,
            alarms,
            heartbeat: manager.heartbeat().clone(),
            timeout: self.timeout,
            primary,
        };
        Ok((worker, workers))
    }
}

impl<K> Wiring<K> {
    /// A predicate of this controller for the objects of a kind.
    pub(super) fn filter<C>(&self, kind: &Kind<C>, predicate: Predicate<C>) -> Filter<C> {
        Filter {
            predicate,
            kind: kind.clone(),
            controller: self.state.controller.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{
        api::{
            apps::v1::ReplicaSet,
            core::v1::{ConfigMap, Pod},
        },
        apimachinery::pkg::apis::meta::v1::OwnerReference,
    };

    use super::*;
    use crate::{
        controller::wake::{controllers, own_handler},
        informer::Delta,
        key::ObjectKey,
        metrics::Metrics,
        namespaces::Gate,
        object::Object,
        queue::Backoff,
    };

    fn wiring() -> Wiring<ReplicaSet> {
        let queue = WorkQueue::new(Backoff::default(), Metrics::new().queue("web"));
        Wiring {
            state: ControllerState::new("web", queue, Gate::default()),
            kind: Kind::of(),
        }
    }

    fn any<C: Object>(wiring: &Wiring<ReplicaSet>) -> Filter<C> {
        wiring.filter(&Kind::of(), Predicate::new(|_| true))
    }

    fn named<C: AnyObject + Default>(name: &str) -> C {
        let mut object = C::default();
        object.meta_mut().name = Some(name.to_owned());
        object.meta_mut().namespace = Some("default".to_owned());
        object
    }

    fn owned<C: AnyObject + Default>(name: &str, owner: &str) -> C {
        let mut object: C = named(name);
        object.meta_mut().owner_references = Some(vec![OwnerReference {
            api_version: "apps/v1".to_owned(),
            kind: "ReplicaSet".to_owned(),
            name: owner.to_owned(),
            controller: Some(true),
            ..OwnerReference::default()
        }]);
        object
    }

    #[test]
    fn applies_are_forgotten_with_the_child_and_with_the_owner() {
        let wiring = wiring();
        let applies = &wiring.state.applies;
        let key = |name: &str| ObjectKey::new(Some("default"), name);
        for owner in ["one", "two"] {
            applies.note(Kind::<Pod>::of().id(), &key(owner), &key("a"));
            applies.note(Kind::<ConfigMap>::of().id(), &key(owner), &key("a"));
        }
        let child = own_handler(&wiring, any::<Pod>(&wiring), controllers);
        let pod: Arc<Pod> = Arc::new(owned("a", "one"));
        child(&Delta::Updated {
            old: pod.clone(),
            new: pod.clone(),
        });
        assert_eq!(applies.count(), (2, 4));
        child(&Delta::Deleted(pod));
        assert_eq!(applies.count(), (2, 3));

        let primary = PrimaryEvents::new(wiring.state.clone(), None);
        let owner = |delta| primary.on_event(&delta);
        let two: Arc<ReplicaSet> = Arc::new(named("two"));
        owner(Delta::Resync(two.clone()));
        assert_eq!(applies.count(), (2, 3));
        owner(Delta::Deleted(two));
        assert_eq!(applies.count(), (1, 1));
        // The entry of an owner is removed with its last child.
        let child = own_handler(&wiring, any::<ConfigMap>(&wiring), controllers);
        child(&Delta::Deleted(Arc::new(owned("a", "one"))));
        assert_eq!(applies.count(), (0, 0));
    }
}
