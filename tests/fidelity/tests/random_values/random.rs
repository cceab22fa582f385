//! Random schemas, and values that usually match them.

use super::{Case, Place, Try, dice::Dice};
use serde_json::{Map, Value, json};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const TEXTS: [&str; 8] = ["", "a", "b", "ab", "abc", "xyz", "2024-01-01", "é"];

/// The case for a seed: some new values, and some updates.
pub fn case(seed: u64) -> Case {
    let mut dice = Dice::of(seed);
    let schema = node(&mut dice, 0);
    let mut tries: Vec<Try> = (0..4)
        .map(|_| Try {
            value: value(&mut dice, &schema, 0),
            old: None,
        })
        .collect();
    for _ in 0..3 {
        let old = value(&mut dice, &schema, 0);
        let value = changed(&mut dice, &old, &schema, 0);
        tries.push(Try { value, old: Some(old) });
    }
    Case {
        name: format!("random {seed:04}"),
        schema,
        place: Place::Spec,
        tries,
    }
}

pub fn node(dice: &mut Dice, depth: usize) -> Value {
    let kinds = [
        "string",
        "integer",
        "number",
        "boolean",
        "any",
        "int-or-string",
        "object",
        "array",
        "map",
        "object",
        "keyed",
        "set",
    ];
    let kind = dice.pick(&kinds[if depth == 0 { 6 } else { 0 }..if depth > 2 { 6 } else { 12 }]);
    let mut schema = match kind {
        "any" => json!({"x-kubernetes-preserve-unknown-fields": true}),
        "int-or-string" => json!({"x-kubernetes-int-or-string": true}),
        "object" => object(dice, depth),
        "array" => json!({"type": "array", "items": node(dice, depth + 1)}),
        "map" => json!({"type": "object", "additionalProperties": node(dice, depth + 1)}),
        "keyed" => keyed(dice, depth),
        "set" => {
            json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": dice.pick(&["string", "integer"])}})
        }
        kind => json!({"type": kind}),
    };
    let map = schema.as_object_mut().unwrap();
    for _ in 0..dice.below(3) {
        rule(dice, map, kind);
    }
    if dice.once_in(6) {
        let branches: Vec<Value> = (0..1 + dice.below(3)).map(|_| branch(dice, map, kind)).collect();
        map.insert(dice.pick(&["allOf", "anyOf", "oneOf"]).into(), branches.into());
    }
    if dice.once_in(20) {
        let branch = branch(dice, map, kind);
        map.insert("not".into(), branch);
    }
    if dice.once_in(8) {
        map.insert("nullable".into(), json!(true));
    }
    if depth > 0 && dice.once_in(4) {
        let default = value(dice, &Value::Object(map.clone()), depth + 1);
        map.insert("default".into(), default);
    }
    schema
}

