//! The constraints of a schema, in words.

use super::markdown::{code, codes, prose};
use super::{is, list, text};
use serde_json::Value;

/// The type, for one value.
pub fn name(schema: &Value) -> String {
    if is(schema, "/x-kubernetes-int-or-string") {
        return "integer or string".to_owned();
    }
    if is(schema, "/x-kubernetes-embedded-resource") {
        return "object of Kubernetes".to_owned();
    }
    let format = text(schema, "/format");
    match text(schema, "/type") {
        "array" => format!("list of {}", plural(&schema["items"])),
        "object" => match schema.get("additionalProperties") {
            Some(values @ Value::Object(_)) => format!("map of {}", plural(values)),
            _ if holds_anything(schema) => "object with any fields".to_owned(),
            _ => "object".to_owned(),
        },
        "" => "anything".to_owned(),
        plain if format.is_empty() => plain.to_owned(),
        plain => format!("{plain} ({format})"),
    }
}

fn plural(schema: &Value) -> String {
    let name = name(schema);
    for plain in ["list", "map", "object", "string", "integer", "number", "boolean"] {
        if let Some(rest) = name.strip_prefix(plain).filter(|rest| !rest.starts_with(" or")) {
            return format!("{plain}s{rest}");
        }
    }
    match name.as_str() {
        "integer or string" => "integers or strings".to_owned(),
        _ => name,
    }
}

fn holds_anything(schema: &Value) -> bool {
    is(schema, "/x-kubernetes-preserve-unknown-fields") && schema.get("properties").is_none()
}

/// The checks of the API server beyond the type of a value, and its defaults.
pub fn checks(schema: &Value) -> Vec<String> {
    let mut checks = Vec::new();
    if let Some(default) = schema.get("default") {
        checks.push(format!("default {}", code(&default.to_string())));
    }
    let choices: Vec<_> = list(schema, "/enum").map(Value::to_string).collect();
    if !choices.is_empty() {
        let choices: Vec<_> = choices.iter().map(String::as_str).collect();
        checks.push(format!("one of {}", codes(&choices)));
    }
    checks.extend(limits(schema));
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        checks.push(format!("matches {}", code(pattern)));
    }
    match text(schema, "/x-kubernetes-list-type") {
        "set" => checks.push("no duplicates".to_owned()),
        "map" => {
            let keys: Vec<_> = list(schema, "/x-kubernetes-list-map-keys")
                .filter_map(Value::as_str)
                .collect();
            checks.push(format!("one item for each {}", codes(&keys)));
        }
        _ => {}
    }
    if is(schema, "/nullable") {
        checks.push("may be null".to_owned());
    }
    checks.extend(rules(schema));
    for part in ["items", "additionalProperties"] {
        let each = schema.get(part).filter(|part| part.is_object());
        checks.extend(each.into_iter().flat_map(checks_of_each));
    }
    checks
}

/// A default of a list's items is set only where an item is null, so it is left out.
fn checks_of_each(schema: &Value) -> Vec<String> {
    let checks = checks(schema).into_iter().filter(|it| !it.starts_with("default "));
    checks.map(|check| format!("each: {check}")).collect()
}

/// The validation rules: their messages, or themselves.
pub fn rules(schema: &Value) -> Vec<String> {
    list(schema, "/x-kubernetes-validations")
        .map(|rule| match text(rule, "/message") {
            "" => code(text(rule, "/rule")),
            message => prose(message),
        })
        .collect()
}

/// The limits of numbers, lengths and counts.
fn limits(schema: &Value) -> Vec<String> {
    let number = |key: &str| schema.get(key).filter(|it| it.is_number()).map(Value::to_string);
    let range = |least: &str, most: &str, unit: &str| match (number(least), number(most)) {
        (Some(least), Some(most)) if least == most => Some(format!("{least}{unit}")),
        (Some(least), Some(most)) => Some(format!("{least} to {most}{unit}")),
        (Some(least), None) => Some(format!("{least}{unit} or more")),
        (None, Some(most)) => Some(format!("{most}{unit} or less")),
        (None, None) => None,
    };
    let mut limits: Vec<_> = [
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
        ("minProperties", "maxProperties", " entries"),
    ]
    .into_iter()
    .filter_map(|(least, most, unit)| range(least, most, unit))
    .collect();
    match (is(schema, "/exclusiveMinimum"), is(schema, "/exclusiveMaximum")) {
        (false, false) => limits.extend(range("minimum", "maximum", "")),
        (above, below) => {
            let bound = |key: &str, strict: bool, than: &str, or: &str| {
                number(key).map(|it| {
                    if strict {
                        format!("{than} {it}")
                    } else {
                        format!("{it} {or}")
                    }
                })
            };
            limits.extend(bound("minimum", above, "more than", "or more"));
            limits.extend(bound("maximum", below, "less than", "or less"));
        }
    }
    limits.extend(number("multipleOf").map(|it| format!("a multiple of {it}")));
    limits
}
