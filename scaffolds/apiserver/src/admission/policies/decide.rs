//! Evaluates one policy with one parameter.

use kubewright_schema::{
    condition::{self, Asked as Question, Authorizer, Input as Seen, Spent},
    policy::{self, Input, Outcome, Purpose},
};
use serde_json::Value;

use super::super::webhooks::{conditions, matching::Asked, review, version::Versioned};
use crate::{
    policies::{Policy, Validation},
    state::Core,
};

/// The longest message that an expression may compute, in bytes (celconfig.MaxEvaluatedMessageExpressionSizeBytes).
const LONGEST_MESSAGE: usize = 5 * 1024;

/// A validation that failed, or an error that counts as one.
pub(super) struct Denied {
    pub message: String,
    pub reason: String,
    /// Whether the request is refused whatever the binding says, as for errors in audit annotations.
    pub is_always_refused: bool,
}

impl Denied {
    fn error(message: &str) -> Self {
        Self {
            message: message.to_owned(),
            reason: "Invalid".to_owned(),
            is_always_refused: false,
        }
    }
}

/// A request in the version of a policy.
pub(super) struct Request<'r> {
    seen: &'r Versioned,
    namespace: &'r Value,
    authorizer: Authorizer,
    resource: Question,
    /// The request as validations see it.
    request: Value,
    /// As match conditions see it.
    conditional: Value,
}

impl<'r> Request<'r> {
    pub fn new(core: &Core, asked: &Asked<'_>, seen: &'r Versioned, namespace: &'r Value) -> Self {
        Self {
            seen,
            namespace,
            authorizer: conditions::authorizer(core, &asked.attributes.call.user),
            resource: conditions::question(asked),
            request: review::request(asked, &seen.matched),
            conditional: conditions::request(asked, seen),
        }
    }

    /// What a policy denies with a parameter, which is null if it has none.
    pub fn evaluate(&self, policy: &Policy, params: &Value) -> Vec<Denied> {
        let error = |message: &str| match policy.ignores_failures {
            true => Vec::new(),
            false => vec![Denied::error(message)],
        };
        match self.is_about(policy, params) {
            Ok(true) => {}
            Ok(false) => return Vec::new(),
            Err(why) => return error(&why),
        }
        let input = self.input(params);
        let mut denied = match validations(policy, &input) {
            Ok(denied) => denied,
            Err(Spent) => return error(Spent::MESSAGE),
        };
        match annotations(policy, &input) {
            Ok(more) => denied.extend(more),
            Err(Spent) => return error(Spent::MESSAGE),
        }
        denied
    }

    fn input<'a>(&'a self, params: &'a Value) -> Input<'a> {
        Input {
            request: Seen {
                object: self.seen.new.as_ref().unwrap_or(&Value::Null),
                old_object: self.seen.old.as_ref().unwrap_or(&Value::Null),
                request: &self.request,
                authorizer: &self.authorizer,
                resource: &self.resource,
            },
            params,
            namespace: self.namespace,
        }
    }

    /// Whether all match conditions of a policy are true. They do not see the namespace.
    fn is_about(&self, policy: &Policy, params: &Value) -> Result<bool, String> {
        if policy.conditions.is_empty() {
            return Ok(true);
        }
        let mut input = self.input(params);
        (input.request.request, input.namespace) = (&self.conditional, &Value::Null);
        let all = policy.conditions.iter().map(Some);
        let mut budget = condition::BUDGET;
        let values = policy
            .expressions
            .evaluate(Purpose::Condition, all, &input, &mut budget);
        let values = values.map_err(|Spent| Spent::MESSAGE.to_owned())?;
        conditions::all(
            values
                .into_iter()
                .flatten()
                .map(|value| value.map(|it| it == Outcome::Bool(true))),
        )
    }
}

fn validations(policy: &Policy, input: &Input<'_>) -> Result<Vec<Denied>, Spent> {
    let all = &policy.validations;
    let mut budget = policy::BUDGET;
    let expressions = all.iter().map(|it| Some(&it.expression));
    let values = policy
        .expressions
        .evaluate(Purpose::Condition, expressions, input, &mut budget)?;
    let messages = all.iter().map(|it| it.message_expression.as_ref());
    let messages = policy
        .expressions
        .evaluate(Purpose::Message, messages, input, &mut budget);
    let error = |why: &str| (!policy.ignores_failures).then(|| Denied::error(why));
    let denied = all
        .iter()
        .zip(values)
        .enumerate()
        .filter_map(|(index, (validation, value))| match (value, &messages) {
            (Some(Err(why)), _) => error(&why),
            (_, Err(Spent)) => error(&format!("failed messageExpression: {}", Spent::MESSAGE)),
            (Some(Ok(Outcome::Bool(true))), _) => None,
            (_, Ok(messages)) => Some(Denied {
                message: message(validation, messages.get(index).and_then(Option::as_ref)),
                reason: validation.reason.clone(),
                is_always_refused: false,
            }),
        });
    Ok(denied.collect())
}

/// The message of a validation that failed: the computed one if it is fit, else the given one, else the expression.
fn message(validation: &Validation, computed: Option<&Result<Outcome, String>>) -> String {
    let computed = match computed {
        Some(Ok(Outcome::Text(text))) => text.trim(),
        _ => "",
    };
    let is_fit = !computed.is_empty() && computed.len() <= LONGEST_MESSAGE && !computed.contains('\n');
    match validation.message.as_str() {
        _ if is_fit => computed.to_owned(),
        "" => format!("failed expression: {}", validation.source().trim()),
        message => message.to_owned(),
    }
}

/// The errors of audit annotations, whose values go to the audit log alone, which does not exist here.
fn annotations(policy: &Policy, input: &Input<'_>) -> Result<Vec<Denied>, Spent> {
    let mut budget = policy::BUDGET;
    let all = policy.annotations.iter().map(Some);
    let values = policy
        .expressions
        .evaluate(Purpose::Annotation, all, input, &mut budget)?;
    let errors = values.into_iter().flatten().filter_map(Result::err);
    let errors = errors.filter(|_| !policy.ignores_failures);
    let denied = errors.map(|why| Denied {
        is_always_refused: true,
        ..Denied::error(&why)
    });
    Ok(denied.collect())
}
