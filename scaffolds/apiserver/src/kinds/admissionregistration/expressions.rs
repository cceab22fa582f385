//! The expressions of a policy: match conditions, variables, validations and audit annotations. Those of mutations are next door.

use std::collections::BTreeSet;

use kubewright_schema::policy::{Policy, Purpose, Refused};
use serde_json::{Value, json};

use crate::kinds::{
    faults::{Faults, quoted},
    format::qualified,
    located::Located,
};

const MOST_CONDITIONS: usize = 64;
const MOST_ANNOTATIONS: usize = 20;
/// The longest expression of an audit annotation, in bytes.
const LONGEST_ANNOTATION: usize = 5 * 1024;

/// The reasons that a validation may give.
const REASONS: [&str; 3] = ["Forbidden", "Invalid", "RequestEntityTooLarge"];

/// Words of the expression language that are no names.
const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

/// Validates match conditions, whose expressions `refuse` compiles.
pub(super) fn conditions(at: &Located<'_>, refuse: impl Fn(&str) -> Option<Refused>, faults: &mut Faults) {
    if at.len() > MOST_CONDITIONS {
        faults.too_many(at, MOST_CONDITIONS);
    }
    let mut names = BTreeSet::new();
    for condition in at.items() {
        let (expression, name) = (condition.get("expression"), condition.get("name"));
        let text = expression.str().trim();
        if text.is_empty() {
            faults.required(&expression, "");
        } else if let Some(refused) = refuse(text) {
            note(&expression, text, &refused, faults);
        }
        faults.required_format(&name, qualified);
        if !name.str().is_empty() && !names.insert(name.str()) {
            faults.duplicate(&name);
        }
    }
}

/// Validates the variables. Returns what other expressions are compiled with; `composes` as for [`Policy::new`].
pub(super) fn variables(spec: &Located<'_>, composes: bool, faults: &mut Faults) -> Policy {
    let mut policy = Policy::new(spec.get("paramKind").is_set(), composes);
    let variables = spec.get("variables");
    variables.items().for_each(|at| variable(&at, &mut policy, faults));
    policy
}

/// Validates everything of a ValidatingAdmissionPolicy but the match conditions.
pub(super) fn validate(object: &Located<'_>, faults: &mut Faults) {
    let spec = object.get("spec");
    let policy = variables(&spec, spec.get("variables").len() > 0, faults);
    let (validations, annotations) = (spec.get("validations"), spec.get("auditAnnotations"));
    if validations.len() == 0 && annotations.len() == 0 {
        for at in [&validations, &annotations] {
            faults.required(at, "validations or auditAnnotations must contain at least one item");
        }
    }
    validations.items().for_each(|at| validation(&at, &policy, faults));
    audit(&annotations, object.at("metadata.name").str(), &policy, faults);
}

/// Notes that an expression is refused.
pub(super) fn note(at: &Located<'_>, shown: &str, refused: &Refused, faults: &mut Faults) {
    match refused {
        Refused::Invalid(why) => faults.invalid_as(at, &quoted(shown), why),
        Refused::Internal(why) => faults.internal(at, why),
    }
}

fn variable(at: &Located<'_>, policy: &mut Policy, faults: &mut Faults) {
    let (name, expression) = (at.get("name"), at.get("expression"));
    if name.str().trim().is_empty() {
        faults.required(&name, "name is not specified");
    } else if !is_identifier(name.str()) {
        faults.invalid(&name, "must be a valid CEL identifier");
    }
    if expression.str().trim().is_empty() {
        faults.required(&expression, "expression is not specified");
    } else if let Err(refused) = policy.add(name.str(), expression.str()) {
        note(&expression, expression.str(), &refused, faults);
    }
}

fn is_identifier(name: &str) -> bool {
    let is_inner = |c: char| c == '_' || c.is_ascii_alphanumeric();
    name.chars().all(is_inner) && !name.starts_with(|c: char| c.is_ascii_digit()) && !RESERVED.contains(&name)
}

fn validation(at: &Located<'_>, policy: &Policy, faults: &mut Faults) {
    let (expression, message) = (at.get("expression"), at.get("messageExpression"));
    if expression.str().trim().is_empty() {
        faults.required(&expression, "expression is not specified");
    } else if let Err(refused) = policy.compile(Purpose::Condition, expression.str()) {
        note(&expression, expression.str(), &refused, faults);
    }
    if message.str().trim().is_empty() {
        if !message.str().is_empty() {
            faults.invalid(&message, "must be non-empty if specified");
        }
    } else if let Err(refused) = policy.compile(Purpose::Message, message.str()) {
        note(&message, message.str(), &refused, faults);
    }
    texts(at, faults);
}

fn texts(at: &Located<'_>, faults: &mut Faults) {
    let (message, reason) = (at.get("message"), at.get("reason"));
    let text = message.str().trim();
    if !message.str().is_empty() && text.is_empty() {
        faults.invalid(&message, "must be non-empty if specified");
    } else if text.contains(['\n', '\r']) {
        faults.invalid(&message, "must not contain line breaks");
    }
    if reason.is_set() {
        faults.one_of(&reason, &REASONS);
    }
}

fn audit(at: &Located<'_>, policy_name: &str, policy: &Policy, faults: &mut Faults) {
    if at.len() > MOST_ANNOTATIONS {
        let fields = |item: Located<'_>| {
            let (key, value) = (item.get("key").str(), item.get("valueExpression").str());
            json!({"Key": key, "ValueExpression": value})
        };
        let shown = Value::Array(at.items().map(fields).collect()).to_string();
        let detail = format!("must not have more than {MOST_ANNOTATIONS} auditAnnotations");
        faults.invalid_as(at, &shown, &detail);
    }
    let mut keys = BTreeSet::new();
    for item in at.items() {
        let (key, value) = (item.get("key"), item.get("valueExpression"));
        let full = format!("{policy_name}/{}", key.str());
        for wrong in qualified(&full) {
            faults.invalid_as(&key, &quoted(&full), &wrong);
        }
        let text = value.str().trim();
        if text.is_empty() {
            faults.required(&value, "valueExpression is not specified");
        } else if text.len() > LONGEST_ANNOTATION {
            let detail = format!("must not exceed {LONGEST_ANNOTATION} bytes in length");
            faults.required(&value, &detail);
        } else if let Err(refused) = policy.compile(Purpose::Annotation, text) {
            note(&value, value.str(), &refused, faults);
        }
        if !keys.insert(key.str()) {
            faults.duplicate(&key);
        }
    }
}
