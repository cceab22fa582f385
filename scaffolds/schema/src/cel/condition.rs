//! Conditions of admission (`matchConditions`): expressions over `object`, `oldObject`, `request` and `authorizer`, compiled
//! and evaluated as kube-apiserver 1.36 does. Their cost is not estimated, but limited when they run.

use super::eval::Variables;
use super::library::{Question, Step};
use super::program::{Program, Refusal};
use super::stack;
use super::types::{Object, Scope, Type, Variable};
use super::value::{Fault, Foreign, Val};
use serde_json::Value;
use std::sync::Arc;

pub use super::library::{Account, Asked, Authorizer, Decision};

/// The cost limit of all conditions of one webhook or policy together (celconfig.RuntimeCELCostBudgetMatchConditions).
pub const BUDGET: u64 = 2_500_000;

/// A compiled condition.
#[derive(Debug)]
pub struct Condition {
    expression: String,
    program: Program,
}

/// What conditions are evaluated on.
#[derive(Debug)]
pub struct Input<'a> {
    /// The object after the request; null for a deletion.
    pub object: &'a Value,
    /// The object before the request; null for a creation.
    pub old_object: &'a Value,
    /// The request, without the objects.
    pub request: &'a Value,
    /// Decides about the user of the request, unless a question names a service account.
    pub authorizer: &'a Authorizer,
    /// The resource of the request, as `authorizer.requestResource` begins with it.
    pub resource: &'a Asked,
}

impl Condition {
    /// Compiles an expression, whose type must be bool.
    ///
    /// # Errors
    /// The reason in the server's words.
    pub fn compile(expression: &str) -> Result<Self, String> {
        let work = || Program::compile(expression, &scope(), &Type::Bool);
        let compiled = stack::with_stack(stack::nests(expression), work).map_err(|cause| cause.message)?;
        let program = compiled.map_err(|refusal| match refusal {
            Refusal::Compilation(issues) => format!("compilation failed: {issues}"),
            Refusal::Type(found) => format!("must evaluate to bool but got {found}"),
            Refusal::Instantiation(why) => format!("program instantiation failed: {why}"),
        })?;
        Ok(Self {
            expression: expression.to_owned(),
            program,
        })
    }

    /// Evaluates the condition, and takes the cost from `budget`.
    ///
    /// # Errors
    /// The reason for which it has no value, in the server's words. After [`Spent`] no other condition is evaluated.
    pub fn evaluate(&self, input: &Input<'_>, budget: &mut u64) -> Result<Result<bool, String>, Spent> {
        let work = || {
            let (value, cost) = self.program.run(&variables(input));
            let value = match value {
                Ok(value) => Ok(matches!(value, Val::Bool(true))),
                Err(Fault::Budget) => Err("operation cancelled: actual cost limit exceeded".to_owned()),
                Err(Fault::Error(error) | Fault::Panic(error)) => Err(error.to_string()),
            };
            (value, cost)
        };
        let deep = stack::nests(&self.expression);
        let (value, cost) = stack::with_stack(deep, work).unwrap_or_else(|cause| (Err(cause.message), 0));
        *budget = budget.checked_sub(cost).ok_or(Spent)?;
        Ok(value.map_err(|error| format!("expression '{}' resulted in error: {error}", self.expression)))
    }
}

/// The conditions cost more than [`BUDGET`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Spent;

impl Spent {
    /// The server's message.
    pub const MESSAGE: &'static str =
        "validation failed due to running out of cost budget, no further validation rules will be run";
}

fn variables<'a>(input: &Input<'a>) -> Variables<'a> {
    let question = |step: Step, asked: Asked| {
        Ok(Val::foreign(Foreign::Question(Question {
            step,
            asked,
            authorizer: input.authorizer.clone(),
        })))
    };
    Variables::from([
        ("object", Val::of(input.object, None)),
        ("oldObject", Val::of(input.old_object, None)),
        ("request", Val::of(input.request, None)),
        // Declared for policies; webhooks have no value for it.
        ("namespaceObject", Ok(Val::Null)),
        ("authorizer", question(Step::Start, Asked::default())),
        (
            "authorizer.requestResource",
            question(Step::Resource, input.resource.clone()),
        ),
    ])
}

fn scope() -> Scope {
    let variable = |name, r#type| Variable { name, r#type };
    Scope(vec![
        variable("object", Type::Dyn),
        variable("oldObject", Type::Dyn),
        variable("namespaceObject", namespace()),
        variable("request", request()),
        variable("authorizer", Type::Message("kubernetes.authorization.Authorizer")),
        variable(
            "authorizer.requestResource",
            Type::Message("kubernetes.authorization.ResourceCheck"),
        ),
    ])
}

/// An object type; `fields` are names and types.
fn object<const N: usize>(name: &str, fields: [(&str, Type); N]) -> Type {
    let fields = fields.map(|(field, r#type)| (field.to_owned(), r#type));
    Type::Object(Arc::new(Object {
        name: name.to_owned(),
        fields: fields.into(),
    }))
}

/// An AdmissionRequest without uid and objects.
fn request() -> Type {
    let kind = object(
        "kubernetes.GroupVersionKind",
        ["group", "version", "kind"].map(|field| (field, Type::String)),
    );
    let resource = object(
        "kubernetes.GroupVersionResource",
        ["group", "version", "resource"].map(|field| (field, Type::String)),
    );
    let texts = || Type::list(Type::String);
    let user = object(
        "kubernetes.UserInfo",
        [
            ("username", Type::String),
            ("uid", Type::String),
            ("groups", texts()),
            ("extra", Type::map(Type::String, texts())),
        ],
    );
    object(
        "kubernetes.AdmissionRequest",
        [
            ("kind", kind.clone()),
            ("resource", resource.clone()),
            ("subResource", Type::String),
            ("requestKind", kind),
            ("requestResource", resource),
            ("requestSubResource", Type::String),
            ("name", Type::String),
            ("namespace", Type::String),
            ("operation", Type::String),
            ("userInfo", user),
            ("dryRun", Type::Bool),
            ("options", Type::Dyn),
        ],
    )
}

fn namespace() -> Type {
    let texts = || Type::list(Type::String);
    let map = || Type::map(Type::String, Type::String);
    let condition = object(
        "kubernetes.NamespaceCondition",
        [
            ("status", Type::String),
            ("type", Type::String),
            ("lastTransitionTime", Type::Timestamp),
            ("message", Type::String),
            ("reason", Type::String),
        ],
    );
    let metadata = object(
        "kubernetes.NamespaceMetadata",
        [
            ("name", Type::String),
            ("generateName", Type::String),
            ("namespace", Type::String),
            ("labels", map()),
            ("annotations", map()),
            ("UID", Type::String),
            ("creationTimestamp", Type::Timestamp),
            ("deletionGracePeriodSeconds", Type::Int),
            ("deletionTimestamp", Type::Timestamp),
            ("generation", Type::Int),
            ("resourceVersion", Type::String),
            ("finalizers", texts()),
        ],
    );
    let spec = object("kubernetes.NamespaceSpec", [("finalizers", texts())]);
    let status = object(
        "kubernetes.NamespaceStatus",
        [("conditions", Type::list(condition)), ("phase", Type::String)],
    );
    object(
        "kubernetes.Namespace",
        [("metadata", metadata), ("spec", spec), ("status", status)],
    )
}
