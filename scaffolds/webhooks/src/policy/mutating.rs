//! Policies that change objects.

use kubewright_runtime::{Kind, Object, Result};
use kubewright_schema::policy::{self, Purpose, could_be_default};
use serde_json::{Value, json};

use super::{
    declare::{DeclaredPolicy, Policy},
    expressions::Compiler,
    form::PolicyForm,
};
use crate::scope::{
    Operation,
    lint::{Checked, wrong},
};

/// A hint at a simpler replacement of the policy.
const DEFAULT: &str = "a default in the schema does this: `#[serde(default = …)]` on the field, which needs no policy";

/// The mutations of a MutatingAdmissionPolicy.
#[derive(Default)]
pub struct Mutating {
    pub(super) mutations: Vec<Mutation>,
    reinvoked: bool,
}

/// A mutation: what it computes, and the expression.
pub(super) enum Mutation {
    Configuration(String),
    Patch(String),
}

impl Policy<Mutating> {
    /// A policy that changes objects of type `K` when they are written: a MutatingAdmissionPolicy, which a cluster has from
    /// Kubernetes 1.36 on. In the cluster its name begins with the operator's.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::ConfigMap;
    /// use kubewright_webhooks::{FailurePolicy, Operation, Policy};
    ///
    /// let policy = Policy::mutating::<ConfigMap>("creators")
    ///     .failure_policy(FailurePolicy::Ignore)
    ///     .operations([Operation::Create])
    ///     .apply_configuration(
    ///         "Object{metadata: Object.metadata{annotations: {'example.com/creator': request.userInfo.username}}}",
    ///     );
    /// # let _ = policy;
    /// ```
    ///
    /// # Flow
    ///
    /// The API server evaluates it before mutating webhooks, and before it validates the object against its schema; then it
    /// sets the defaults of the schema. Mutations follow each other: each sees what those before it have changed.
    ///
    /// # Caveats
    ///
    /// It must be idempotent: applied to its own result, it must change nothing. Others may change the object after it,
    /// unless it is [`reinvoked`](Self::reinvoked). Nobody owns the fields that it sets, so a client that applies the object
    /// again does not conflict with it.
    pub fn mutating<K: Object>(name: impl Into<String>) -> Self {
        Self::mutating_kind(&Kind::<K>::of(), name)
    }

    /// As [`mutating`](Self::mutating), for a kind that need not have a Rust type.
    pub fn mutating_kind<K>(kind: &Kind<K>, name: impl Into<String>) -> Self {
        Self {
            declared: DeclaredPolicy::new(kind, name.into()),
            form: Mutating::default(),
        }
    }

    /// Merges what this expression builds into the object, after earlier mutations, as server-side apply merges fields:
    /// `Object{spec: Object.spec{size: 3}}`. It is over `object`, `oldObject`, `request`, `namespaceObject`, `authorizer`,
    /// `variables` and `params`. It cannot remove fields, and cannot set lists and maps that can only be replaced as a whole
    /// (`x-kubernetes-list-type: atomic`, the default of lists): those need a [`json_patch`](Self::json_patch).
    pub fn apply_configuration(mut self, expression: impl Into<String>) -> Self {
        self.form.mutations.push(Mutation::Configuration(expression.into()));
        self
    }

    /// Carries out the operations that this expression builds, after earlier mutations:
    /// `[JSONPatch{op: 'add', path: '/spec/size', value: 3}]`. If a `test` among them fails, nothing is changed. A part of a
    /// path with `/` or `~` is written as `jsonpatch.escapeKey('example.com/team')`.
    pub fn json_patch(mut self, expression: impl Into<String>) -> Self {
        self.form.mutations.push(Mutation::Patch(expression.into()));
        self
    }

    /// Is evaluated again if others have changed the object since: `reinvocationPolicy: IfNeeded`. By default each request
    /// evaluates it once, so that a mistake in it, which makes it change its own result, cannot add up.
    pub fn reinvoked(mut self) -> Self {
        self.form.reinvoked = true;
        self
    }
}

impl PolicyForm for Mutating {
    const KIND: &'static str = "MutatingAdmissionPolicy";

    fn write(&self, spec: &mut Value, _: &mut Value) {
        spec["mutations"] = self.mutations.iter().map(Mutation::document).collect();
        spec["reinvocationPolicy"] = json!(if self.reinvoked { "IfNeeded" } else { "Never" });
    }

    fn lint(&self, declared: &DeclaredPolicy) -> Checked {
        if self.mutations.is_empty() {
            return wrong(
                "it changes nothing",
                "add `.apply_configuration(…)` or `.json_patch(…)`",
            );
        }
        match declared.scope.operations.contains(&Operation::Delete) {
            true => wrong("a deletion has no object to change", "leave `Operation::Delete` out"),
            false => Ok(()),
        }
    }

    fn check(&self, compiler: &Compiler<'_>, policy: &policy::Policy) -> Result<()> {
        for (nth, mutation) in self.mutations.iter().enumerate() {
            let (purpose, text) = mutation.parts();
            compiler.one(policy, purpose, &format!("mutation {}", nth + 1), text)?;
        }
        Ok(())
    }

    /// A note for each mutation that a default in the schema could replace.
    fn notes(&self, declared: &DeclaredPolicy, _: &Value) -> Vec<String> {
        if !declared.is_about_all() {
            return Vec::new();
        }
        let conditions = &declared.scope.conditions;
        let all = self.mutations.iter().filter_map(|mutation| match mutation {
            Mutation::Configuration(text) => Some(text.trim()),
            Mutation::Patch(_) => None,
        });
        let could = all.filter(|text| could_be_default(conditions, text));
        could
            .map(|text| {
                let name = &declared.name;
                format!("the policy `{name}` sets constants where fields are missing, with `{text}`\n\nhint: {DEFAULT}")
            })
            .collect()
    }
}

impl Mutation {
    fn parts(&self) -> (Purpose, &str) {
        match self {
            Self::Configuration(expression) => (Purpose::ApplyConfiguration, expression),
            Self::Patch(expression) => (Purpose::JsonPatch, expression),
        }
    }

    /// As an item of `mutations`.
    fn document(&self) -> Value {
        match self {
            Self::Configuration(expression) => json!({
                "patchType": "ApplyConfiguration",
                "applyConfiguration": {"expression": expression.trim()},
            }),
            Self::Patch(expression) => json!({
                "patchType": "JSONPatch",
                "jsonPatch": {"expression": expression.trim()},
            }),
        }
    }
}
