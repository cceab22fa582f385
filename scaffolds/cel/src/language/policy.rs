//! Expressions of admission policies: their variables, validations, mutations, messages and audit annotations, compiled and
//! evaluated as kube-apiserver 1.37 does. Their cost is limited when they run.

use super::admitted::Admitted;
use super::condition::{self, Spent};
pub use super::constant::could_be_default;
pub use super::mutating::Mutation;
use super::mutation;
pub use super::mutation::{Configuration, Unfit};
use super::program::{Program, Refusal};
use super::scope::{Declared, scope};
use super::value::Val;
use super::variables::{Composed, DEEPEST, Variables};
use crate::stack;
use crate::types::{JSON_PATCH, OBJECT, Object, Type};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

pub use super::price::{could_be_rule, excess};
pub use super::typing::{Kind, Parameters, Typing};
pub use super::validation::{Failed, Validation};

/// The cost limit of all validations of one policy, and of their messages, for one request and one parameter
/// (celconfig.RuntimeCELCostBudget). Its audit annotations may cost as much again; of mutations, each one may.
pub const BUDGET: u64 = 10_000_000;

/// The purpose of an expression, which determines its type and its access to the authorizer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Purpose {
    /// A match condition or a validation: a bool.
    Condition,
    /// A message: a string. It may not ask the authorizer.
    Message,
    /// The value of an audit annotation: a string or null.
    Annotation,
    /// A mutation by an apply configuration: `Object{…}`.
    ApplyConfiguration,
    /// A mutation by a JSON patch: a list of `JSONPatch{…}`.
    JsonPatch,
}

/// The reason that an expression is refused, in the server's words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Refused {
    /// It does not compile, or has the wrong type.
    Invalid(String),
    /// The server calls it an internal error: a constant in it cannot be computed.
    Internal(String),
}

/// A compiled expression.
#[derive(Debug)]
pub struct Expression {
    source: String,
    pub(super) program: Program,
}

/// The variables of a policy, and what its expressions are compiled with.
#[derive(Debug)]
pub struct Policy {
    has_params: bool,
    /// The variables and their types; `None` if expressions cannot have any.
    variables: Option<Arc<Object>>,
    pub(super) composed: Composed,
    /// The names of the variables, in the order in which they were added.
    pub(super) order: Vec<String>,
    is_deep: bool,
    /// The known types and sizes of the values; `None` as on a server.
    pub(super) admitted: Option<Admitted>,
    /// The schema of the object, for what mutations build.
    pub(super) schema: Option<Value>,
}

/// The input of the expressions of a policy.
#[derive(Debug)]
pub struct Input<'a> {
    /// The input that conditions of webhooks have, too.
    pub request: condition::Input<'a>,
    /// The parameter; null if the policy has no parameter.
    pub params: &'a Value,
    /// The namespace of the object; null for a cluster-scoped object.
    pub namespace: &'a Value,
}

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Of a condition.
    Bool(bool),
    /// Of a message or an audit annotation.
    Text(String),
    /// Of an audit annotation that has no value.
    Null,
    /// Of an apply configuration.
    Configuration(Configuration),
    /// Of a JSON patch: its operations.
    Operations(Vec<Map<String, Value>>),
}

impl Policy {
    /// A policy without variables yet. `composes`: whether it will have any; otherwise expressions do not know the name
    /// `variables`.
    pub fn new(has_params: bool, composes: bool) -> Self {
        Self {
            has_params,
            variables: composes.then(|| Arc::new(none())),
            composed: Composed::new(),
            order: Vec::new(),
            is_deep: false,
            admitted: None,
            schema: None,
        }
    }

    /// Compiles a variable, which later expressions may use even if it is refused.
    ///
    /// # Errors
    /// The reason in the server's words.
    pub fn add(&mut self, name: &str, expression: &str) -> Result<(), Refused> {
        let compiled = self.program(Purpose::Condition, expression, &[]);
        let r#type = match &compiled {
            Ok(program) => field(program.checked.of(&program.expr)),
            Err(_) => Type::Dyn,
        };
        let variables = self.variables.get_or_insert_with(|| Arc::new(none()));
        Arc::make_mut(variables).fields.insert(name.to_owned(), r#type);
        self.is_deep |= stack::nests(expression);
        let refused = compiled.as_ref().err().cloned();
        let stored = compiled.map_err(|refused| refused.detail().to_owned());
        self.composed.insert(name.to_owned(), stored);
        self.order.push(name.to_owned());
        refused.map_or(Ok(()), Err)
    }

