//! The validations of a policy at work: whether it is about a request, which validations fail, and with which messages.

use super::condition::{self, Spent};
use super::policy::{BUDGET, Expression, Input, Outcome, Policy, Purpose};
use serde_json::Value;

/// The longest message that an expression may compute, in bytes (celconfig.MaxEvaluatedMessageExpressionSizeBytes).
const LONGEST_MESSAGE: usize = 5 * 1024;

/// An expression; of one that does not compile, the error.
type Compiled = Result<Expression, String>;

/// A compiled validation.
#[derive(Debug)]
pub struct Validation {
    /// The expression that has to be true.
    pub expression: Compiled,
    /// The expression that computes the message, if there is one.
    pub message_expression: Option<Compiled>,
    /// The message otherwise.
    pub message: String,
    /// The reason of the refusal; `Invalid` by default.
    pub reason: String,
}

/// A validation that failed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Failed {
    /// The message of the policy, or the server's default message.
    pub message: String,
    /// The reason of the refusal.
    pub reason: String,
}

impl Validation {
    /// An item of `validations`.
    pub fn read(validation: &Value, policy: &Policy) -> Self {
        let text = |field: &str| validation[field].as_str().unwrap_or_default();
        let compile = |purpose: Purpose, expression: &str| {
            let compiled = policy.compile(purpose, expression);
            compiled.map_err(|refused| refused.detail().to_owned())
        };
        let message = text("messageExpression");
        Self {
            expression: compile(Purpose::Condition, text("expression")),
            message_expression: (!message.is_empty()).then(|| compile(Purpose::Message, message)),
            message: text("message").trim().to_owned(),
            reason: match text("reason") {
                "" => "Invalid".to_owned(),
                reason => reason.to_owned(),
            },
        }
    }

    /// The message: the computed one if it is fit, else the given one, else the expression.
    fn failed(&self, computed: Option<&Result<Outcome, String>>) -> Failed {
        let computed = match computed {
            Some(Ok(Outcome::Text(text))) => text.trim(),
            _ => "",
        };
        let is_fit = !computed.is_empty() && computed.len() <= LONGEST_MESSAGE && !computed.contains('\n');
        let source = self.expression.as_ref().map_or("", Expression::source).trim();
        let message = match self.message.as_str() {
            _ if is_fit => computed.to_owned(),
            "" => format!("failed expression: {source}"),
            message => message.to_owned(),
        };
        let reason = self.reason.clone();
        Failed { message, reason }
    }
}

impl Policy {
    /// Whether all match conditions are true. One that is false decides, whatever the others are.
    ///
    /// # Errors
    /// The errors of those that have no value, in the server's words.
    pub fn matches(&self, conditions: &[Compiled], input: &Input<'_>) -> Result<bool, String> {
        let mut budget = condition::BUDGET;
        let values = self.evaluate(Purpose::Condition, conditions.iter().map(Some), input, &mut budget);
        let values = values.map_err(|Spent| Spent::MESSAGE.to_owned())?;
        let values = values.into_iter().flatten();
        condition::all(values.map(|value| value.map(|it| it == Outcome::Bool(true))))
    }

    /// The validations that fail, in their order; an error is one that has no value.
    ///
    /// # Errors
    /// When they cost more than [`BUDGET`] together.
    pub fn validate(
        &self,
        validations: &[Validation],
        input: &Input<'_>,
    ) -> Result<Vec<Result<Failed, String>>, Spent> {
        let mut budget = BUDGET;
        let expressions = validations.iter().map(|it| Some(&it.expression));
        let values = self.evaluate(Purpose::Condition, expressions, input, &mut budget)?;
        let messages = validations.iter().map(|it| it.message_expression.as_ref());
        let messages = self.evaluate(Purpose::Message, messages, input, &mut budget);
        let each = validations.iter().zip(values).enumerate();
        let failed = each.filter_map(|(index, (validation, value))| match (value, &messages) {
            (Some(Err(why)), _) => Some(Err(why)),
            (_, Err(Spent)) => Some(Err(format!("failed messageExpression: {}", Spent::MESSAGE))),
            (Some(Ok(Outcome::Bool(true))), _) => None,
            (_, Ok(messages)) => Some(Ok(validation.failed(messages.get(index).and_then(Option::as_ref)))),
        });
        Ok(failed.collect())
    }
}