fn object(dice: &mut Dice, depth: usize) -> Value {
    let mut properties = Map::new();
    for _ in 0..1 + dice.below(3) {
        properties.insert(dice.pick(&NAMES).into(), node(dice, depth + 1));
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if dice.once_in(3) {
        schema["required"] = json!([dice.pick(&NAMES)]);
    }
    if dice.once_in(6) {
        schema["x-kubernetes-preserve-unknown-fields"] = json!(true);
    }
    schema
}

fn keyed(dice: &mut Dice, depth: usize) -> Value {
    let mut items = object(dice, depth + 1);
    items["properties"]["a"] = json!({"type": dice.pick(&["string", "integer"])});
    items["required"] = json!(["a"]);
    json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"], "items": items})
}

/// Adds a keyword that usually applies to values of this type.
fn rule(dice: &mut Dice, schema: &mut Map<String, Value>, kind: &str) {
    let kind = if dice.once_in(10) { "" } else { kind };
    let (key, value) = match kind {
        "string" | "int-or-string" => match dice.below(5) {
            0 => ("minLength", json!(dice.below(3))),
            1 => ("maxLength", json!(dice.below(4))),
            2 => ("pattern", json!(dice.pick(&["^a", "b$", "^[a-c]*$", r"^\d"]))),
            3 => ("format", json!(dice.pick(&["date", "uri", "byte", "int32"]))),
            _ => ("enum", json!([dice.pick(&TEXTS), "ab"])),
        },
        "integer" | "number" => match dice.below(5) {
            0 => ("minimum", json!(dice.below(5))),
            1 => ("maximum", json!(dice.below(9) as f64 / 2.0)),
            2 => ("multipleOf", json!(dice.pick(&[1.0, 2.0, 0.5]))),
            3 => ("enum", json!([1, 2.5])),
            _ => ("exclusiveMinimum", json!(true)),
        },
        "array" | "keyed" | "set" => match dice.below(2) {
            0 => ("minItems", json!(dice.below(3))),
            _ => ("maxItems", json!(dice.below(3))),
        },
        "object" | "map" => match dice.below(3) {
            0 => ("minProperties", json!(dice.below(3))),
            1 => ("maxProperties", json!(dice.below(3))),
            _ => ("required", json!([dice.pick(&NAMES)])),
        },
        _ => match dice.below(3) {
            0 => ("enum", json!([true, "a", 1, {"a": 1}])),
            1 => ("minLength", json!(2)),
            _ => ("maximum", json!(2)),
        },
    };
    schema.insert(key.into(), value);
}

/// A branch of a junctor: constraints of the value, or of properties that the structure specifies.
fn branch(dice: &mut Dice, schema: &Map<String, Value>, kind: &str) -> Value {
    let mut branch = Map::new();
    rule(dice, &mut branch, kind);
    if let Some(properties) = schema.get("properties").and_then(Value::as_object)
        && dice.once_in(2)
    {
        let name = dice.pick(&properties.keys().cloned().collect::<Vec<_>>());
        let kind = properties[&name]["type"].as_str().unwrap_or_default().to_owned();
        let mut inner = Map::new();
        rule(dice, &mut inner, &kind);
        branch.insert("properties".into(), json!({name: inner}));
    }
    branch.into()
}

pub fn value(dice: &mut Dice, schema: &Value, depth: usize) -> Value {
    if dice.once_in(15) {
        return anything(dice, depth);
    }
    if schema["x-kubernetes-embedded-resource"] == true {
        return embedded(dice, schema, depth);
    }
    match schema["type"].as_str() {
        Some("string") => json!(dice.pick(&TEXTS)),
        Some("integer") => json!(dice.below(6)),
        Some("number") if dice.once_in(2) => json!(dice.below(12) as f64 / 2.0),
        Some("number") => json!(dice.below(6)),
        Some("boolean") => json!(dice.once_in(2)),
        Some("array") => (0..dice.below(4))
            .map(|_| value(dice, &schema["items"], depth + 1))
            .collect(),
        Some("object") if schema["additionalProperties"].is_object() => (0..dice.below(3))
            .map(|_| {
                (
                    dice.pick(&NAMES).to_owned(),
                    value(dice, &schema["additionalProperties"], depth + 1),
                )
            })
            .collect::<Map<_, _>>()
            .into(),
        Some("object") => {
            let mut object = Map::new();
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                if !dice.once_in(4) {
                    object.insert(name.clone(), value(dice, property, depth + 1));
                }
            }
            if dice.once_in(6) {
                object.insert(dice.pick(&NAMES).into(), anything(dice, depth + 1));
            }
            object.into()
        }
        _ => anything(dice, depth),
    }
}