    /// Compiles an expression.
    ///
    /// # Errors
    /// The reason in the server's words.
    pub fn compile(&self, purpose: Purpose, expression: &str) -> Result<Expression, Refused> {
        let wanted = match purpose {
            Purpose::Condition => vec![Type::Bool],
            Purpose::Message => vec![Type::String],
            Purpose::Annotation => vec![Type::String, Type::Null],
            Purpose::ApplyConfiguration => vec![Type::Built(OBJECT.into())],
            Purpose::JsonPatch => vec![Type::list(Type::Built(JSON_PATCH.into()))],
        };
        Ok(Expression {
            source: expression.to_owned(),
            program: self.program(purpose, expression, &wanted)?,
        })
    }

    fn program(&self, purpose: Purpose, expression: &str, wanted: &[Type]) -> Result<Program, Refused> {
        let known = |name: &str| Some(self.admitted.as_ref()?.get(name)?.r#type(name));
        let scope = scope(&Declared {
            object: known("object"),
            params: self.has_params.then(|| known("params").unwrap_or(Type::Dyn)),
            authorizer: purpose != Purpose::Message,
            variables: self.variables.clone().map(Type::Object),
            mutates: matches!(purpose, Purpose::ApplyConfiguration | Purpose::JsonPatch),
        });
        let work = || Program::compile(expression, &scope, wanted);
        let compiled = stack::with_stack(stack::nests(expression), work);
        let compiled = compiled.map_err(|cause| Refused::Internal(cause.message))?;
        compiled.map_err(|refusal| match refusal {
            Refusal::Compilation(issues) => Refused::Invalid(format!("compilation failed: {issues}")),
            Refusal::Type(found) => Refused::Invalid(misfit(wanted, &found)),
            Refusal::Instantiation(why) => Refused::Internal(format!("program instantiation failed: {why}")),
        })
    }

    /// Evaluates expressions of one purpose, and takes the cost from `budget`. `None` stands for an expression that the
    /// policy does not have; of one that does not compile, the error is given. A value is an error in the server's words if it
    /// cannot be computed.
    ///
    /// # Errors
    /// When the budget is used up.
    pub fn evaluate<'e>(
        &self,
        purpose: Purpose,
        expressions: impl Iterator<Item = Option<&'e Result<Expression, String>>>,
        input: &Input<'_>,
        budget: &mut u64,
    ) -> Result<Vec<Option<Result<Outcome, String>>>, Spent> {
        let expressions: Vec<_> = expressions.collect();
        let compiled = expressions.iter().flatten().filter_map(|it| it.as_ref().ok());
        let is_deep = self.is_deep || compiled.into_iter().any(|it| stack::nests(&it.source));
        let nested = self.composed.len().min(DEEPEST);
        // Ordinary expressions within each other fit into one large stack, deep ones need one each.
        let levels = if is_deep { nested + 1 } else { 1 };
        let count = expressions.len();
        let work = || {
            let variables = self.variables(purpose, input);
            let mut evaluate = |it: &Option<&'e Result<Expression, String>>| match it {
                None => Ok(None),
                Some(Err(why)) => Ok(Some(Err(format!("compilation error: {why}")))),
                Some(Ok(expression)) => expression.evaluate(&variables, budget).map(Some),
            };
            expressions.iter().map(&mut evaluate).collect()
        };
        stack::with_levels(is_deep || nested > 0, levels, work)
            .unwrap_or_else(|cause| Ok(vec![Some(Err(cause.message)); count]))
    }

    fn variables<'a>(&'a self, purpose: Purpose, input: &'a Input<'a>) -> Variables<'a> {
        let mut variables = condition::variables(&input.request, purpose != Purpose::Message);
        variables.insert("params", Val::of(input.params, None));
        variables.insert("namespaceObject", Val::of(input.namespace, None));
        variables.compose(&self.composed);
        variables
    }
}

impl Expression {
    /// Its source.
    pub fn source(&self) -> &str {
        &self.source
    }

