//! Filters between an informer and a queue: which deltas are worth a reconcile.

use std::{collections::BTreeMap, fmt, sync::Arc};

use kube::{
    Resource,
    core::{ParseExpressionError, SelectorExt},
};

use crate::{
    informer::Delta,
    isolate::{Authored, Panic},
    selector,
};

type Test<K> = Authored<dyn Fn(&Delta<K>) -> bool + Send + Sync>;

/// A test of a [`Delta`], with the old and the new object at hand. Cheap to clone.
///
/// # Guarantees
/// The named predicates judge updates only: additions, deletions and invalid objects pass all of them, so that none can
/// swallow a deletion. Resyncs pass too, but for those a predicate says otherwise of. [`Predicate::new`] judges what it
/// is given. A predicate that panics in a controller passes, and the panic is logged: a wake too many costs one reconcile,
/// a lost one leaves the object as it is.
///
/// # Caveats
/// With [`Predicate::generation_changed`] alone, changes of labels, annotations, finalizers and status go unseen.
pub struct Predicate<K> {
    test: Test<K>,
}

impl<K: 'static> Predicate<K> {
    /// Any test, also of deletions: one that rejects those is responsible for it.
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

    /// Whether `delta` passes, or the panic of who was asked.
    fn ask(&self, delta: &Delta<K>) -> Result<bool, Panic> {
        self.test.call(|test| test(delta))
    }

    /// Passes what both pass.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::new(move |delta| self.test(delta) && other.test(delta))
    }

    /// Passes what either passes.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self::new(move |delta| self.test(delta) || other.test(delta))
    }

    /// Passes the updates, additions and resyncs this one rejects, and the reverse. Deletions keep their verdict: the
    /// negation of a predicate that lets them pass lets them pass.
    #[must_use]
    #[allow(clippy::should_implement_trait)] // `!predicate` would read as a condition.
    pub fn not(self) -> Self {
        Self::new(move |delta| match delta {
            Delta::Deleted(_) | Delta::Invalid { .. } => self.test(delta),
            _ => !self.test(delta),
        })
    }
}

impl<K: Resource<DynamicType = ()> + 'static> Predicate<K> {
    /// Whether `delta` wakes `controller`: it does where the predicate panics.
    pub(crate) fn passes(&self, delta: &Delta<K>, controller: &str) -> bool {
        self.ask(delta).unwrap_or_else(|panic| {
            let (kind, object) = (K::kind(&()), delta.key());
            tracing::error!(controller, %kind, %object, "a predicate panicked, and the change passes: {panic}");
            true
        })
    }
}

impl<K: Resource + 'static> Predicate<K> {
    /// Updates of `metadata.generation`: for most kinds, changes of the spec, and the request to delete.
    pub fn generation_changed() -> Self {
        Self::changed(|object| object.meta().generation)
    }

    /// Updates of `metadata.resourceVersion`, that is all of them, and no resyncs: to a controller with this predicate an
    /// object is delivered only when it changes.
    pub fn resource_version_changed() -> Self {
        let changed = Self::changed(|object| object.meta().resource_version.clone());
        Self::new(move |delta| !matches!(delta, Delta::Resync(_)) && changed.test(delta))
    }

    /// Updates of the labels.
    pub fn labels_changed() -> Self {
        Self::changed(|object| object.meta().labels.clone())
    }

    /// Updates of the annotations.
    pub fn annotations_changed() -> Self {
        Self::changed(|object| object.meta().annotations.clone())
    }

    /// Objects with these labels, in the API's syntax (`app=web,tier in (a, b)`). An update passes if the old or the
    /// new object has them, so that leaving the selection is seen too; so do all deletions and invalid objects.
    ///
    /// # Errors
    /// If the text is no selector.
    pub fn label_selector(selector: &str) -> Result<Self, ParseExpressionError> {
        let selector = selector::parse(selector)?;
        Ok(Self::new(move |delta| {
            let selected = |object: &K| selector.matches(object.meta().labels.as_ref().unwrap_or(&BTreeMap::new()));
            match delta {
                Delta::Added { object, .. } | Delta::Resync(object) => selected(object),
                Delta::Updated { old, new } => selected(old) || selected(new),
                Delta::Deleted(_) | Delta::Invalid { .. } => true,
            }
        }))
    }

    fn changed<V: PartialEq>(value: impl Fn(&K) -> V + Send + Sync + 'static) -> Self {
        Self::new(move |delta| match delta {
            Delta::Updated { old, new } => value(old) != value(new),
            _ => true,
        })
    }
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