/// A Kubernetes object, sometimes with an error.
fn embedded(dice: &mut Dice, schema: &Value, depth: usize) -> Value {
    let mut object = json!({
        "apiVersion": dice.pick(&["v1", "apps/v1", "a/b/c"]), "kind": dice.pick(&["Pod", "Foo"]),
        "metadata": {"name": dice.pick(&["a", "b", "A_"]), "labels": {"a": dice.pick(&["b", "b c"])}},
    });
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        object[name] = value(dice, property, depth + 1);
    }
    match dice.below(8) {
        0 => object["metadata"] = anything(dice, depth + 1),
        1 => object["kind"] = anything(dice, depth + 1),
        2 => object["metadata"]["annotations"] = anything(dice, depth + 1),
        3 => object["metadata"]["unknown"] = anything(dice, depth + 1),
        4 => object["extra"] = anything(dice, depth + 1),
        5 => _ = object.as_object_mut().unwrap().remove("apiVersion"),
        _ => {}
    }
    object
}

fn anything(dice: &mut Dice, depth: usize) -> Value {
    match dice.below(if depth > 3 { 6 } else { 8 }) {
        0 => Value::Null,
        1 => json!(dice.once_in(2)),
        2 => json!(dice.below(4)),
        3 => json!(dice.below(9) as f64 / 2.0),
        4 | 5 => json!(dice.pick(&TEXTS)),
        6 => (0..dice.below(3)).map(|_| anything(dice, depth + 1)).collect(),
        _ => json!({dice.pick(&NAMES): anything(dice, depth + 1)}),
    }
}

/// The value with a part of it changed.
pub fn changed(dice: &mut Dice, old: &Value, schema: &Value, depth: usize) -> Value {
    if dice.once_in(4) {
        return value(dice, schema, depth);
    }
    let mut new = old.clone();
    match &mut new {
        Value::Array(list) if !list.is_empty() => {
            if dice.once_in(3) {
                list.reverse();
            }
            let at = dice.below(list.len());
            list[at] = changed(dice, &list[at].clone(), &schema["items"], depth + 1);
        }
        Value::Object(object) if !object.is_empty() => {
            let name = dice.pick(&object.keys().cloned().collect::<Vec<_>>());
            let schema = schema["properties"]
                .get(&name)
                .unwrap_or(&schema["additionalProperties"]);
            let value = changed(dice, &object[&name].clone(), schema, depth + 1);
            object.insert(name, value);
        }
        _ => {}
    }
    new
}

