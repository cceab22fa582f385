//! Filters between an informer and a queue: which deltas cause a reconcile.

use std::{collections::BTreeMap, fmt, sync::Arc};

use kube::{
    Resource,
    core::{ParseExpressionError, SelectorExt},
};

use crate::{
    informer::Delta,
    isolate::{Authored, Panic},
    kind::Kind,
    selector,
};

type Test<K> = Authored<dyn Fn(&Delta<K>) -> bool + Send + Sync>;

/// A test of a [`Delta`], with access to the old and the new object. Cheap to clone.
///
/// # Guarantees
/// The named predicates filter updates only: additions, deletions and invalid objects pass all of them, and so does an object
/// that is to be deleted, for which a finalizer waits. Resyncs pass too, unless a predicate documents otherwise. [`Predicate::new`] filters all deltas. If a
/// predicate panics in a controller, the delta passes, and the panic is logged: an unnecessary wake-up costs one
/// reconcile, a lost one leaves the object unreconciled.
///
/// # Caveats
/// With [`Predicate::generation_changed`] alone, changes of labels, annotations, finalizers and status are not seen.
pub struct Predicate<K> {
    test: Test<K>,
}

impl<K: 'static> Predicate<K> {
    /// Any test of all deltas. A deletion of a child or a watched object is lost if the test rejects it. A controller gets all
    /// deletions of its [own kind](crate::Controller::predicate).
    pub fn new(test: impl Fn(&Delta<K>) -> bool + Send + Sync + 'static) -> Self {
        Self {
            test: Authored::new(Arc::new(test)),
        }
    }

    /// Whether `delta` passes.
    ///
    /// # Panics
    /// If the predicate does.
    pub fn test(&self, delta: &Delta<K>) -> bool {
        self.ask(delta).unwrap_or_else(|panic| panic!("{panic}"))
    }

    /// Whether `delta` passes, or the predicate's panic.
    fn ask(&self, delta: &Delta<K>) -> Result<bool, Panic> {
        self.test.call(|test| test(delta))
    }

    /// Passes deltas that both predicates pass.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::new(move |delta| self.test(delta) && other.test(delta))
    }

    /// Passes deltas that either predicate passes.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self::new(move |delta| self.test(delta) || other.test(delta))
    }
}

/// A controller's predicate for the objects of one kind.
pub(crate) struct Filter<K> {
    pub(crate) predicate: Predicate<K>,
    pub(crate) kind: Kind<K>,
    pub(crate) controller: Arc<str>,
}

impl<K: Resource + 'static> Filter<K> {
    /// Whether `delta` wakes the controller: also if the predicate panics.
    pub(crate) fn passes(&self, delta: &Delta<K>) -> bool {
        self.predicate.ask(delta).unwrap_or_else(|panic| {
            let (controller, kind, object) = (&*self.controller, self.kind.kind(), delta.key());
            tracing::error!(controller, kind, %object, "a predicate panicked, so the change passes: {panic}");
            true
        })
    }
}

impl<K> Clone for Filter<K> {
    fn clone(&self) -> Self {
        Self {
            predicate: self.predicate.clone(),
            kind: self.kind.clone(),
            controller: self.controller.clone(),
        }
    }
}

impl<K: Resource + 'static> Predicate<K> {
    /// Passes the updates, additions and resyncs that this predicate rejects, and rejects those that it passes.
    /// Deletions, objects that are to be deleted and invalid objects are not negated: the negation passes those that the
    /// predicate passes.
    #[must_use]
    #[allow(clippy::should_implement_trait)] // `!predicate` would read as a condition.
    pub fn not(self) -> Self {
        Self::new(move |delta| match delta {
            Delta::Deleted(_) | Delta::Invalid { .. } => self.test(delta),
            Delta::Updated { new, .. } if is_to_be_deleted(&**new) => self.test(delta),
            Delta::Added { object, .. } | Delta::Resync(object) if is_to_be_deleted(&**object) => self.test(delta),
            _ => !self.test(delta),
        })
    }

    /// Updates that change `metadata.generation`: for most kinds, changes of the spec, and the request to delete.
    pub fn generation_changed() -> Self {
        Self::changed(|object| object.meta().generation)
    }

    /// Updates that change `metadata.resourceVersion`, that is all of them, and no resyncs: a controller with this
    /// predicate is woken only when an object changes.
    pub fn resource_version_changed() -> Self {
        let changed = Self::changed(|object| object.meta().resource_version.clone());
        Self::new(move |delta| !matches!(delta, Delta::Resync(_)) && changed.test(delta))
    }

    /// Updates that change the labels.
    pub fn labels_changed() -> Self {
        Self::changed(|object| object.meta().labels.clone())
    }

    /// Updates that change the annotations.
    pub fn annotations_changed() -> Self {
        Self::changed(|object| object.meta().annotations.clone())
    }

    /// Objects with these labels, in the API's syntax (`app=web,tier in (a, b)`). An update passes if the old or the
    /// new object matches, so that an object that no longer matches is seen too. Deletions, objects that are to be
    /// deleted, and invalid objects pass.
    ///
    /// # Errors
    /// If the text is not a valid selector.
    pub fn label_selector(selector: &str) -> Result<Self, ParseExpressionError> {
        let selector = selector::parse(selector)?;
        Ok(Self::new(move |delta| {
            let selected = |object: &K| selector.matches(object.meta().labels.as_ref().unwrap_or(&BTreeMap::new()));
            match delta {
                Delta::Added { object, .. } | Delta::Resync(object) => selected(object) || is_to_be_deleted(&**object),
                Delta::Updated { old, new } => is_to_be_deleted(&**new) || selected(old) || selected(new),
                Delta::Deleted(_) | Delta::Invalid { .. } => true,
            }
        }))
    }

    fn changed<V: PartialEq>(value: impl Fn(&K) -> V + Send + Sync + 'static) -> Self {
        Self::new(move |delta| match delta {
            Delta::Updated { old, new } => is_to_be_deleted(&**new) || value(old) != value(new),
            _ => true,
        })
    }
}

/// Whether the object is deleted once its finalizers are gone.
fn is_to_be_deleted<K: Resource>(object: &K) -> bool {
    object.meta().deletion_timestamp.is_some()
}

impl<K> Clone for Predicate<K> {
    fn clone(&self) -> Self {
        Self {
            test: self.test.clone(),
        }
    }
}

impl<K> fmt::Debug for Predicate<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Predicate").finish_non_exhaustive()
    }
}
