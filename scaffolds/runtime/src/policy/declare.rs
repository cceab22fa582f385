//! The declaration of a policy: what it is about, and what it demands.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::{params::Params, validation::Validation};
use crate::{
    kind::Kind,
    object::Object,
    scope::{FailurePolicy, Operation, Scope},
};

/// An admission policy, before it is registered with a [`Manager`](crate::Manager): the API server evaluates it for each
/// write of its objects, without the operator.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright_runtime::{FailurePolicy, Policy, Validation};
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

/// What a ValidatingAdmissionPolicy demands.
#[derive(Default)]
pub struct Validating {
    pub(crate) validations: Vec<Validation>,
    /// Keys and expressions.
    pub(crate) annotations: Vec<[String; 2]>,
    pub(crate) actions: BTreeSet<ValidationAction>,
}

/// What follows when a validation fails.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum ValidationAction {
    /// It is in the audit log.
    Audit,
    /// The request is refused.
    Deny,
    /// The client is warned.
    Warn,
}

/// What both forms of policies have.
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) scope: Scope,
    /// Names and expressions.
    pub(crate) variables: Vec<[String; 2]>,
    pub(crate) params: Option<Params>,
}

impl Policy<Validating> {
    /// A policy that allows or refuses writes of objects of type `K`: a ValidatingAdmissionPolicy. In the cluster its name
    /// begins with the operator's.
    pub fn validating<K: Object>(name: impl Into<String>) -> Self {
        Self::validating_kind(&Kind::<K>::of(), name)
    }

    /// As [`validating`](Self::validating), for a kind that need not have a Rust type.
    pub fn validating_kind<K>(kind: &Kind<K>, name: impl Into<String>) -> Self {
        Self {
            declared: Declared::new(kind, name.into()),
            form: Validating::default(),
        }
    }

    /// What has to be true, in addition to earlier ones. All that fail are told to the client.
    pub fn validation(mut self, validation: Validation) -> Self {
        self.form.validations.push(validation);
        self
    }

    /// Adds the value of an expression, a string or null for none, to the audit event of each request that the policy is
    /// about.
    pub fn audit(mut self, key: impl Into<String>, expression: impl Into<String>) -> Self {
        self.form.annotations.push([key.into(), expression.into()]);
        self
    }

    /// What follows when a validation fails, in place of a refusal. `Deny` and `Warn` exclude each other.
    pub fn actions(mut self, actions: impl IntoIterator<Item = ValidationAction>) -> Self {
        self.form.actions = actions.into_iter().collect();
        self
    }
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

    /// Is about objects that are being deleted too. Then an object that does not satisfy it keeps its finalizers, and its
    /// namespace cannot be deleted.
    pub fn even_if_deleting(mut self) -> Self {
        self.declared.scope.unless_deleting = false;
        self
    }

    /// What happens to a request for which an expression has no value, or costs too much. A refusal is none of these.
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
}
