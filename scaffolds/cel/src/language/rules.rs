//! Compiles the rules of one node of a schema.

use super::field_path;
use super::program::{Program, Refusal};
use super::value::{Fault, Val};
use crate::declare::Declared;
use crate::schema::{Node, Rule};
use crate::types::{Scope, Type, Variable};
use kubewright_machinery::cause::Cause;
use kubewright_machinery::go;

/// The longest result of a `messageExpression`, in bytes.
const LONGEST_MESSAGE: usize = 5 * 1024;

/// A rule with its compiled expressions.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) rule: Rule,
    /// `None` if the rule is blank. The error is the detail of the server's cause.
    pub(super) program: Option<Result<Program, String>>,
    pub(super) message: Option<Result<Program, String>>,
    /// The path of the cause, relative to the value.
    pub(super) field_path: Option<String>,
}

impl Compiled {
    pub(super) fn all(node: &Node, declared: &Declared) -> Vec<Self> {
        if node.rules.is_empty() {
            return Vec::new();
        }
        // The server uses a random number, so that nobody relies on the name.
        let this = declared.r#type("selfType0");
        node.rules.iter().map(|rule| Self::one(rule, node, &this)).collect()
    }

    fn one(rule: &Rule, node: &Node, this: &Type) -> Self {
        let old = if rule.optional_old_self == Some(true) {
            Type::optional(this.clone())
        } else {
            this.clone()
        };
        let this = this.clone();
        let variable = |name, r#type| Variable { name, r#type };
        let scope = Scope {
            variables: vec![variable("self", this), variable("oldSelf", old)],
            mutates: false,
        };
        let blank = rule.rule.trim().is_empty();
        let program = (!blank).then(|| {
            Program::compile(&rule.rule, &scope, &[Type::Bool]).map_err(|refusal| match refusal {
                Refusal::Compilation(issues) => format!("compilation failed: {issues}"),
                Refusal::Type(_) => "cel expression must evaluate to a bool".to_owned(),
                Refusal::Instantiation(why) => format!("program instantiation failed: {why}"),
            })
        });
        let sound = matches!(program, Some(Ok(_)));
        let message = (sound && !rule.message_expression.is_empty()).then(|| {
            Program::compile(&rule.message_expression, &scope, &[Type::String]).map_err(|refusal| match refusal {
                Refusal::Compilation(issues) => format!("messageExpression compilation failed: {issues}"),
                Refusal::Type(_) => "messageExpression must evaluate to a string".to_owned(),
                Refusal::Instantiation(why) => format!("messageExpression instantiation failed: {why}"),
            })
        });
        let field_path = if rule.field_path.is_empty() {
            None
        } else {
            field_path::follow(&rule.field_path, node)
        };
        Self {
            rule: rule.clone(),
            program,
            message,
            field_path,
        }
    }

    pub(super) fn uses_old_self(&self) -> bool {
        matches!(&self.program, Some(Ok(program)) if program.checked.uses("oldSelf"))
    }

    /// The rule's text in causes: its message, or else its expression.
    pub(super) fn title(&self) -> &str {
        if self.rule.message.is_empty() {
            self.rule.rule.trim()
        } else {
            self.rule.message.trim()
        }
    }
}

/// The result of a `messageExpression`, unless it is too long, blank or more than one line.
pub(super) fn usable(message: Result<Val<'_>, Fault>) -> Option<String> {
    let Ok(Val::String(message)) = message else {
        return None;
    };
    let message = message.trim();
    (!message.is_empty() && message.len() <= LONGEST_MESSAGE && !message.contains('\n')).then(|| message.to_owned())
}

impl Rule {
    /// A cause with the rule as its value, which the server prints as JSON of its Go type.
    pub(super) fn invalid(&self, field: &str, detail: &str) -> Cause {
        let text = |text: &str| go::json(&text.into());
        let reason = self.reason.as_deref().map_or("null".to_owned(), text);
        let optional = self
            .optional_old_self
            .map_or("null".to_owned(), |flag| flag.to_string());
        let shown = format!(
            r#"{{"Rule":{},"Message":{},"MessageExpression":{},"Reason":{reason},"FieldPath":{},"OptionalOldSelf":{optional}}}"#,
            text(&self.rule),
            text(&self.message),
            text(&self.message_expression),
            text(&self.field_path),
        );
        let message = format!("Invalid value: {shown}: {detail}");
        Cause {
            reason: "FieldValueInvalid",
            field: field.to_owned(),
            message,
        }
    }
}