    fn evaluate<'a>(&'a self, variables: &Variables<'a>, budget: &mut u64) -> Result<Result<Outcome, String>, Spent> {
        let (value, cost) = self.program.run(variables);
        let all = cost.saturating_add(variables.take_cost());
        *budget = budget.checked_sub(all).ok_or(Spent)?;
        Ok(match value {
            Ok(Val::Bool(flag)) => Ok(Outcome::Bool(flag)),
            Ok(Val::String(text)) => Ok(Outcome::Text(text.into_owned())),
            Ok(Val::Built(object)) => mutation::configuration(&object).map(Outcome::Configuration),
            Ok(Val::List(operations)) => mutation::operations(&operations).map(Outcome::Operations),
            // The compiler has checked that there are no other types.
            Ok(_) => Ok(Outcome::Null),
            Err(fault) => Err(condition::failed(&self.source, &fault)),
        })
    }
}

impl Refused {
    /// The reason alone.
    pub fn detail(&self) -> &str {
        match self {
            Self::Invalid(why) | Self::Internal(why) => why,
        }
    }
}

/// The type of `variables` before there are any.
pub(super) fn none() -> Object {
    Object {
        name: "kubernetes.variables".to_owned(),
        fields: BTreeMap::new(),
    }
}

/// The type with which other expressions see a variable: upstream keeps scalars, lists and maps.
pub(super) fn field(r#type: &Type) -> Type {
    match r#type {
        Type::List(of) => Type::list(field(of)),
        Type::Map(of) => Type::map(field(&of.0), field(&of.1)),
        Type::Bool
        | Type::Bytes
        | Type::Double
        | Type::Duration
        | Type::Int
        | Type::Null
        | Type::String
        | Type::Timestamp
        | Type::Uint => r#type.clone(),
        _ => Type::Dyn,
    }
}

fn misfit(wanted: &[Type], found: &Type) -> String {
    let found = found.declared();
    match wanted {
        [one] => format!("must evaluate to {} but got {found}", one.declared()),
        several => {
            let names: Vec<String> = several.iter().map(Type::declared).collect();
            format!("must evaluate to one of [{}] but got {found}", names.join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::condition::{Asked, Authorizer, Decision};
    use serde_json::json;

    fn evaluate(policy: &Policy, expression: &str, budget: &mut u64) -> Result<Outcome, String> {
        let compiled = policy.compile(Purpose::Condition, expression);
        let compiled = compiled.map_err(|refused| refused.detail().to_owned());
        let null = Value::Null;
        let input = Input {
            request: condition::Input {
                object: &json!({"a": 1}),
                old_object: &null,
                request: &null,
                authorizer: &Authorizer::new(|_| Decision::default()),
                resource: &Asked::default(),
            },
            params: &null,
            namespace: &null,
        };
        let outcome = policy.evaluate(Purpose::Condition, [Some(&compiled)].into_iter(), &input, budget);
        outcome.unwrap().remove(0).unwrap()
    }

    #[test]
    fn variables_that_refer_to_too_many_others_are_an_error_and_no_overflow() {
        let mut policy = Policy::new(false, true);
        policy.add("v0", "object.a").unwrap();
        for number in 1..1000 {
            policy
                .add(&format!("v{number}"), &format!("variables.v{} + 1", number - 1))
                .unwrap();
        }
        assert_eq!(
            evaluate(&policy, "variables.v15 == 16", &mut BUDGET.clone()),
            Ok(Outcome::Bool(true))
        );
        let why = evaluate(&policy, "variables.v999 == 1000", &mut BUDGET.clone()).unwrap_err();
        assert!(
            why.ends_with("variables refer to each other more than 16 deep"),
            "{why}"
        );
    }

    #[test]
    fn a_variable_whose_name_stands_twice_cannot_refer_to_itself_without_end() {
        let mut policy = Policy::new(false, true);
        policy.add("a", "1").unwrap();
        policy.add("a", "variables.a + 1").unwrap();
        assert!(evaluate(&policy, "variables.a == 2", &mut BUDGET.clone()).is_err());
    }

    #[test]
    fn a_variable_is_paid_for_once_and_only_if_it_is_read() {
        let mut policy = Policy::new(false, true);
        policy.add("list", "[1, 2, 3].map(x, x + object.a)").unwrap();
        let cost = |expression: &str| {
            let mut budget = BUDGET;
            evaluate(&policy, expression, &mut budget).unwrap();
            BUDGET - budget
        };
        let (without, once) = (cost("true || variables.list == []"), cost("variables.list.size() == 3"));
        let twice = cost("variables.list.size() == 3 && variables.list.size() == 3");
        assert!(without < 10 && once > 50, "{without} {once}");
        assert!(twice - once < 20, "{once} {twice}");
    }
}
