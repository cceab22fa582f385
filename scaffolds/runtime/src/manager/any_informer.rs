//! An informer as the manager uses it: of any kind.

use std::{collections::BTreeSet, future::Future, pin::Pin, time::Duration};

use tokio::sync::watch;

use super::labelling::{Found, Labelling};
use crate::{error::Result, informer::Informer, object::AnyObject};

pub(crate) type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// An informer of any kind.
pub(super) trait AnyInformer: Send + Sync {
    fn run(&self, stop: watch::Receiver<bool>) -> Pending<()>;
    /// Whether the API server serves the kind.
    fn is_served(&self) -> bool;
    /// Waits until [`is_served`](Self::is_served) has this value.
    fn until_served_is(&self, served: bool) -> Pending<()>;
    /// False once a first list has made no progress for this long.
    fn synced(&self, limit: Duration) -> Pending<bool>;
    /// The time without progress of the first list counts from now on.
    fn counts_from_now(&self);
    /// Whether its objects may not be listed yet.
    fn is_held(&self) -> bool;
    /// Whether the API server need not serve the kind.
    fn may_be_absent(&self) -> bool;
    fn last_error(&self) -> Option<String>;
    /// The kind and the watched namespaces.
    fn name(&self) -> String;
    /// The name that a CustomResourceDefinition of the kind has.
    fn definition(&self) -> String;
    /// Lists nothing before this is true. To be called before it runs.
    fn hold(&self, may_list: watch::Receiver<bool>);
    /// Watches only the objects with this label. To be called before it runs.
    fn select(&self, labels: &str);
    /// Adapts an informer that runs to a further user, which may need every object.
    fn adapt(&self, everything: bool);
    /// Stores the objects of these namespaces only. To be called before it runs.
    fn choose(&self, namespaces: BTreeSet<String>);
    /// Stores the objects of a namespace from now on; returns when they are stored.
    fn join(&self, namespace: &str) -> Pending<()>;
    /// Drops the objects of a namespace.
    fn leave(&self, namespace: &str);
    /// Finds the children that the selector would miss, in one namespace or in all that are watched.
    fn find(&self, labelling: Labelling, namespace: Option<String>) -> Pending<Result<Vec<Found>>>;
}

impl<K: AnyObject> AnyInformer for Informer<K> {
    fn run(&self, stop: watch::Receiver<bool>) -> Pending<()> {
        let informer = self.clone();
        Box::pin(async move {
            let mut stop = stop;
            informer.run(async move { _ = stop.wait_for(|stop| *stop).await }).await;
        })
    }

    fn is_served(&self) -> bool {
        Informer::is_served(self)
    }

    fn until_served_is(&self, served: bool) -> Pending<()> {
        let informer = self.clone();
        Box::pin(async move { informer.until_served_is(served).await })
    }

    fn synced(&self, limit: Duration) -> Pending<bool> {
        let informer = self.clone();
        Box::pin(async move { informer.synced_unless_stalled(limit).await })
    }

    fn counts_from_now(&self) {
        Informer::counts_from_now(self);
    }

    fn is_held(&self) -> bool {
        Informer::is_held(self)
    }

    fn may_be_absent(&self) -> bool {
        Informer::may_be_absent(self)
    }

    fn last_error(&self) -> Option<String> {
        Informer::last_error(self)
    }

    fn name(&self) -> String {
        format!("`{}` {}", self.kind().full_name(), self.place())
    }

    fn definition(&self) -> String {
        format!("{}.{}", self.kind().plural(), self.kind().group())
    }

    fn hold(&self, may_list: watch::Receiver<bool>) {
        Informer::hold(self, may_list);
    }

    fn select(&self, labels: &str) {
        Informer::select(self, labels);
    }

    fn adapt(&self, everything: bool) {
        Informer::adapt(self, everything);
    }

    fn choose(&self, namespaces: BTreeSet<String>) {
        Informer::choose(self, namespaces);
    }

    fn join(&self, namespace: &str) -> Pending<()> {
        let (informer, namespace) = (self.clone(), namespace.to_owned());
        Box::pin(async move { informer.join(&namespace).await })
    }

    fn leave(&self, namespace: &str) {
        Informer::leave(self, namespace);
    }

    fn find(&self, labelling: Labelling, namespace: Option<String>) -> Pending<Result<Vec<Found>>> {
        let informer = self.clone();
        Box::pin(async move { labelling.run(&informer, namespace.as_deref()).await })
    }
}
