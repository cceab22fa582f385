//! One reconcile without a server: tests pass the existing objects, and check the writes of the reconciler.

use std::{sync::Arc, time::Duration};

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::echo::Echo;
use crate::{
    child::ChildLabel,
    clock::Clock,
    controller::Controller,
    error::{Error, Result},
    key::ObjectKey,
    kind::Kind,
    manager::Manager,
    object::{AnyObject, Object},
    reconciler::Reconciler,
};

/// The name of the operator in a rehearsal.
const NAME: &str = "rehearsal";

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
/// deleted, a panic becomes an error, its own writes are in the cache. The caches contain what those of a running operator
/// contain: of a kind that the controller only [owns](crate::Controller::owns), the objects with the operator's label,
/// which are those of [`with_child`](Self::with_child). The name of an object that therefore is not seen, although a
/// controller reference names an object of the reconciled kind, is in [`Rehearsed::unseen`], and on stderr.
///
/// The [clock](crate::Clock) stands still, at the time of [`at`](Self::at) or of the rehearsal's beginning.
/// [`Rehearsed::later`] goes on with the objects that a reconcile has left.
///
/// # Caveats
///
/// The response to a write is what was sent. Nothing is validated, defaulted, pruned or garbage-collected, and a
/// server-side apply is merged without `managedFields`. Use it to test the reconciler's decisions; to test their
/// effects in Kubernetes, use [`TestCluster`](super::TestCluster).
pub struct Rehearsal {
    echo: Echo,
    clock: Clock,
    /// The paths of the children of the reconciled object.
    children: Vec<String>,
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
    clock: Clock,
    children: Vec<String>,
    key: ObjectKey,
    unseen: Vec<String>,
    /// The reconciler's result: `Ok(None)` if nothing is left to do, `Ok(Some(delay))` if it wants to run again.
    pub result: Result<Option<Duration>>,
}

impl Default for Rehearsal {
    fn default() -> Self {
        Self::new()
    }
}

impl Rehearsal {
    /// A cluster without any object.
    pub fn new() -> Self {
        Self::at(Timestamp::now())
    }

    /// As [`new`](Self::new), with a clock that stands at this time.
    pub fn at(time: Timestamp) -> Self {
        let clock = Clock::stopped_at(time);
        Self {
            echo: Echo::new(clock.clone()),
            clock,
            children: Vec::new(),
        }
    }

    /// Adds this object, in the namespace `default` if it is namespaced and names none, or replaces the one of its name. It
    /// gets a uid, a generation, a time of creation and a resourceVersion if it has none.
    pub fn with<C: Object>(self, object: C) -> Self {
        self.with_of(&Kind::of(), object)
    }

    /// As [`with`](Self::with), for a kind that may have no Rust type.
    pub fn with_of<C: AnyObject>(self, kind: &Kind<C>, object: C) -> Self {
        self.put(kind, object);
        self
    }

    /// Adds an object as [`with`](Self::with) does, as a child of the reconciled object: with the controller reference and the
    /// operator's label, as [`apply_child`](crate::Context::apply_child) creates it.
    pub fn with_child<C: Object>(self, object: C) -> Self {
        self.with_child_of(&Kind::of(), object)
    }

    /// As [`with_child`](Self::with_child), for a kind that may have no Rust type.
    pub fn with_child_of<C: AnyObject>(mut self, kind: &Kind<C>, object: C) -> Self {
        let key = self.put(kind, object);
        self.children.push(path(kind, &key));
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
        let kind = controller.kind().clone();
        let key = self.put(&kind, object);
        let owner = self.echo.get(&path(&kind, &key)).unwrap_or_default();
        for child in &self.children {
            let mut object = self.echo.get(child).unwrap_or_default();
            own(&mut object, &kind, &owner["metadata"]);
            self.echo.put(child, object);
        }
        let manager = Manager::builder(self.echo.client())
            .name(NAME)
            .namespace("default")
            .clock(self.clock.clone());
        let manager = Arc::new(manager.build());
        let (worker, _) = controller.connect(&manager, Box::new(reconciler))?;
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
        let unseen = unseen(self.echo.unselected(&ChildLabel::new(NAME).selector()), &kind);
        for object in &unseen {
            eprintln!(
                "{object} is not seen by `owns`: it has a controller of this operator, but not the operator's label\n\nhint: add it with `Rehearsal::with_child`, or declare `.caches_all` for its kind"
            );
        }
        Ok(Rehearsed {
            echo: self.echo,
            clock: self.clock,
            children: self.children,
            key,
            unseen,
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
    /// The same cluster with the clock moved ahead by `time`, for the next reconcile: with the objects that this one has left,
    /// and without its writes and events. Objects that other controllers would have changed meanwhile are set
    /// [`with`](Rehearsal::with) their new state.
    pub fn later(self, time: Duration) -> Rehearsal {
        self.clock.advance(time);
        Rehearsal {
            echo: self.echo.quiet(),
            clock: self.clock,
            children: self.children,
        }
    }

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

    /// The existing objects that the caches of [owned](crate::Controller::owns) kinds did not contain for want of the operator's
    /// label, although an object of the reconciled kind controls them: `ConfigMap default/sample`. A running operator does
    /// not see them either; after its next start it does, because then it labels them.
    pub fn unseen(&self) -> &[String] {
        &self.unseen
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

/// Makes the object with this metadata the controller of a child.
fn own<K>(child: &mut Value, kind: &Kind<K>, owner: &Value) {
    let label = ChildLabel::new(NAME);
    let (label, operator) = label.pair();
    let meta = &mut child["metadata"];
    meta["labels"][label] = json!(operator);
    meta["ownerReferences"] = json!([{
        "apiVersion": kind.api_version(), "kind": kind.kind(), "name": owner["name"], "uid": owner["uid"],
        "controller": true, "blockOwnerDeletion": true,
    }]);
}

/// The objects whose controller is of this kind.
fn unseen<K>(objects: Vec<Value>, owner: &Kind<K>) -> Vec<String> {
    let is_ours = |object: &&Value| {
        let owners = object["metadata"]["ownerReferences"].as_array();
        owners.into_iter().flatten().any(|reference| {
            let version = reference["apiVersion"].as_str().unwrap_or_default();
            let group = version.rsplit_once('/').map_or("", |(group, _)| group);
            reference["controller"] == true && group == owner.group() && reference["kind"] == *owner.kind()
        })
    };
    let name = |object: &Value| {
        let meta = &object["metadata"];
        let key = ObjectKey::new(meta["namespace"].as_str(), meta["name"].as_str().unwrap_or_default());
        format!("{} {key}", object["kind"].as_str().unwrap_or_default())
    };
    objects.iter().filter(is_ours).map(name).collect()
}

fn is_event(write: &Write) -> bool {
    write.path.starts_with("/apis/events.k8s.io/")
}

fn path<C>(kind: &Kind<C>, key: &ObjectKey) -> String {
    format!("{}/{}", kind.path(key.namespace()), key.name())
}
