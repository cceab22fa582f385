//! The declaration of a policy: what it is about, and what its expressions read. What it does is its form.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright_runtime::Kind;

use super::params::Params;
use crate::scope::{FailurePolicy, Operation, Scope};

/// An admission policy, before it is registered with a [`Manager`](kubewright_runtime::Manager): the API server evaluates it for each
/// write of its objects, without the operator.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright_webhooks::{FailurePolicy, Policy, Validation};
///
/// let policy = Policy::validating::<ConfigMap>("settings-of-admins")
///     .failure_policy(FailurePolicy::Ignore)
///     .validation(
///         Validation::new("'admins' in request.userInfo.groups || object.metadata.name != 'settings'")
///             .message("only admins may change the settings"),
///     );
/// # let _ = policy;
/// ```
///
/// [`Policy::mutating`] is the other form, which changes objects.
///
/// # Flow
///
/// `make manifests` compiles the expressions, estimates their costs, and writes the policy and its binding into
/// `config/policy`; `make deploy` applies both. At runtime the operator does nothing for them.
///
/// # Defaults
///
/// It is about creations and updates of the object itself, not of its subresources, unless the object is being deleted, in
/// all namespaces. A request that it objects to is refused, and so is one for which an expression has no value; for a kind
/// of Kubernetes, where such a mistake could block the whole cluster, the author has to [choose](Self::failure_policy).
pub struct Policy<F> {
    pub(crate) declared: Declared,
    pub(crate) form: F,
}

/// The common declarations of both forms of policies.
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) scope: Scope,
    /// Names and expressions.
    pub(crate) variables: Vec<[String; 2]>,
    pub(crate) params: Option<Params>,
}

impl<F> Policy<F> {
    /// The operations that it is about, in place of create and update.
    pub fn operations(mut self, operations: impl IntoIterator<Item = Operation>) -> Self {
        self.declared.scope.operations = operations.into_iter().collect();
        self
    }

    /// Is about writes of this subresource too, such as `status`.
    pub fn subresource(mut self, name: impl Into<String>) -> Self {
        self.declared.scope.subresources.insert(name.into());
        self
    }

    /// Only in namespaces with these labels.
    pub fn namespaces(mut self, selector: LabelSelector) -> Self {
        self.declared.scope.namespaces = Some(selector);
        self
    }

    /// Only about objects with these labels, before or after the change. Whoever writes an object can leave a label out.
    pub fn objects(mut self, selector: LabelSelector) -> Self {
        self.declared.scope.objects = Some(selector);
        self
    }

    /// Only if this expression is true, in addition to earlier ones. It is over `object`, `oldObject`, `request`,
    /// `authorizer` and `params`; it sees neither variables nor the namespace. The name is in error messages.
    pub fn when(mut self, name: impl Into<String>, expression: impl Into<String>) -> Self {
        self.declared.scope.conditions.push([name.into(), expression.into()]);
        self
    }

    /// Is about objects that are being deleted too. Then an object that it refuses keeps its finalizers, and its namespace
    /// cannot be deleted.
    pub fn even_if_deleting(mut self) -> Self {
        self.declared.scope.unless_deleting = false;
        self
    }

    /// Sets the treatment of a request for which an expression has no value, or costs too much. It does not concern refusals.
    pub fn failure_policy(mut self, policy: FailurePolicy) -> Self {
        self.declared.scope.failure_policy = Some(policy);
        self
    }

    /// A value that later expressions read as `variables.NAME`. It is computed once for each request, when it is first read.
    pub fn variable(mut self, name: impl Into<String>, expression: impl Into<String>) -> Self {
        self.declared.variables.push([name.into(), expression.into()]);
        self
    }

    /// Objects that expressions read as `params`, such as settings that people may change in the cluster.
    pub fn params(mut self, params: Params) -> Self {
        self.declared.params = Some(params);
        self
    }
}

impl Declared {
    pub(super) fn new<K>(kind: &Kind<K>, name: String) -> Self {
        Self {
            name,
            scope: Scope::of(kind),
            variables: Vec::new(),
            params: None,
        }
    }

    /// Whether it is about all objects of the kind, for all that the schema of the kind knows: a policy that is could be part of
    /// the type.
    pub(super) fn is_about_all(&self) -> bool {
        let scope = &self.scope;
        scope.namespaces.is_none() && scope.objects.is_none() && scope.subresources.is_empty() && self.params.is_none()
    }
}
