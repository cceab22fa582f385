//! In which namespaces the controllers work, if labels choose them: each reconcile of an object in a namespace passes a gate,
//! which is closed before the caches of that namespace are emptied.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use crate::key::ObjectKey;

/// The open namespaces. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Gate {
    /// `None` if every namespace is open.
    chosen: Option<Arc<NamespaceGate>>,
}

#[derive(Default)]
struct NamespaceGate {
    state: Mutex<GateState>,
    /// Notifies that a reconcile has ended.
    ended: Notify,
}

#[derive(Default)]
struct GateState {
    open: HashSet<String>,
    /// The number of reconciles that run in a namespace.
    within: HashMap<String, usize>,
}

/// A reconcile that has passed the gate, until it is dropped.
pub(crate) struct Pass(Option<(Arc<NamespaceGate>, String)>);

impl Gate {
    /// A gate of which every namespace is closed.
    pub(crate) fn closed() -> Self {
        Self {
            chosen: Some(Arc::default()),
        }
    }

    /// Lets a reconcile of this object pass, unless its namespace is closed. Objects without a namespace always pass.
    pub(crate) fn pass(&self, key: &ObjectKey) -> Option<Pass> {
        let (Some(chosen), Some(namespace)) = (&self.chosen, key.namespace()) else {
            return Some(Pass(None));
        };
        let mut state = chosen.state();
        if !state.open.contains(namespace) {
            return None;
        }
        *state.within.entry(namespace.to_owned()).or_default() += 1;
        Some(Pass(Some((chosen.clone(), namespace.to_owned()))))
    }

    /// Whether a reconcile may write in this namespace: it is open, or reconciles in it are still ending.
    pub(crate) fn admits(&self, namespace: &str) -> bool {
        self.chosen.as_ref().is_none_or(|chosen| {
            let state = chosen.state();
            state.open.contains(namespace) || state.within.contains_key(namespace)
        })
    }

    pub(crate) fn open(&self, namespace: &str) {
        if let Some(chosen) = &self.chosen {
            chosen.state().open.insert(namespace.to_owned());
        }
    }

    /// Closes a namespace, and waits for the reconciles that run in it.
    pub(crate) async fn close(&self, namespace: &str) {
        let Some(chosen) = &self.chosen else { return };
        chosen.state().open.remove(namespace);
        loop {
            // Created before the check, so that no end between the check and the wait is missed.
            let ended = chosen.ended.notified();
            if !chosen.state().within.contains_key(namespace) {
                return;
            }
            ended.await;
        }
    }
}

impl NamespaceGate {
    fn state(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let Some((chosen, namespace)) = &self.0 else { return };
        let mut state = chosen.state();
        if let Some(count) = state.within.get_mut(namespace) {
            *count -= 1;
            if *count == 0 {
                state.within.remove(namespace);
            }
        }
        drop(state);
        chosen.ended.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_namespace_is_closed_once_its_reconciles_have_ended() {
        let gate = Gate::closed();
        let key = ObjectKey::new(Some("a"), "x");
        assert!(gate.pass(&key).is_none());
        assert!(gate.pass(&ObjectKey::new(None, "x")).is_some(), "cluster-scoped");
        gate.open("a");
        let (one, two) = (gate.pass(&key), gate.pass(&key));
        assert!(one.is_some() && gate.admits("a") && !gate.admits("b"));
        let mut closed = Box::pin(gate.close("a"));
        assert!(closed.as_mut().now_or_never().is_none());
        assert!(gate.pass(&key).is_none(), "no new one begins");
        assert!(gate.admits("a"), "those that run may write");
        drop(one);
        assert!(closed.as_mut().now_or_never().is_none());
        drop(two);
        closed.await;
        assert!(!gate.admits("a"));
        assert!(
            Gate::default().pass(&key).is_some(),
            "every namespace is open unless labels choose them"
        );
    }
}
