//! The attributes of a field or a type of the project's own kinds: the parts of its schema that do not follow from its Rust type.
//! `make manifests` makes the same schema of both together.

use super::model::Type;
use super::read::QUANTITY;
use serde_json::{Map, Value, json};

type Schema = Map<String, Value>;

/// The function of the module that drops the format of a number.
pub const WITHOUT_FORMAT: &str = "without_format";

/// That function.
pub const DROP_FORMAT: &str = "
fn without_format(schema: &mut schemars::Schema) {
    schema.remove(\"format\");
}
";

const LIST_TYPE: &str = "x-kubernetes-list-type";

/// Keywords that doc comments, the type of the field or the fields of a struct express; the first two belong to any type.
const SAID: [&str; 5] = [
    "description",
    "nullable",
    "properties",
    "required",
    "x-kubernetes-int-or-string",
];

/// The arguments of an attribute, each with the key that it sets.
type Arguments = [(&'static str, &'static str); 2];

/// The bounds that have an attribute of their own: for which types, its name, and its arguments.
const BOUNDS: [(&[&str], &str, Arguments); 3] = [
    (&["string"], "length", [("min", "minLength"), ("max", "maxLength")]),
    (&["array"], "length", [("min", "minItems"), ("max", "maxItems")]),
    (
        &["integer", "number"],
        "range",
        [("min", "minimum"), ("max", "maximum")],
    ),
];

/// `make manifests` writes no other fields for a struct with this attribute. The type itself ignores them.
const CLOSED: &str = "#[schemars(extend(\"additionalProperties\" = false))]";

/// The attributes of a field of this type. `required` is whether the schema around it requires the field.
pub fn of_field(kind: &Type, schema: &Value, required: bool) -> Vec<String> {
    let mut found = Vec::new();
    let kind = match kind {
        Type::Nullable(inner) => {
            if required {
                found.push("#[schemars(required, extend(\"nullable\" = true))]".to_owned());
            }
            inner
        }
        kind => kind,
    };
    // The type of the field has its attributes.
    if !matches!(kind, Type::Named(_)) {
        found.extend(lines_of_field(&said(kind, schema), schema));
    }
    found
}

/// The attributes of a struct with the fields of this schema. `others` is the type of the values under other keys.
pub fn of_struct(schema: &Value, others: Option<&Type>) -> Vec<String> {
    let mut base = json!({"type": "object"});
    let keeps = schema["x-kubernetes-preserve-unknown-fields"] == true;
    let empty = schema["properties"].as_object().is_none_or(Map::is_empty);
    let mut attributes = Vec::new();
    match others {
        // `make manifests` writes this for a struct with fields and a map of any other values.
        Some(_) if keeps && !empty => base["x-kubernetes-preserve-unknown-fields"] = json!(true),
        Some(_) if keeps => attributes.push(CLOSED.to_owned()),
        Some(of) if is_plain(of, &schema["additionalProperties"]) => {
            base["additionalProperties"] = schema["additionalProperties"].clone();
        }
        Some(_) => {}
        // Otherwise an object without fields would be one of any content.
        None if empty => attributes.push(CLOSED.to_owned()),
        None => {}
    }
    attributes.extend(lines(&base, schema));
    let fields = &schema["properties"];
    let names = schema["required"].as_array().into_iter().flatten();
    if names.filter_map(Value::as_str).any(|name| fields[name].is_null()) {
        attributes.push(extend("required", &schema["required"]));
    }
    attributes
}

/// The attributes of an enum of texts.
pub fn of_enum(values: &[&str], schema: &Value) -> Vec<String> {
    lines(&json!({"type": "string", "enum": values}), schema)
}

/// Whether the whole schema follows from the type alone, except descriptions of types with descriptions of their own.
fn is_plain(kind: &Type, schema: &Value) -> bool {
    match kind {
        Type::Named(_) => true,
        Type::Nullable(inner) => is_plain(inner, schema),
        kind => schema["description"].is_null() && lines_of_field(&said(kind, schema), schema).is_empty(),
    }
}

/// The schema that `make manifests` writes for a type without attributes. Items and values are those of `schema` if their
/// type says all of them.
fn said(kind: &Type, schema: &Value) -> Value {
    match kind {
        Type::Bool => json!({"type": "boolean"}),
        Type::I32 => json!({"type": "integer", "format": "int32"}),
        Type::I64 => json!({"type": "integer", "format": "int64"}),
        Type::F64 => json!({"type": "number", "format": "double"}),
        Type::Text => json!({"type": "string"}),
        Type::IntOrString | Type::NumberOrText => json!({"x-kubernetes-int-or-string": true}),
        Type::Quantity => json!({"x-kubernetes-int-or-string": true, "pattern": QUANTITY}),
        Type::Any if is_silent(schema) => json!({"x-kubernetes-preserve-unknown-fields": true}),
        Type::Any => json!({}),
        Type::Named(_) | Type::Condition => schema.clone(),
        Type::Nullable(inner) => said(inner, schema),
        Type::List(item) if **item == Type::Condition => json!({
            "type": "array", "items": schema["items"],
            LIST_TYPE: "map", "x-kubernetes-list-map-keys": ["type"],
        }),
        Type::List(item) => around(item, schema, "array", "items"),
        Type::Map(value) => around(value, schema, "object", "additionalProperties"),
    }
}

fn around(inner: &Type, schema: &Value, kind: &str, key: &str) -> Value {
    let mut base = json!({"type": kind});
    base[key] = match is_plain(inner, &schema[key]) {
        true => schema[key].clone(),
        false => Value::Null,
    };
    base
}

/// Whether a value of any type needs no attributes: `make manifests` completes such a schema.
fn is_silent(schema: &Value) -> bool {
    let says =
        |key: &String| !["description", "nullable", "x-kubernetes-preserve-unknown-fields"].contains(&key.as_str());
    schema.as_object().is_none_or(|schema| !schema.keys().any(says))
}

/// An attribute for each key that differs from `base`.
fn lines(base: &Value, schema: &Value) -> Vec<String> {
    let rest = rest(base, schema);
    rest.iter().map(|(key, value)| extend(key, value)).collect()
}

/// The same for a field, whose bounds have attributes of their own.
fn lines_of_field(base: &Value, schema: &Value) -> Vec<String> {
    let mut rest = rest(base, schema);
    let mut lines = Vec::new();
    for (types, name, keys) in BOUNDS {
        if base["type"].as_str().is_some_and(|kind| types.contains(&kind)) {
            lines.extend(bounds(name, keys, &mut rest));
        }
    }
    if !base["format"].is_null() && schema["format"].is_null() {
        lines.push(format!("#[schemars(transform = {WITHOUT_FORMAT})]"));
    }
    // A list of conditions is a keyed one unless its type is named.
    if !base[LIST_TYPE].is_null() && schema[LIST_TYPE].is_null() {
        lines.push(extend(LIST_TYPE, &json!("atomic")));
    }
    lines.extend(rest.iter().map(|(key, value)| extend(key, value)));
    lines
}

/// The keys of the schema that `base` does not have, or has with other values.
fn rest(base: &Value, schema: &Value) -> Schema {
    let Some(schema) = schema.as_object() else {
        return Schema::new();
    };
    // The Rust type of a value of any type determines no schema.
    let said = if base == &json!({}) { &SAID[..2] } else { &SAID[..] };
    let rest = schema.iter().filter(|(key, value)| {
        !said.contains(&key.as_str()) && base[key.as_str()] != **value && !is_redundant(key, schema)
    });
    rest.map(|(key, value)| (key.clone(), without_redundant(value)))
        .collect()
}

/// A schema without the branches that repeat `x-kubernetes-int-or-string`: the derive would empty them.
fn without_redundant(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, _)| !is_redundant(key, map));
            Value::Object(
                kept.map(|(key, value)| (key.clone(), without_redundant(value)))
                    .collect(),
            )
        }
        Value::Array(list) => list.iter().map(without_redundant).collect(),
        other => other.clone(),
    }
}

