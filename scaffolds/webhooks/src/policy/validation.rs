//! One validation of a policy.

use serde_json::{Value, json};

/// A demand of a policy: an expression that has to be true, and the message for clients otherwise.
#[derive(Clone, Debug)]
pub struct Validation {
    pub(super) expression: String,
    pub(super) message: Option<String>,
    pub(super) message_expression: Option<String>,
    pub(super) reason: Option<DenialReason>,
}

/// The reason in the answer to a request that is refused, which decides its HTTP code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DenialReason {
    /// 403: the user may not.
    Forbidden,
    /// 422: the object is wrong. The default.
    Invalid,
    /// 413: the object is too large.
    RequestEntityTooLarge,
}

impl Validation {
    /// Demands that this expression is true. It is over `object`, `oldObject`, `request`, `namespaceObject`, `authorizer`,
    /// `variables` and `params`; `object` is null for a deletion, `oldObject` for a creation.
    pub fn new(expression: impl Into<String>) -> Self {
        Self {
            expression: expression.into(),
            message: None,
            message_expression: None,
            reason: None,
        }
    }

    /// Sets the message for clients, in one line; by default it is the expression.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Computes what clients are told. If it has no value, it is the [`message`](Self::message). It may not ask the
    /// `authorizer`.
    pub fn message_expression(mut self, expression: impl Into<String>) -> Self {
        self.message_expression = Some(expression.into());
        self
    }

    /// The reason in the answer.
    pub fn reason(mut self, reason: DenialReason) -> Self {
        self.reason = Some(reason);
        self
    }

    /// As an item of `validations`.
    pub(super) fn document(&self) -> Value {
        let mut document = json!({"expression": self.expression.trim()});
        if let Some(message) = &self.message {
            document["message"] = json!(message.trim());
        }
        if let Some(expression) = &self.message_expression {
            document["messageExpression"] = json!(expression.trim());
        }
        if let Some(reason) = self.reason {
            document["reason"] = json!(match reason {
                DenialReason::Forbidden => "Forbidden",
                DenialReason::Invalid => "Invalid",
                DenialReason::RequestEntityTooLarge => "RequestEntityTooLarge",
            });
        }
        document
    }
}
