//! Rules in the Common Expression Language.

use kubewright_cel::{Rules, check as check_rules};
use serde_json::{Value, json};

use crate::parts;

/// A rule, an object and what it was before: the rule is parsed, checked, priced and run, and none of that panics or goes
/// on for longer than a server's budget lets it.
pub fn cel(bytes: &[u8]) {
    let parts = parts::split(bytes, 3);
    let rule = String::from_utf8_lossy(parts[0]);
    let mut objects = parts[1..].iter().map(|part| read(part));
    let object = objects
        .next()
        .unwrap_or_else(|| json!({"spec": {"s": "text", "n": 3, "l": ["a", "b"], "m": {"k": 1}}}));
    let old = objects.next();
    for schema in [as_rule(&rule), as_message(&rule)] {
        _ = check_rules(&schema, "spec.validation.openAPIV3Schema", &[]);
        let Some(rules) = Rules::compile(&schema) else { continue };
        _ = rules.evaluate(&object, old.as_ref());
        _ = rules.evaluate(&object, Some(&object));
    }
}

fn read(part: &[u8]) -> Value {
    let read = kubewright_apiserver::testing::json::read(part);
    read.map(|(value, _)| value).unwrap_or_default()
}

fn as_rule(rule: &str) -> Value {
    schema(&json!({"rule": rule}))
}

fn as_message(rule: &str) -> Value {
    schema(&json!({"rule": "false", "messageExpression": rule}))
}

/// One field of each type, so that a rule has something to be about.
fn schema(rule: &Value) -> Value {
    json!({"type": "object", "properties": {"spec": {
        "type": "object", "x-kubernetes-validations": [rule], "properties": {
            "s": {"type": "string", "maxLength": 64}, "n": {"type": "integer"}, "f": {"type": "number"}, "b": {"type": "boolean"},
            "d": {"type": "string", "format": "date-time"}, "t": {"type": "string", "format": "duration"},
            "y": {"type": "string", "format": "byte"}, "x": {"x-kubernetes-int-or-string": true},
            "l": {"type": "array", "maxItems": 8, "items": {"type": "string", "maxLength": 16}},
            "e": {"type": "array", "maxItems": 8, "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
            "k": {"type": "array", "maxItems": 8, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {
                "type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "v": {"type": "integer"}}}},
            "m": {"type": "object", "maxProperties": 8, "additionalProperties": {"type": "integer"}},
            "o": {"type": "object", "properties": {"p": {"type": "string", "nullable": true}}}}}}})
}
