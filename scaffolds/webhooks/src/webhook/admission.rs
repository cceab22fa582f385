//! The tools of an author's code while it decides: the request, the caches, warnings to the client.

use std::{
    any::Any,
    collections::HashMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::future::{BoxFuture, FutureExt, ready};
use k8s_openapi::api::authentication::v1::UserInfo;
use kube::Client;
use kubewright_runtime::{AnyObject, Error, Informer, Kind, Object, ObjectKey, Result, Store, component::KindId};
use serde_json::Value;

use super::review::{Request, ResponseExtras};
use crate::scope::{FailurePolicy, Operation};

/// One request for admission, passed to a [`Validator`](super::Validator) or a [`Defaulter`](super::Defaulter).
pub struct Admission {
    request: Request,
    shared: Arc<Shared>,
    said: Mutex<ResponseExtras>,
}

/// The shared state of the requests to one webhook.
pub(super) struct Shared {
    pub(super) client: Client,
    pub(super) caches: Caches,
    /// Whether an object that waits for its finalizers is allowed, without asking, to change its metadata and status.
    pub(super) spares: bool,
    /// Decides about objects that do not fit the type of their kind.
    pub(super) failure_policy: FailurePolicy,
}

/// The caches of the kinds that a webhook reads.
#[derive(Default)]
pub(super) struct Caches(HashMap<KindId, Cache>);

/// An informer of some kind.
struct Cache {
    informer: Box<dyn Any + Send + Sync>,
    /// Waits until it is filled.
    synced: fn(&(dyn Any + Send + Sync)) -> BoxFuture<'_, ()>,
}

impl Caches {
    pub(super) fn add<C: AnyObject>(&mut self, kind: &Kind<C>, informer: Informer<C>) {
        let cache = Cache {
            informer: Box::new(informer),
            synced: |informer| match informer.downcast_ref::<Informer<C>>() {
                Some(informer) => informer.synced().boxed(),
                // The line above has put it there.
                None => ready(()).boxed(),
            },
        };
        self.0.insert(kind.id().clone(), cache);
    }

    /// Waits until all are filled.
    pub(super) async fn synced(&self) {
        for cache in self.0.values() {
            (cache.synced)(&*cache.informer).await;
        }
    }

    fn of<C: AnyObject>(&self, kind: &Kind<C>) -> Result<Store<C>> {
        let cache = self.0.get(kind.id());
        let informer: Option<&Informer<C>> = cache.and_then(|cache| cache.informer.downcast_ref());
        informer.map(Informer::store).ok_or_else(|| {
            let name = kind.kind();
            let reads = match kind.has_type() {
                true => format!("`.reads::<{name}>()`"),
                false => "`.reads_of(…)` with this kind".to_owned(),
            };
            Error::Setup(format!(
                "the webhook does not read {name}\n\nhint: add {reads} to its declaration"
            ))
        })
    }
}

impl Admission {
    pub(super) fn new(request: Request, shared: Arc<Shared>) -> Self {
        Self {
            request,
            shared,
            said: Mutex::default(),
        }
    }

    pub(super) fn request(&self) -> &Request {
        &self.request
    }

    /// Takes the warnings and annotations so far.
    pub(super) fn take_said(&self) -> ResponseExtras {
        mem::take(&mut *self.said())
    }

    fn said(&self) -> MutexGuard<'_, ResponseExtras> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The uid of the request, which is not that of the object.
    pub fn uid(&self) -> &str {
        &self.request.uid
    }

    /// The operation on the object.
    pub fn operation(&self) -> Operation {
        self.request.operation
    }

    /// The name of the object; empty before the API server has generated it.
    pub fn name(&self) -> &str {
        &self.request.name
    }

    /// The namespace of the object; `None` for a cluster-scoped kind.
    pub fn namespace(&self) -> Option<&str> {
        Some(self.request.namespace.as_str()).filter(|name| !name.is_empty())
    }

    /// The subresource that is written, such as `status`; `None` for the object itself.
    pub fn subresource(&self) -> Option<&str> {
        Some(self.request.sub_resource.as_str()).filter(|name| !name.is_empty())
    }

    /// The user who sent the request.
    pub fn user(&self) -> &UserInfo {
        &self.request.user_info
    }

    /// Whether nothing will be stored.
    pub fn is_dry_run(&self) -> bool {
        self.request.dry_run.unwrap_or_default()
    }

    /// The options of the request as JSON: a CreateOptions, UpdateOptions or DeleteOptions.
    pub fn options(&self) -> &Value {
        &self.request.options
    }

    /// A client that may write on a standby too, for a SubjectAccessReview for example. Nothing else should be written:
    /// the request may be a dry run, or be refused by others. Each request to the API server is one more in the time that
    /// the client waits for.
    pub fn client(&self) -> &Client {
        &self.shared.client
    }

    /// The object `name` in the namespace of this request, or of a cluster-scoped kind, from the cache. The webhook must
    /// declare that it [reads](super::Webhook::reads) the kind.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if it does not.
    pub fn get<C: Object>(&self, name: &str) -> Result<Option<Arc<C>>> {
        self.of(&Kind::of()).get(name)
    }

    /// As [`get`](Self::get), in any namespace that the cache covers.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn find<C: Object>(&self, key: &ObjectKey) -> Result<Option<Arc<C>>> {
        self.of(&Kind::of()).find(key)
    }

    /// All cached objects of a kind, in all namespaces that the cache covers, in no particular order.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn list<C: Object>(&self) -> Result<Vec<Arc<C>>> {
        self.of(&Kind::of()).list()
    }

    /// The cached objects of a kind that may have no Rust type. The webhook must declare that it
    /// [reads](super::Webhook::reads_of) the kind.
    pub fn of<'a, C: AnyObject>(&'a self, kind: &'a Kind<C>) -> ReadKind<'a, C> {
        ReadKind { cx: self, kind }
    }

    /// Warns the client, whatever the verdict: kubectl prints it. Keep it below 120 characters: the API server cuts
    /// warnings when they are longer than 4096 characters in all.
    pub fn warn(&self, warning: impl Into<String>) {
        self.said().warnings.push(warning.into());
    }

    /// Adds a value to the audit event of the request. The API server puts the webhook's name before the key, which is
    /// a name as of a label, without a prefix.
    pub fn audit(&self, key: impl Into<String>, value: impl Into<String>) {
        self.said().annotations.insert(key.into(), value.into());
    }
}

/// The methods of [`Admission`] for the objects of one kind: see [`Admission::of`]. Each method works as the method of the
/// same name there, and returns the same errors.
#[allow(clippy::missing_errors_doc, reason = "they are those of the methods of Admission")]
pub struct ReadKind<'a, C> {
    cx: &'a Admission,
    kind: &'a Kind<C>,
}

impl<C: AnyObject> ReadKind<'_, C> {
    /// See [`Admission::get`].
    pub fn get(&self, name: &str) -> Result<Option<Arc<C>>> {
        let namespace = self.cx.namespace().filter(|_| self.kind.is_namespaced());
        self.find(&ObjectKey::new(namespace, name))
    }

    /// See [`Admission::find`].
    pub fn find(&self, key: &ObjectKey) -> Result<Option<Arc<C>>> {
        Ok(self.cx.shared.caches.of(self.kind)?.get(key))
    }

    /// See [`Admission::list`].
    pub fn list(&self) -> Result<Vec<Arc<C>>> {
        Ok(self.cx.shared.caches.of(self.kind)?.list())
    }
}
