//! The declaration of a policy: what it is about, and what its expressions read. What it does is its form.

use kubewright_runtime::Kind;

use super::params::Params;
use crate::scope::{Scope, scope_builders};

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
    pub(crate) declared: DeclaredPolicy,
    pub(crate) form: F,
}

/// The common declarations of both forms of policies.
pub(crate) struct DeclaredPolicy {
    pub(crate) name: String,
    pub(crate) scope: Scope,
    /// Names and expressions.
    pub(crate) variables: Vec<[String; 2]>,
    pub(crate) params: Option<Params>,
}

scope_builders!(impl[F] Policy<F>);

impl<F> Policy<F> {
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

impl DeclaredPolicy {
    pub(super) fn new<K>(kind: &Kind<K>, name: String) -> Self {
        Self {
            name,
            scope: Scope::of(kind),
            variables: Vec::new(),
            params: None,
        }
    }

    /// Whether the policy covers all objects of the kind, by conditions that a schema can express: it could be part of the
    /// type.
    pub(super) fn is_about_all(&self) -> bool {
        let scope = &self.scope;
        scope.namespaces.is_none() && scope.objects.is_none() && scope.subresources.is_empty() && self.params.is_none()
    }
}