/// Whether a key repeats `x-kubernetes-int-or-string`: controller-gen writes both.
pub fn is_redundant(key: &str, schema: &Schema) -> bool {
    let both = json!([{"type": "integer"}, {"type": "string"}]);
    key == "anyOf" && schema.get("x-kubernetes-int-or-string") == Some(&json!(true)) && schema.get(key) == Some(&both)
}

/// Takes two bounds out of the keys: `#[schemars(length(min = 1))]`.
fn bounds(name: &str, keys: Arguments, rest: &mut Schema) -> Option<String> {
    let mut words = Vec::new();
    for (word, key) in keys {
        if rest.get(key).is_some_and(|value| value.is_i64() || value.is_u64())
            && let Some(value) = rest.remove(key)
        {
            words.push(format!("{word} = {}", literal(&value)));
        }
    }
    (!words.is_empty()).then(|| format!("#[schemars({name}({}))]", words.join(", ")))
}

fn extend(key: &str, value: &Value) -> String {
    format!("#[schemars(extend({key:?} = {}))]", literal(value))
}

/// JSON as Rust code inside `extend(…)`: the same but for escapes in texts, and for the types of integers that are not an `i32`,
/// The type that Rust infers for a literal without a suffix.
pub fn literal(value: &Value) -> String {
    match value {
        Value::Number(number) => match (number.as_i64(), number.is_u64()) {
            (Some(small), _) if i32::try_from(small).is_ok() => small.to_string(),
            (Some(large), _) => format!("{large}_i64"),
            (None, true) => format!("{number}_u64"),
            (None, false) => number.to_string(),
        },
        Value::String(text) => format!("{text:?}"),
        Value::Array(list) => format!("[{}]", list.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let entry = |(key, value): (&String, &Value)| format!("{key:?}: {}", literal(value));
            format!("{{{}}}", map.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_needs_attributes_for_what_it_does_not_say() {
        let list = |item| Type::List(Box::new(item));
        let table = [
            (Type::Text, json!({"type": "string", "description": "x"}), vec![]),
            (
                Type::Text,
                json!({"type": "string", "minLength": 1, "maxLength": 3, "pattern": "^\"a\\."}),
                vec!["length(min = 1, max = 3)", r#"extend("pattern" = "^\"a\\.")"#],
            ),
            (
                Type::I64,
                json!({"type": "integer"}),
                vec!["transform = without_format"],
            ),
            (
                Type::I32,
                json!({"type": "integer", "format": "int32", "minimum": -1, "default": 3}),
                vec!["range(min = -1)", r#"extend("default" = 3)"#],
            ),
            (
                Type::F64,
                json!({"type": "number", "format": "float", "maximum": 1.5}),
                vec![r#"extend("format" = "float")"#, r#"extend("maximum" = 1.5)"#],
            ),
            (
                Type::IntOrString,
                json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": "1"}),
                vec![r#"extend("pattern" = "1")"#],
            ),
            (
                Type::Quantity,
                json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": QUANTITY}),
                vec![],
            ),
            (Type::Any, json!({"x-kubernetes-preserve-unknown-fields": true}), vec![]),
            (
                Type::Any,
                json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
                vec![
                    r#"extend("type" = "object")"#,
                    r#"extend("x-kubernetes-preserve-unknown-fields" = true)"#,
                ],
            ),
            (
                list(Type::Text),
                json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set", "minItems": 1}),
                vec!["length(min = 1)", r#"extend("x-kubernetes-list-type" = "set")"#],
            ),
            (
                Type::Map(Box::new(Type::IntOrString)),
                json!({"type": "object", "additionalProperties": {
                    "x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": "1",
                }}),
                vec![r#"extend("additionalProperties" = {"pattern": "1", "x-kubernetes-int-or-string": true})"#],
            ),
            (
                list(Type::Text),
                json!({"type": "array", "items": {"type": "string", "maxLength": 2}}),
                vec![r#"extend("items" = {"maxLength": 2, "type": "string"})"#],
            ),
        ];
        for (kind, schema, wanted) in table {
            let wanted: Vec<_> = wanted.into_iter().map(|it| format!("#[schemars({it})]")).collect();
            assert_eq!(of_field(&kind, &schema, false), wanted, "{schema}");
        }
    }

    #[test]
    fn an_integer_that_is_not_an_i32_has_its_type() {
        let integer = |rest: Value| {
            let mut schema = json!({"type": "integer", "format": "int64"});
            schema
                .as_object_mut()
                .unwrap()
                .extend(rest.as_object().unwrap().clone());
            (Type::I64, schema)
        };
        let text = (Type::Text, json!({"type": "string", "maxLength": 4294967296_u64}));
        let items =
            json!({"type": "array", "items": {"type": "integer", "format": "int64", "maximum": 4294967295_u64}});
        let table = [
            (
                integer(json!({"minimum": i32::MIN, "maximum": i32::MAX})),
                "range(min = -2147483648, max = 2147483647)",
            ),
            (
                integer(json!({"maximum": 2147483648_i64})),
                "range(max = 2147483648_i64)",
            ),
            (
                integer(json!({"minimum": i64::MIN, "maximum": u64::MAX})),
                "range(min = -9223372036854775808_i64, max = 18446744073709551615_u64)",
            ),
            (
                integer(json!({"default": 4294967296_i64})),
                r#"extend("default" = 4294967296_i64)"#,
            ),
            (
                integer(json!({"enum": [1, 4294967296_i64]})),
                r#"extend("enum" = [1, 4294967296_i64])"#,
            ),
            (integer(json!({"maximum": 1e20})), r#"extend("maximum" = 1e+20)"#),
            (text, "length(max = 4294967296_i64)"),
            (
                (Type::List(Box::new(Type::I64)), items),
                r#"extend("items" = {"format": "int64", "maximum": 4294967295_i64, "type": "integer"})"#,
            ),
        ];
        for ((kind, schema), wanted) in table {
            assert_eq!(
                of_field(&kind, &schema, false),
                [format!("#[schemars({wanted})]")],
                "{schema}"
            );
        }
        let of_default = of_struct(
            &json!({"type": "object", "default": {"a": 4294967296_i64}, "properties": {"a": {}}}),
            None,
        );
        assert_eq!(
            of_default,
            [r#"#[schemars(extend("default" = {"a": 4294967296_i64}))]"#]
        );
    }

    #[test]
    fn an_object_without_fields_does_not_become_one_of_any_content() {
        assert_eq!(of_struct(&json!({"type": "object"}), None), [CLOSED]);
    }
}
