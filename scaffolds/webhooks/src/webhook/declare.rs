//! The declaration of a webhook: what it is asked about, and what happens if it does not answer.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use kubewright_runtime::{AnyObject, Kind, Manager, Object, Result, Rule};

use super::{
    Defaulter, Validator,
    admission::{Caches, Shared},
    configuration,
    decide::{Decides, Defaulting, Validating},
    hook::Hook,
    lint,
    registered::{Hooked, Purpose, hook},
};
use crate::scope::{self, FailurePolicy, Scope, scope_builders};

/// The default time limit of a call. Clients wait for it, and the API's default of 10 s is long for them.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A webhook for objects of kind `K`, before it is registered with a [`Manager`].
///
/// ```
/// # use kubewright_runtime::{Manager, Result};
/// # use kubewright_webhooks::{Admission, Change, Validator, Verdict, Webhook};
/// # use k8s_openapi::api::core::v1::ConfigMap;
/// struct Rules;
///
/// impl Validator<ConfigMap> for Rules {
///     async fn validate(&self, _: &Admission, change: Change<'_, ConfigMap>) -> Result<Verdict> {
///         let mut verdict = Verdict::allowed();
///         if change.new_object().is_some_and(|new| new.data.is_none()) {
///             verdict.required("data", "an empty ConfigMap is of no use");
///         }
///         Ok(verdict)
///     }
/// }
/// # use kubewright_webhooks::FailurePolicy;
/// # fn register(manager: &Manager) -> Result<()> {
/// Webhook::validating(Rules)
///     .failure_policy(FailurePolicy::Ignore)
///     .register(manager)?;
/// # Ok(())
/// # }
/// ```
///
/// # Defaults
///
/// It is asked about creations and updates of the object itself, not of its subresources, unless the object is being
/// deleted, and has 5 s to answer. A request fails if it does not answer; for a kind of Kubernetes or of [another
/// operator](Self::foreign), of which a webhook that is down could block the whole cluster, the author has to
/// [choose](Self::failure_policy), and the operator's own namespace is left out.
pub struct Webhook<K, A> {
    pub(super) declared: DeclaredWebhook,
    code: A,
    reads: Vec<DeclaredRead>,
    kind: PhantomData<fn() -> K>,
}

/// Adds the cache of a kind.
type AddCache = Box<dyn FnOnce(&Manager, &mut Caches) + Send + Sync>;

/// A kind that a webhook reads.
struct DeclaredRead {
    cache: AddCache,
    rule: Rule,
}

/// The fields of a webhook's configuration.
pub(super) struct DeclaredWebhook {
    pub(super) mutating: bool,
    pub(super) scope: Scope,
    /// Whether others own the kind.
    pub(super) foreign: bool,
    pub(super) timeout: Duration,
    pub(super) reinvoked: bool,
}

impl<K: Object, V: Validator<K>> Webhook<K, Validating<V>> {
    /// A webhook that asks a [`Validator`].
    pub fn validating(validator: V) -> Self {
        Self::validating_of(&Kind::of(), validator)
    }
}

impl<K: AnyObject, V: Validator<K>> Webhook<K, Validating<V>> {
    /// As [`validating`](Self::validating), for a kind that may have no Rust type: of a `Validator<DynamicObject>`.
    pub fn validating_of(kind: &Kind<K>, validator: V) -> Self {
        Self::of(kind, Validating(validator), false)
    }
}

impl<K: Object, D: Defaulter<K>> Webhook<K, Defaulting<D>> {
    /// A webhook that asks a [`Defaulter`].
    pub fn defaulting(defaulter: D) -> Self {
        Self::defaulting_of(&Kind::of(), defaulter)
    }
}

impl<K: AnyObject, D: Defaulter<K>> Webhook<K, Defaulting<D>> {
    /// As [`defaulting`](Self::defaulting), for a kind that may have no Rust type: of a `Defaulter<DynamicObject>`.
    pub fn defaulting_of(kind: &Kind<K>, defaulter: D) -> Self {
        Self::of(kind, Defaulting(defaulter), true)
    }

    /// Asks again if another webhook has changed the object since: `reinvocationPolicy: IfNeeded`.
    pub fn reinvoked(mut self) -> Self {
        self.declared.reinvoked = true;
        self
    }
}

scope_builders!(impl[K: AnyObject, A] Webhook<K, A>);

impl<K: AnyObject, A> Webhook<K, A> {
    fn of(kind: &Kind<K>, code: A, mutating: bool) -> Self {
        let declared = DeclaredWebhook {
            mutating,
            scope: Scope::of(kind),
            foreign: scope::lint::is_of_kubernetes(kind.group()),
            timeout: TIMEOUT,
            reinvoked: false,
        };
        Self {
            declared,
            code,
            reads: Vec::new(),
            kind: PhantomData,
        }
    }

    /// For a kind of another owner, such as Kubernetes: objects in the operator's own namespace are left out,
    /// so that an operator that is down can start again, and the [failure policy](Self::failure_policy) has to be chosen.
    pub fn foreign(mut self) -> Self {
        self.declared.foreign = true;
        self
    }

    /// Sets the time that the API server waits for the answer: 1 s to 30 s, in whole seconds. The author's code has a tenth less.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.declared.timeout = limit;
        self
    }

    /// Caches the objects of another kind, so that the author's code can [read](super::Admission::get) them, and lets
    /// `make manifests` grant that.
    pub fn reads<C: Object>(self) -> Self {
        self.reads_of::<C>(&Kind::of())
    }

    /// As [`reads`](Self::reads), for a kind that may have no Rust type: see [`Admission::of`](super::Admission::of).
    pub fn reads_of<C: AnyObject>(mut self, kind: &Kind<C>) -> Self {
        let read = kind.clone();
        self.reads.push(DeclaredRead {
            cache: Box::new(move |manager, caches| caches.add(&read, manager.informer_of(&read))),
            rule: Rule::new(&[kind.group()], &[kind.plural()], &["get", "list", "watch"]),
        });
        self
    }
}

#[expect(private_bounds, reason = "the two forms of code are the two constructors")]
impl<K: AnyObject, A: Decides<K>> Webhook<K, A> {
    /// Registers the webhook with the manager. The operator serves it on every replica, at kubebuilder's path for its kind.
    /// Requests wait for the caches that it reads to be filled.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`](kubewright_runtime::Error::Setup) if the API server would refuse its configuration, a condition does not
    /// compile, the webhook could block the cluster, or there is one for this kind already.
    pub fn register(self, manager: &Manager) -> Result<()> {
        lint::check(&self.declared)?;
        let mut caches = Caches::default();
        for read in self.reads {
            (read.cache)(manager, &mut caches);
            manager.grant(read.rule);
        }
        let client = manager.admission_client()?;
        let (names, entry) = configuration::of(&self.declared);
        let shared = Shared {
            client,
            caches,
            spares: self.declared.scope.spares(),
            failure_policy: self.declared.scope.failure_policy.unwrap_or(FailurePolicy::Fail),
        };
        let endpoint = Hook::new(names, self.code, shared, manager.metrics());
        hook(
            manager,
            Hooked {
                endpoint: Arc::new(endpoint),
                purpose: Purpose::Admission {
                    mutating: self.declared.mutating,
                    entry,
                },
            },
        )
    }
}