/// For each format, random texts of characters that occur in it.
pub fn formats(seed: u64) -> Vec<Case> {
    const PARTS: [(&str, &[&str]); 14] = [
        (
            "uri",
            &[
                "http", "a", ":", "/", "//", "?", "#", "%", "%41", "%c3", "[", "]", "::1", "@", "80", " ", "é", "\"",
                "<", "*", ".", "-", "1",
            ],
        ),
        (
            "email",
            &[
                "a",
                "b",
                ".",
                "@",
                " ",
                "\"",
                "<",
                ">",
                "(",
                ")",
                ",",
                ":",
                ";",
                "[",
                "]",
                "1.2.3.4",
                "\\",
                "é",
                "=?utf-8?q?a?=",
            ],
        ),
        (
            "hostname",
            &[
                "a",
                "B",
                "1",
                "-",
                ".",
                "_",
                "é",
                "☃",
                "com",
                "日",
                " ",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            ],
        ),
        (
            "ipv4",
            &["1", "0", "01", "255", "256", ".", ".", ".", ":", "::", "ffff", "/8"],
        ),
        (
            "ipv6",
            &["1", "0", "ffff", "00001", ":", ":", ":", "::", "1.2.3.4", "%e", "g"],
        ),
        (
            "cidr",
            &[
                "1.2.3.4", "10.0.0.0", "::1", "::", "/", "/", "8", "08", "32", "33", "128", "129", "+",
            ],
        ),
        (
            "mac",
            &[
                "00",
                "aB",
                "11:22",
                "33-44",
                "5566.",
                "0011",
                ":",
                "-",
                ".",
                "g",
                "00:11:22:33:44:55",
            ],
        ),
        (
            "date",
            &[
                "2024", "1900", "2000", "-", "-", "02", "29", "30", "12", "31", "00", "1", "T",
            ],
        ),
        (
            "date-time",
            &[
                "2024-02-29",
                "T",
                "t",
                "00:00:00",
                "23:59:59",
                "24:00:00",
                "Z",
                "z",
                "+01:00",
                "-1:00",
                ".5",
                ".",
                ",1",
                "é",
            ],
        ),
        (
            "duration",
            &[
                "1",
                "22",
                ".",
                "-",
                "+",
                "h",
                "m",
                "s",
                "ms",
                "ns",
                "µs",
                "μs",
                " ",
                "d",
                "days",
                "week",
                "x",
                "9223372036854775807",
                "0",
                "Min",
            ],
        ),
        (
            "uuid4",
            &[
                "123e4567",
                "-",
                "e89b",
                "42d3",
                "a456",
                "0456",
                "426614174000",
                "123E4567-E89B-42D3-A456-426614174000",
                "g",
            ],
        ),
        ("byte", &["YQ", "==", "=", "YWJj", "+", "/", "-", "_", "é", " "]),
        (
            "rgbcolor",
            &["rgb(", "0", "25", "255", "256", ",", " ", ")", "01", "rgb(1,2,3)", "\t"],
        ),
        (
            "creditcard",
            &[
                "4220",
                "8554",
                "2622",
                "2389",
                "5139288802098206",
                "374953669708156",
                "-",
                " ",
                "x",
                "3",
            ],
        ),
    ];
    let mut dice = Dice::of(seed);
    let mut texts = |name: &str, parts: &[&str]| {
        let text = |dice: &mut Dice| -> String { (0..1 + dice.below(7)).map(|_| dice.pick(parts)).collect() };
        let values = (0..20).map(|_| json!(text(&mut dice)));
        Case {
            name: format!("random texts of {name} {seed}"),
            schema: json!({"type": "string", "format": name}),
            place: Place::Spec,
            tries: values.map(|value| Try { value, old: None }).collect(),
        }
    };
    PARTS.iter().map(|(name, parts)| texts(name, parts)).collect()
}

/// A pattern, and texts of characters that occur in it.
pub fn pattern(seed: u64) -> Case {
    const PARTS: [&str; 48] = [
        "a",
        "b",
        "é",
        "0",
        "7",
        "_",
        "-",
        "^",
        "$",
        ".",
        "*",
        "+",
        "?",
        "{",
        "}",
        "{2}",
        "{2,}",
        "{,3}",
        "{0,2}",
        "(",
        "(",
        ")",
        ")",
        "(?:",
        "(?i)",
        "(?s)",
        "(?U)",
        "(?-s:",
        "(?P<n>",
        "|",
        "[",
        "]",
        "[^",
        "a-z",
        "[:alpha:]",
        "[:^word:]",
        "\\d",
        "\\W",
        "\\pL",
        "\\P{Lu}",
        "\\x{41}",
        "\\Qa.b\\E",
        "\\b",
        "\\B",
        "\\12",
        "&&",
        "--",
        "~",
    ];
    const TEXTS: [&str; 20] = [
        "a", "b", "é", "É", "0", "7", "_", "-", "\n", ".", "A", "B", "z", "{", "}", "&", "K", "\u{212a}", "ſ", "a.b",
    ];
    let mut dice = Dice::of(seed);
    let pattern: String = (0..1 + dice.below(7)).map(|_| dice.pick(&PARTS)).collect();
    let texts = (0..8).map(|_| (0..dice.below(5)).map(|_| dice.pick(&TEXTS)).collect::<String>());
    Case {
        name: format!("random pattern {seed:05}"),
        schema: json!({"type": "string", "pattern": pattern}),
        place: Place::Spec,
        tries: texts
            .map(|text| Try {
                value: json!(text),
                old: None,
            })
            .collect(),
    }
}
