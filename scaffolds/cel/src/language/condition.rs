//! Conditions of admission (`matchConditions`): expressions over `object`, `oldObject`, `request` and `authorizer`, compiled
//! and evaluated as kube-apiserver 1.37 does. The server does not estimate their cost, but limits it when they run.

use super::library::{Question, Step};
use super::meter;
use super::program::{Program, Refusal};
use super::scope::{Declared, scope};
use super::value::{Fault, Foreign, Val};
use super::variables::Variables;
use crate::stack;
use crate::types::Type;
use serde_json::Value;

pub use super::library::{Account, Asked, Authorizer, Decision};

/// The cost limit of all conditions of one webhook or policy together (celconfig.RuntimeCELCostBudgetMatchConditions).
pub const BUDGET: u64 = 2_500_000;

/// The cost limit of each condition (celconfig.PerCallLimit).
pub const LIMIT: u64 = meter::MOST;

/// A compiled condition.
#[derive(Debug)]
pub struct Condition {
    expression: String,
    program: Program,
}

/// The input of conditions.
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
        let declared = Declared {
            authorizer: true,
            ..Declared::default()
        };
        let work = || Program::compile(expression, &scope(&declared), &[Type::Bool]);
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

    /// The minimum cost of the condition for some requests, in the units of [`LIMIT`] and [`BUDGET`]: an estimate for its most
    /// expensive branches on objects without data. Above [`LIMIT`] it has no value for those requests, on any object. Data
    /// can make it more expensive.
    pub fn price(&self) -> u64 {
        let nests = stack::nests(&self.expression);
        // Without the large stack nothing would have been compiled.
        stack::with_stack(nests, || self.program.of_nothing()).unwrap_or_default()
    }

    /// Evaluates the condition, and takes the cost from `budget`.
    ///
    /// # Errors
    /// The reason for which it has no value, in the server's words. After [`Spent`] no other condition is evaluated.
    pub fn evaluate(&self, input: &Input<'_>, budget: &mut u64) -> Result<Result<bool, String>, Spent> {
        let work = || {
            let (value, cost) = self.program.run(&variables(input, true));
            let value = value.map(|value| matches!(value, Val::Bool(true)));
            (value.map_err(|fault| failed(&self.expression, &fault)), cost)
        };
        let deep = stack::nests(&self.expression);
        let (value, cost) = stack::with_stack(deep, work).unwrap_or_else(|cause| (Err(cause.message), 0));
        *budget = budget.checked_sub(cost).ok_or(Spent)?;
        Ok(value)
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

/// Whether all conditions are true, by their values. One that is false decides, whatever the others are.
///
/// # Errors
/// The errors of those that have no value, in the server's words.
pub fn all(values: impl IntoIterator<Item = Result<bool, String>>) -> Result<bool, String> {
    let (mut is_false, mut errors) = (false, Vec::new());
    for value in values {
        match value {
            Ok(holds) => is_false |= !holds,
            Err(error) if !errors.contains(&error) => errors.push(error),
            Err(_) => {}
        }
    }
    match (is_false, errors.as_slice()) {
        (true, _) => Ok(false),
        (false, []) => Ok(true),
        (false, [error]) => Err(error.clone()),
        (false, errors) => Err(format!("[{}]", errors.join(", "))),
    }
}

/// The server's message about an expression that has no value.
pub(super) fn failed(expression: &str, fault: &Fault) -> String {
    format!("expression '{expression}' resulted in error: {}", fault.told())
}

/// The values of the variables, with the authorizer or without it.
pub(super) fn variables<'a>(input: &Input<'a>, with_authorizer: bool) -> Variables<'a> {
    let question = |step: Step, asked: Asked| {
        Ok(Val::foreign(Foreign::Question(Question {
            step,
            asked,
            authorizer: input.authorizer.clone(),
        })))
    };
    let mut variables = Variables::from_iter([
        ("object", Val::of(input.object, None)),
        ("oldObject", Val::of(input.old_object, None)),
        ("request", Val::of(input.request, None)),
        // Declared for policies; webhooks have no value for it.
        ("namespaceObject", Ok(Val::Null)),
    ]);
    if with_authorizer {
        variables.insert("authorizer", question(Step::Start, Asked::default()));
        let resource = question(Step::Resource, input.resource.clone());
        variables.insert("authorizer.requestResource", resource);
    }
    variables
}
