//! The parts of a manager that a controller uses: caches, subscriptions, background tasks. A controller that was added while the manager runs
//! gives them back when it stops.

use std::{cell::RefCell, collections::HashSet};

use super::{Manager, any_informer::Pending};
use crate::{
    error::Result,
    informer::{Delta, DuplicateIndex, Informer, SubscriptionId},
    kind::{Kind, KindId},
    object::AnyObject,
    rbac::Registration,
};

/// Gives back one thing.
pub(crate) type Release = Box<dyn FnOnce() + Send>;

/// A controller that is being connected to its manager, and what it uses so far.
pub(crate) struct Joining<'m> {
    manager: &'m Manager,
    uses: RefCell<Uses>,
}

/// The parts of a manager that a controller uses.
#[derive(Default)]
pub(crate) struct Uses {
    /// The kinds of its caches.
    pub(super) kinds: HashSet<KindId>,
    pub(super) tasks: Vec<Pending<()>>,
    pub(super) releases: Vec<Release>,
}

impl<'m> Joining<'m> {
    pub(crate) fn new(manager: &'m Manager) -> Self {
        Self {
            manager,
            uses: RefCell::default(),
        }
    }

    pub(crate) fn manager(&self) -> &'m Manager {
        self.manager
    }

    pub(crate) fn into_uses(self) -> Uses {
        self.uses.into_inner()
    }

    /// Gives everything back: the controller cannot be connected.
    pub(crate) fn release(self) {
        let releases = self.uses.into_inner().releases;
        releases.into_iter().rev().for_each(|release| release());
    }

    /// Runs `release` when the controller stops, or cannot be connected.
    pub(crate) fn on_release(&self, release: impl FnOnce() + Send + 'static) {
        self.uses.borrow_mut().releases.push(Box::new(release));
    }

    /// A task that runs for as long as the controller.
    pub(crate) fn background(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.uses.borrow_mut().tasks.push(Box::pin(task));
    }

    /// Claims the controller's name, and the condition that it writes, unless the kind is foreign.
    pub(crate) fn claim<K>(&self, registration: Registration, kind: &Kind<K>, condition: Claim) -> Result<()> {
        let (name, manager) = (registration.controller.clone(), self.manager.downgrade());
        self.manager.claim(registration)?;
        let claimed = name.clone();
        self.on_release(move || {
            if let Some(manager) = manager.upgrade() {
                manager.unclaim(&claimed);
            }
        });
        match condition {
            Claim::Foreign => Ok(()),
            Claim::Writes(asked) if self.manager.has_begun() => {
                self.manager.conditions().add_running(&name, kind, asked)
            }
            Claim::Writes(asked) => self.manager.conditions().add(&name, kind, asked),
        }
    }

    /// The informer of a kind, which contains every object.
    pub(crate) fn informer_of<C: AnyObject>(&self, kind: &Kind<C>) -> Informer<C> {
        self.note(kind);
        self.manager.whole(kind)
    }

    /// The informer of a kind whose objects may be children of `owner`.
    pub(crate) fn children_of<K, C: AnyObject>(&self, owner: &Kind<K>, kind: &Kind<C>) -> Informer<C> {
        self.note(kind);
        self.manager.children_of(owner, kind)
    }

    /// The informer of a kind whose objects are applied with other ownership.
    pub(crate) fn labelled_of<C: AnyObject>(&self, kind: &Kind<C>) -> Informer<C> {
        self.note(kind);
        self.manager.labelled_of(kind)
    }

    /// The informer of a kind, without a requirement on its contents.
    pub(crate) fn cached<C: AnyObject>(&self, kind: &Kind<C>) -> Informer<C> {
        self.note(kind);
        self.manager.cached(kind)
    }

    /// Calls `handler` for every change of an informer.
    pub(crate) fn subscribe<C: AnyObject>(
        &self,
        informer: &Informer<C>,
        handler: impl Fn(&Delta<C>) + Send + Sync + 'static,
    ) -> SubscriptionId {
        let (subscription, informer) = (informer.subscribe(handler).id(), informer.clone());
        self.on_release(move || informer.unsubscribe(subscription));
        subscription
    }

    /// Calls `handler` when the kind is served, or no longer.
    pub(crate) fn on_presence<C: AnyObject>(
        &self,
        informer: &Informer<C>,
        handler: impl Fn(bool) + Send + Sync + 'static,
    ) {
        let (handler, informer) = (informer.on_presence(handler), informer.clone());
        self.on_release(move || informer.forget_presence(handler));
    }

    /// Adds an index of the controller's own.
    pub(crate) fn index<C: AnyObject>(
        &self,
        kind: &Kind<C>,
        name: &'static str,
        values: impl Fn(&C) -> Vec<String> + Send + Sync + 'static,
    ) -> Result<(), DuplicateIndex> {
        let informer = self.cached(kind);
        informer.add_index(name, values)?;
        self.on_release(move || informer.remove_index(name));
        Ok(())
    }

    /// Counts the controller among the users of a cache.
    fn note<C: AnyObject>(&self, kind: &Kind<C>) {
        if !self.uses.borrow_mut().kinds.insert(kind.id().clone()) {
            return;
        }
        self.manager.hold(kind);
        let (manager, kind) = (self.manager.downgrade(), kind.id().clone());
        self.on_release(move || {
            if let Some(manager) = manager.upgrade() {
                manager.let_go(&kind);
            }
        });
    }
}

/// The condition that a controller claims.
pub(crate) enum Claim {
    /// No condition: the controller does not write the status of its kind.
    Foreign,
    /// The one of this type, or, with `None`, of the type that it gets.
    Writes(Option<String>),
}
