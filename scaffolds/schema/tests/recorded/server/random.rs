//! Random schemas that are mostly valid: most keywords are on a type to which they apply.

use super::cases;
use crate::dice::Dice;
use serde_json::{Map, Value, json};

/// The CRD for a seed.
pub fn crd(seed: u64) -> Value {
    let mut dice = Dice::of(seed);
    let mut crd = cases::base();
    let version = &mut crd["spec"]["versions"][0];
    if dice.once_in(2) {
        version["subresources"] = json!({"status": {}});
    }
    version["schema"]["openAPIV3Schema"]["properties"]["spec"] = node(&mut dice, 0);
    if dice.once_in(3) {
        let root = version["schema"]["openAPIV3Schema"].as_object_mut().unwrap();
        extras(&mut dice, root, 0);
    }
    if dice.once_in(4) {
        let mut other = version.clone();
        other["name"] = "v2".into();
        other["storage"] = json!(false);
        if dice.once_in(2) {
            other["schema"]["openAPIV3Schema"]["properties"]["spec"] = node(&mut dice, 1);
        }
        crd["spec"]["versions"].as_array_mut().unwrap().push(other);
    }
    crd
}

const NAMES: [&str; 6] = ["a", "b", "c", "metadata", "kind", "a.b"];

fn node(dice: &mut Dice, depth: usize) -> Value {
    let mut schema = Map::new();
    let kinds = [
        "string", "integer", "number", "boolean", "object", "array", "object", "array",
    ];
    let kind = dice.pick(&kinds[..if depth > 3 { 4 } else { 8 }]);
    if dice.once_in(20) {
        schema.insert(
            dice.pick(&["x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields"])
                .into(),
            json!(true),
        );
    }
    if !dice.once_in(25) {
        schema.insert("type".into(), kind.into());
    }
    match kind {
        "object" if dice.once_in(3) => _ = schema.insert("additionalProperties".into(), node(dice, depth + 1)),
        "object" => {
            let mut properties = Map::new();
            for _ in 0..1 + dice.below(3) {
                properties.insert(dice.pick(&NAMES).into(), node(dice, depth + 1));
            }
            if dice.once_in(2) {
                schema.insert("required".into(), json!([properties.keys().next()]));
            }
            schema.insert("properties".into(), properties.into());
        }
        "array" if !dice.once_in(15) => _ = schema.insert("items".into(), node(dice, depth + 1)),
        _ => {}
    }
    if dice.once_in(4) {
        extras(dice, &mut schema, depth);
    }
    schema.into()
}

fn extras(dice: &mut Dice, schema: &mut Map<String, Value>, depth: usize) {
    for _ in 0..1 + dice.below(2) {
        let (key, value) = match dice.below(22) {
            0 => ("nullable", json!(true)),
            1 => (
                "x-kubernetes-list-type",
                json!(dice.pick(&["set", "map", "atomic", "heap"])),
            ),
            2 => ("x-kubernetes-list-map-keys", json!([dice.pick(&NAMES)])),
            3 => (
                "x-kubernetes-map-type",
                json!(dice.pick(&["atomic", "granular", "other"])),
            ),
            4 => ("x-kubernetes-embedded-resource", json!(true)),
            5 => ("x-kubernetes-preserve-unknown-fields", json!(dice.once_in(2))),
            6 => ("x-kubernetes-int-or-string", json!(true)),
            7 => ("pattern", json!(dice.pick(&["^a$", "(", "a{2}", "(?=a)"]))),
            8 => (
                "format",
                json!(dice.pick(&["int32", "uint8", "date", "double", "int-or-string"])),
            ),
            9 => ("uniqueItems", json!(dice.once_in(2))),
            10 => ("additionalProperties", json!(dice.once_in(2))),
            11 => ("not", branch(dice, depth)),
            12..=14 => (
                dice.pick(&["allOf", "anyOf", "oneOf"]),
                json!([branch(dice, depth), branch(dice, depth)]),
            ),
            15 => ("description", json!("d")),
            16 => ("title", json!("t")),
            17 => ("minLength", json!(1)),
            18 => ("maxProperties", json!(3)),
            19 => ("enum", json!(["a"])),
            20 => ("$ref", json!("#/a")),
            _ => ("id", json!("a")),
        };
        schema.insert(key.into(), value);
    }
}

fn branch(dice: &mut Dice, depth: usize) -> Value {
    let mut schema = Map::new();
    match dice.below(5) {
        0 => _ = schema.insert("required".into(), json!([dice.pick(&NAMES)])),
        1 => _ = schema.insert("properties".into(), json!({dice.pick(&NAMES): branch(dice, depth + 1)})),
        2 if depth < 4 => _ = schema.insert("items".into(), branch(dice, depth + 1)),
        3 => _ = schema.insert("minimum".into(), json!(1)),
        _ if depth < 4 => extras(dice, &mut schema, depth + 1),
        _ => {}
    }
    schema.into()
}

/// A CRD with fifty random patterns.
pub fn patterns(seed: u64) -> Value {
    const PARTS: [&str; 62] = [
        "a",
        "b",
        "é",
        "0",
        "7",
        "8",
        "x",
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
        "{2,3}",
        "{,3}",
        "{30}",
        "{1001}",
        "{3,2}",
        "(",
        "(",
        ")",
        ")",
        "(?:",
        "(?i)",
        "(?i",
        "(?-s:",
        "(?P<n>",
        "(?<n>",
        "(?<",
        "(?=",
        "|",
        "[",
        "]",
        "[^",
        "a-z",
        "z-a",
        "[:alpha:]",
        "[:no:]",
        "\\",
        "\\d",
        "\\pL",
        "\\p{Lu}",
        "\\p{",
        "\\p{b}",
        "\\pl",
        "\\P{^old italic}",
        "\\p{Title-case_letter}",
        "\\x4",
        "\\x{41}",
        "\\x{",
        "\\Q",
        "\\E",
        "\\b",
        "\\1",
        "\\12",
        "\\-",
    ];
    let mut dice = Dice::of(seed);
    let mut crd = cases::base();
    let mut properties = Map::new();
    for at in 0..50 {
        let pattern: String = (0..1 + dice.below(7)).map(|_| dice.pick(&PARTS)).collect();
        properties.insert(format!("p{at}"), json!({"type": "string", "pattern": pattern}));
    }
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"] = properties.into();
    crd
}
