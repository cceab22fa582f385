//! One reconcile without a server: tests pass the existing objects, and check the writes of the reconciler.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::echo::Echo;
use crate::{
    controller::Controller,
    error::{Error, Result},
    key::ObjectKey,
    kind::Kind,
    manager::Manager,
    object::{AnyObject, Object},
    reconciler::Reconciler,
};

/// Runs one reconcile: no server, no socket, no process.
///
/// # Flow
///
/// [`new`](Self::new), the existing objects in the caches [`with`](Self::with), then [`reconcile`](Self::reconcile)
/// with the controller as the operator declares it, then check the result.
///
/// # Guarantees
///
/// The reconciler runs as in production: its finalizer is stored first, `cleanup` is called for an object that is being
/// deleted, a panic becomes an error, its own writes are in the cache.
///
/// # Caveats
///
/// The response to a write is what was sent. Nothing is validated, defaulted, pruned or garbage-collected, and a
/// server-side apply is merged without `managedFields`. Use it to test the reconciler's decisions; to test their
/// effects in Kubernetes, use [`TestCluster`](super::TestCluster).
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
    /// The path of the request, such as `/api/v1/namespaces/default/configmaps`.
    pub path: String,
    /// The body of the request.
    pub body: Value,
}

/// The result of a reconcile.
pub struct Rehearsed {
    echo: Echo,
    key: ObjectKey,
    /// The reconciler's result: `Ok(None)` if nothing is left to do, `Ok(Some(delay))` if it wants to run again.
    pub result: Result<Option<Duration>>,
}

impl Rehearsal {
    /// A cluster without any object.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds this object, in the namespace `default` if it is namespaced and names none. It gets a uid, a generation and
    /// a resourceVersion if it has none.
    pub fn with<C: Object>(self, object: C) -> Self {
        self.with_of(&Kind::of(), object)
    }

    /// As [`with`](Self::with), for a kind that may have no Rust type.
    pub fn with_of<C: AnyObject>(self, kind: &Kind<C>, object: C) -> Self {
        self.put(kind, object);
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
    /// [`Error::Setup`] if the controller cannot be registered, or `object` differs after serialization and
    /// deserialization. The reconciler's own result is in [`Rehearsed::result`].
    pub async fn reconcile<K: AnyObject>(
        self,
        controller: Controller<K>,
        reconciler: impl Reconciler<K>,
        object: K,
    ) -> Result<Rehearsed> {
        let key = self.put(controller.kind(), object);
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
        // Events are sent in the background; stopping flushes them.
        _ = stop.send(());
        running.await.map_err(|error| Error::Setup(error.to_string()))??;
        Ok(Rehearsed {
            echo: self.echo,
            key,
            result,
        })
    }

    fn put<C: AnyObject>(&self, kind: &Kind<C>, mut object: C) -> ObjectKey {
        if kind.is_namespaced() {
            object.meta_mut().namespace.get_or_insert_with(|| "default".to_owned());
        }
        let key = ObjectKey::of(&object);
        let mut json = serde_json::to_value(&object).unwrap_or_default();
        json["apiVersion"] = json!(kind.api_version());
        json["kind"] = json!(kind.kind());
        self.echo.put(&path(kind, &key), json);
        key
    }
}

impl Rehearsed {
    /// The writes in their order, without events.
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

    /// The resulting object, in the namespace of the reconciled one or of a cluster-scoped kind. `None` if it does not
    /// exist, or is not a `C`.
    pub fn object<C: Object>(&self, name: &str) -> Option<C> {
        self.object_of(&Kind::of(), name)
    }

    /// As [`object`](Self::object), for a kind that may have no Rust type.
    pub fn object_of<C: AnyObject>(&self, kind: &Kind<C>, name: &str) -> Option<C> {
        let namespace = self.key.namespace().unwrap_or("default");
        let key = ObjectKey::new(kind.is_namespaced().then_some(namespace), name);
        serde_json::from_value(self.echo.get(&path(kind, &key))?).ok()
    }
}

fn is_event(write: &Write) -> bool {
    write.path.starts_with("/apis/events.k8s.io/")
}

fn path<C>(kind: &Kind<C>, key: &ObjectKey) -> String {
    format!("{}/{}", kind.path(key.namespace()), key.name())
}
