//! A policy with its compiled expressions.

use std::fmt;

use kubewright_machinery::names::group_version;
use kubewright_schema::policy::{self, Expression, Mutation, Purpose, Validation};
use serde_json::Value;

use super::Binding;
use crate::{meta, webhooks::Selection};

/// An expression; of one that does not compile, the error.
pub type Compiled = Result<Expression, String>;

/// A policy, which either mutates or validates.
#[derive(Debug)]
pub struct Policy {
    /// Its name.
    pub name: String,
    /// Its bindings, in the order of their names.
    pub bindings: Vec<Binding>,
    /// The requests that it matches.
    pub selection: Selection,
    /// The kind of its parameters, if it has any.
    pub parameters: Option<ParameterKind>,
    /// Whether a request goes on if an expression has no value.
    pub ignores_failures: bool,
    /// Its variables, with which its expressions are evaluated.
    pub expressions: policy::Policy,
    /// It is evaluated if all of them are true.
    pub conditions: Vec<Compiled>,
    /// The mutations of objects.
    pub mutations: Vec<Mutation>,
    /// Whether it is evaluated again if the object has changed since.
    pub is_reinvoked: bool,
    /// The validations.
    pub validations: Vec<Validation>,
    /// The values of its audit annotations.
    pub annotations: Vec<Compiled>,
}

/// The kind of parameters.
#[derive(Clone, Debug)]
pub struct ParameterKind {
    /// Empty for the core group.
    pub group: String,
    /// For example `v1`.
    pub version: String,
    /// For example `ConfigMap`.
    pub kind: String,
}

impl Policy {
    /// A stored policy.
    pub(super) fn read(policy: &Value, bindings: Vec<Binding>) -> Self {
        let spec = &policy["spec"];
        let kind = &spec["paramKind"];
        let mut expressions = policy::Policy::new(!kind.is_null(), true);
        for variable in items(&spec["variables"]) {
            // The error of an expression that does not compile is found where the expression is read.
            _ = expressions.add(text(variable, "name"), text(variable, "expression"));
        }
        let compile = |purpose: Purpose, expression: &str| {
            let compiled = expressions.compile(purpose, expression);
            compiled.map_err(|refused| refused.detail().to_owned())
        };
        Self {
            name: meta::text(policy, "name").to_owned(),
            bindings,
            selection: Selection::of_policy(&spec["matchConstraints"]),
            parameters: (!kind.is_null()).then(|| ParameterKind::read(kind)),
            ignores_failures: spec["failurePolicy"] == "Ignore",
            conditions: items(&spec["matchConditions"])
                .map(|item| compile(Purpose::Condition, text(item, "expression")))
                .collect(),
            mutations: items(&spec["mutations"])
                .map(|item| Mutation::read(item, &expressions))
                .collect(),
            is_reinvoked: spec["reinvocationPolicy"] == "IfNeeded",
            validations: items(&spec["validations"])
                .map(|item| Validation::read(item, &expressions))
                .collect(),
            annotations: items(&spec["auditAnnotations"])
                .map(|item| compile(Purpose::Annotation, text(item, "valueExpression")))
                .collect(),
            expressions,
        }
    }
}

impl ParameterKind {
    /// The kind in `paramKind`.
    pub fn read(kind: &Value) -> Self {
        let (group, version) = group_version(text(kind, "apiVersion"));
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: text(kind, "kind").to_owned(),
        }
    }
}

/// As Go prints a GroupVersionKind.
impl fmt::Display for ParameterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text<'v>(object: &'v Value, field: &str) -> &'v str {
    object[field].as_str().unwrap_or_default()
}
