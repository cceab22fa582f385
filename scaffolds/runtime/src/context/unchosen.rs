//! Owners that wait for a namespace to be chosen, in which one of their objects is to be written. No watch shows that such a
//! namespace has joined, so the manager wakes them.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Mutex,
};

use super::Context;
use crate::{
    error::{Error, Result},
    isolate::lock,
    key::ObjectKey,
    kind::Kind,
    object::AnyObject,
};

/// The namespaces that each owner of one controller waits for: those that its last run was refused. An entry ends when the
/// owner is reconciled again, when it is woken, and when it is deleted.
#[derive(Default)]
pub(crate) struct Unchosen(Mutex<HashMap<ObjectKey, BTreeSet<String>>>);

impl Unchosen {
    fn wait(&self, namespace: &str, owner: &ObjectKey) {
        let mut owners = lock(&self.0);
        owners.entry(owner.clone()).or_default().insert(namespace.to_owned());
    }

    /// Removes and returns the owners that wait for this namespace.
    pub(crate) fn wake(&self, namespace: &str) -> Vec<ObjectKey> {
        let waiting = |_: &ObjectKey, namespaces: &mut BTreeSet<String>| namespaces.contains(namespace);
        lock(&self.0).extract_if(waiting).map(|(owner, _)| owner).collect()
    }

    /// Removes an owner that is gone, or is reconciled again.
    pub(crate) fn forget_owner(&self, owner: &ObjectKey) {
        lock(&self.0).remove(owner);
    }
}

impl<K: AnyObject> Context<K> {
    /// Returns an error unless `is_chosen`: it is retried, and this object is reconciled again at once when the namespace
    /// joins.
    pub(super) fn check_chosen<C>(&self, kind: &Kind<C>, namespace: &str, is_chosen: impl Fn() -> bool) -> Result<()> {
        if is_chosen() {
            return Ok(());
        }
        let unchosen = &self.shared.state.unchosen;
        unchosen.wait(namespace, &self.key);
        // A namespace that joined before we waited has caused no wake-up.
        if is_chosen() {
            return Ok(());
        }
        if self.is_gone() {
            unchosen.forget_owner(&self.key);
        }
        let kind = kind.kind();
        Err(Error::retry(format!(
            "the namespace `{namespace}` is not chosen by --namespace-selector, so no {kind} is written in it"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_waits_until_it_is_woken_or_forgotten() {
        let unchosen = Unchosen::default();
        let [one, two] = ["one", "two"].map(|name| ObjectKey::new(None, name));
        unchosen.wait("a", &one);
        unchosen.wait("a", &one);
        unchosen.wait("b", &one);
        unchosen.wait("b", &two);
        assert_eq!(unchosen.wake("c"), []);
        assert_eq!(unchosen.wake("a"), [one]);
        assert_eq!(unchosen.wake("a"), []);
        assert_eq!(
            unchosen.wake("b"),
            std::slice::from_ref(&two),
            "the first one was woken, and will wait again"
        );
        unchosen.wait("b", &two);
        unchosen.forget_owner(&two);
        assert!(unchosen.wake("b").is_empty() && lock(&unchosen.0).is_empty());
    }
}
