//! One reconcile without a server: objects go in, and what the reconciler would have sent comes out.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::echo::Echo;
use crate::{
    controller::Controller,
    error::{Error, Result},
    key::{ObjectKey, is_namespaced},
    manager::Manager,
    object::Object,
    reconciler::Reconciler,
};

/// A stage for one reconcile: no server, no socket, no process.
///
/// # Flow
///
/// [`new`](Self::new), the objects that exist [`with`](Self::with) which the caches are filled, then
/// [`reconcile`](Self::reconcile) with the controller as it is declared in the operator, and a look at what it did.
///
/// # Guarantees
///
/// The reconciler runs as in production: with its finalizer stored first, `cleanup` in its place for an object under
/// deletion, a panic turned into an error, its own writes in the cache.
///
/// # Caveats
///
/// Writes are answered by what was sent. Nothing is validated, defaulted, pruned or collected, and a server-side apply is
/// merged without a record of owners. Use it for what the reconciler decides; for what Kubernetes makes of it there is
/// [`TestCluster`](super::TestCluster).
#[derive(Default)]
pub struct Rehearsal {
    echo: Echo,
}

/// A request that changes something.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Write {
    /// `create`, `apply`, `patch`, `update` or `delete`.
    pub verb: &'static str,
    /// Where it was sent, such as `/api/v1/namespaces/default/configmaps`.
    pub path: String,
    /// What was sent.
    pub body: Value,
}

/// What came of a reconcile.
pub struct Rehearsed {
    echo: Echo,
    key: ObjectKey,
    /// As the reconciler ended: `Ok(None)` when nothing is left to do, `Ok(Some(delay))` when it wants to run again.
    pub result: Result<Option<Duration>>,
}

impl Rehearsal {
    /// A cluster without any object.
    pub fn new() -> Self {
        Self::default()
    }

    /// With this object, in the namespace `default` if it is to be in one and names none. It gets a uid, a generation and
    /// a resourceVersion where it has none.
    pub fn with<C: Object>(self, object: C) -> Self {
        self.put(object);
        self
    }

    /// Refuses every write whose path contains `part` with this status code.
    pub fn refusing(self, part: &str, code: u16) -> Self {
        self.echo.refuse(part, code);
        self
    }

    /// Reconciles `object` once.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] when the controller cannot be registered, or `object` does not survive being written and read.
    /// How the reconciler ended is in [`Rehearsed::result`].
    pub async fn reconcile<K: Object>(
        self,
        controller: Controller<K>,
        reconciler: impl Reconciler<K>,
        object: K,
    ) -> Result<Rehearsed> {
        let key = self.put(object);
        let manager = Manager::builder(self.echo.client())
            .name("rehearsal")
            .namespace("default");
        let manager = Arc::new(manager.build());
        let (worker, _) = controller.connect(&manager, reconciler)?;
        let (stop, stopped) = oneshot::channel::<()>();
        let running = tokio::spawn({
            let manager = manager.clone();
            async move { manager.run(async { _ = stopped.await }, None).await }
        });
        manager.fill_caches().await?;
        let result = worker.rehearse(&key).await;
        // Events are sent beside the reconcile; the end flushes them.
        _ = stop.send(());
        running.await.map_err(|error| Error::Setup(error.to_string()))??;
        Ok(Rehearsed {
            echo: self.echo,
            key,
            result,
        })
    }

    fn put<C: Object>(&self, mut object: C) -> ObjectKey {
        if is_namespaced::<C>() {
            object.meta_mut().namespace.get_or_insert_with(|| "default".to_owned());
        }
        let key = ObjectKey::of(&object);
        let mut json = serde_json::to_value(&object).unwrap_or_default();
        json["apiVersion"] = json!(C::api_version(&()));
        json["kind"] = json!(C::kind(&()));
        self.echo.put(&path::<C>(&key), json);
        key
    }
}

impl Rehearsed {
    /// What was sent, in its order, but for events.
    pub fn writes(&self) -> Vec<Write> {
        let all = self.echo.writes().into_iter();
        all.filter(|write| !is_event(write)).collect()
    }

    /// The events, as `Warning BadTarget: no such target`, in no particular order.
    pub fn events(&self) -> Vec<String> {
        let text = |event: &Value, field: &str| event[field].as_str().unwrap_or_default().to_owned();
        let line = |write: &Write| {
            let event = &write.body;
            format!(
                "{} {}: {}",
                text(event, "type"),
                text(event, "reason"),
                text(event, "note")
            )
        };
        self.echo
            .writes()
            .iter()
            .filter(|write| is_event(write))
            .map(line)
            .collect()
    }

    /// An object as it is afterwards: beside the one that was reconciled, or of a cluster-scoped kind. `None` if it is not
    /// there, or no `C`.
    pub fn object<C: Object>(&self, name: &str) -> Option<C> {
        let namespace = self.key.namespace().unwrap_or("default");
        let key = ObjectKey::new(is_namespaced::<C>().then_some(namespace), name);
        serde_json::from_value(self.echo.get(&path::<C>(&key))?).ok()
    }
}

fn is_event(write: &Write) -> bool {
    write.path.starts_with("/apis/events.k8s.io/")
}

fn path<C: Object>(key: &ObjectKey) -> String {
    format!("{}/{}", C::url_path(&(), key.namespace()), key.name())
}
