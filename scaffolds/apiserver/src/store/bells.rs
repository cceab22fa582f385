//! Wakes the watchers whom a change concerns. Each watcher registers with the bell of its scope, which all watchers of
//! that scope share. A change belongs to four scopes, so it rings at most four bells, however many others there are.

use std::{collections::HashMap, task::Waker};

use super::{Change, Key};

/// A scope within a resource: optional namespace and name.
pub(super) type Scope = (Option<String>, Option<String>);

/// The bells of a resource.
#[derive(Default)]
pub(super) struct Bells {
    by_scope: HashMap<Scope, Bell>,
    next: u64,
}

#[derive(Default)]
struct Bell {
    watchers: usize,
    waiting: HashMap<u64, Waker>,
    /// By watcher, the change that woke it, until the watcher reads. No change of this scope lies between that change
    /// and the watcher's position.
    woken_by: HashMap<u64, u64>,
    /// The revision of the last change of this scope that the history has discarded.
    lost: u64,
}

impl Bells {
    /// Registers a watcher and returns its number.
    pub fn join(&mut self, scope: &Scope) -> u64 {
        match self.by_scope.get_mut(scope) {
            Some(bell) => bell.watchers += 1,
            None => drop(self.by_scope.insert(
                scope.clone(),
                Bell {
                    watchers: 1,
                    ..Bell::default()
                },
            )),
        }
        self.next += 1;
        self.next
    }

    /// Removes a watcher.
    pub fn leave(&mut self, scope: &Scope, watcher: u64) {
        let Some(bell) = self.by_scope.get_mut(scope) else {
            return;
        };
        bell.waiting.remove(&watcher);
        bell.woken_by.remove(&watcher);
        bell.watchers = bell.watchers.saturating_sub(1);
        if bell.watchers == 0 {
            self.by_scope.remove(scope);
        }
    }

    /// Registers a watcher to be woken by the next change of its scope.
    pub fn wait(&mut self, scope: &Scope, watcher: u64, waker: &Waker) {
        if let Some(bell) = self.by_scope.get_mut(scope) {
            bell.waiting
                .entry(watcher)
                .and_modify(|old| old.clone_from(waker))
                .or_insert_with(|| waker.clone());
        }
    }

    /// Adds the watchers to wake after a change to `woken`; the caller wakes them once the lock is released.
    pub fn ring(&mut self, change: &Change, woken: &mut Vec<Waker>) {
        if self.by_scope.is_empty() {
            return;
        }
        for scope in scopes(&change.record.key) {
            if let Some(bell) = self.by_scope.get_mut(&scope) {
                for (watcher, waker) in bell.waiting.drain() {
                    bell.woken_by.insert(watcher, change.revision);
                    woken.push(waker);
                }
            }
        }
    }

    /// The revision after which a watcher whose position is `position` has to read.
    pub fn unread(&mut self, scope: &Scope, watcher: u64, position: u64) -> u64 {
        let bell = self.by_scope.get_mut(scope);
        let woken_by = bell.and_then(|bell| bell.woken_by.remove(&watcher));
        woken_by.map_or(position, |revision| position.max(revision.saturating_sub(1)))
    }

    /// Records that the history has discarded this change.
    pub fn lose(&mut self, change: &Change) {
        if self.by_scope.is_empty() {
            return;
        }
        for scope in scopes(&change.record.key) {
            if let Some(bell) = self.by_scope.get_mut(&scope) {
                bell.lost = change.revision;
            }
        }
    }

    /// The revision of the last discarded change of this scope. A watcher has missed it only if its own position is
    /// older, so an idle watcher never expires, whatever changes elsewhere.
    pub fn lost(&self, scope: &Scope) -> u64 {
        self.by_scope.get(scope).map_or(0, |bell| bell.lost)
    }
}

fn scopes(key: &Key) -> [Scope; 4] {
    let (namespace, name) = (Some(key.namespace.clone()), Some(key.name.clone()));
    [
        (None, None),
        (namespace.clone(), None),
        (None, name.clone()),
        (namespace, name),
    ]
}
