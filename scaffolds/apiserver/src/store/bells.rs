//! Who is woken by which change. A watcher waits at the bell of its range; those of one range share one, so a change
//! finds its watchers by looking at no more than four bells, however many others there are.

use std::{collections::HashMap, task::Waker};

use super::{Change, Key};

/// The ranges within a resource: namespace and name, each given or not.
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
    /// The change that woke each watcher which has not read since. Between that and what it had read is no other of this scope.
    woken_by: HashMap<u64, u64>,
    /// The revision of the last change of this scope that the history has lost.
    lost: u64,
}

impl Bells {
    /// One watcher more; the number is its own.
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

    /// One watcher less.
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

    /// A watcher is to be woken by the next change of its scope.
    pub fn wait(&mut self, scope: &Scope, watcher: u64, waker: &Waker) {
        if let Some(bell) = self.by_scope.get_mut(scope) {
            bell.waiting
                .entry(watcher)
                .and_modify(|old| old.clone_from(waker))
                .or_insert_with(|| waker.clone());
        }
    }

    /// Those to wake after a change, once the lock is released.
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

    /// The revision after which a watcher has to read that has read up to `position`.
    pub fn unread(&mut self, scope: &Scope, watcher: u64, position: u64) -> u64 {
        let bell = self.by_scope.get_mut(scope);
        let woken_by = bell.and_then(|bell| bell.woken_by.remove(&watcher));
        woken_by.map_or(position, |revision| position.max(revision.saturating_sub(1)))
    }

    /// All who wait.
    pub fn everyone(&mut self) -> Vec<Waker> {
        self.by_scope
            .values_mut()
            .flat_map(|bell| bell.waiting.drain())
            .map(|(_, waker)| waker)
            .collect()
    }

    /// The history has lost this change.
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

    /// The last change of this scope that is lost. One that came before a watcher's position does not matter to it: so an
    /// idle watcher never expires, whatever goes on around it.
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
