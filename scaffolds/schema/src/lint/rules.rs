//! The rules of `x-kubernetes-validations` that can be checked without compiling the expressions.

use super::fields;
use kubewright_machinery::cause::{Cause, Path};
use serde_json::{Map, Value};

const REASONS: [&str; 4] = [
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
];

pub(super) fn check(schema: &Map<String, Value>, path: &Path, causes: &mut Vec<Cause>) {
    let rules = schema.get("x-kubernetes-validations").and_then(Value::as_array);
    for (index, rule) in rules.into_iter().flatten().enumerate() {
        let at = path.child("x-kubernetes-validations").index(index);
        let text = |key: &str| rule[key].as_str().unwrap_or_default();
        let (expression, message, field_path) = (text("rule"), text("message"), text("fieldPath"));
        if expression.trim().is_empty() {
            causes.push(at.child("rule").required("rule is not specified"));
        } else if !message.is_empty() && message.trim().is_empty() {
            causes.push(at.child("message").invalid(message, "must be non-empty if specified"));
        } else if has_breaks(message.trim()) {
            causes.push(at.child("message").invalid(message, "must not contain line breaks"));
        } else if has_breaks(expression.trim()) && message.is_empty() {
            causes.push(
                at.child("message")
                    .required("message must be specified if rule contains line breaks"),
            );
        }
        let dynamic = text("messageExpression");
        if !dynamic.is_empty() && dynamic.trim().is_empty() {
            causes.push(
                at.child("messageExpression")
                    .required("messageExpression must be non-empty if specified"),
            );
        }
        if let Some(reason) = rule["reason"].as_str().filter(|reason| !REASONS.contains(reason)) {
            causes.push(at.child("reason").unsupported(reason, &REASONS));
        }
        let at = at.child("fieldPath");
        if !field_path.is_empty() && field_path.trim().is_empty() {
            causes.push(at.invalid(field_path, "must be non-empty if specified"));
        }
        if has_breaks(field_path) {
            causes.push(at.invalid(field_path, "must not contain line breaks"));
        }
        if !field_path.is_empty() && !fields::leads_somewhere(field_path, schema) {
            causes.push(at.invalid(field_path, "must be a valid path"));
        }
    }
}

fn has_breaks(text: &str) -> bool {
    text.contains(['\n', '\r'])
}
