//! Random schemas with the extensions of Kubernetes: validation rules, some of them transition rules, embedded
//! objects, atomic lists and maps, lists with several keys.

use super::{Case, Place, Try, dice::Dice, random};
use serde_json::{Map, Value, json};

/// The case for a seed: some new values, and more updates.
pub fn case(seed: u64) -> Case {
    let mut dice = Dice::of(seed);
    let mut schema = random::node(&mut dice, 0);
    enrich(&mut dice, &mut schema, 0);
    // Cases with rules share a definition, so each gets a rule.
    if !schema.to_string().contains("x-kubernetes-validations") {
        schema["x-kubernetes-validations"] = json!([{"rule": "self == self"}]);
    }
    let mut tries = Vec::new();
    for at in 0..7 {
        let value = random::value(&mut dice, &schema, 0);
        let old = (at >= 3).then_some(value.clone());
        let value = match &old {
            Some(old) => random::changed(&mut dice, old, &schema, 0),
            None => value,
        };
        tries.push(Try { value, old });
    }
    Case {
        name: format!("random rules {seed:05}"),
        schema,
        place: Place::Spec,
        tries,
    }
}

/// Adds extensions to a schema and the schemas in it.
fn enrich(dice: &mut Dice, schema: &mut Value, depth: usize) {
    let Some(node) = schema.as_object_mut() else { return };
    if depth > 0 && dice.once_in(12) {
        *schema = embedded(dice);
        return;
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = node.get_mut(key) {
            enrich(dice, inner, depth + 1);
        }
    }
    let properties = node.get_mut("properties").and_then(Value::as_object_mut);
    for (name, inner) in properties.into_iter().flatten() {
        // `a` may be the key of a list, which has to stay a scalar.
        if name != "a" || depth == 0 {
            enrich(dice, inner, depth + 1);
        }
    }
    // Go's message for an invalid date is not compared; with rules it would also occur for old values.
    if node.get("format") == Some(&json!("date")) {
        node.remove("format");
    }
    topology(dice, node);
    if dice.once_in(3) {
        let rules: Vec<Value> = (0..1 + dice.below(2)).map(|_| rule(dice, node)).collect();
        node.insert("x-kubernetes-validations".into(), rules.into());
    }
}

/// Adds list types and map types.
fn topology(dice: &mut Dice, node: &mut Map<String, Value>) {
    match node.get("x-kubernetes-list-type").and_then(Value::as_str) {
        Some("map") if dice.once_in(2) => {
            let items = &mut node["items"];
            items["properties"]["b"] = json!({"type": "string", "default": dice.pick(&["a", "b"])});
            node.insert("x-kubernetes-list-map-keys".into(), json!(["a", "b"]));
        }
        None if node.contains_key("items") && dice.once_in(4) => {
            node.insert("x-kubernetes-list-type".into(), json!("atomic"));
        }
        None if node.get("type") == Some(&json!("object")) && dice.once_in(6) => {
            node.insert(
                "x-kubernetes-map-type".into(),
                json!(dice.pick(&["atomic", "granular"])),
            );
        }
        _ => {}
    }
}

fn embedded(dice: &mut Dice) -> Value {
    let mut schema = json!({"type": "object", "x-kubernetes-embedded-resource": true});
    if dice.once_in(2) {
        schema["x-kubernetes-preserve-unknown-fields"] = json!(true);
    } else {
        schema["properties"] = json!({"spec": random::node(dice, 2)});
    }
    if dice.once_in(3) {
        schema["x-kubernetes-validations"] =
            json!([{"rule": dice.pick(&["self.kind != 'Foo'", "self.metadata.name != 'a'", "self == oldSelf"])}]);
    }
    schema
}

/// A rule that usually fits the node's type.
fn rule(dice: &mut Dice, node: &Map<String, Value>) -> Value {
    let kind = match node.get("type").and_then(Value::as_str) {
        None => "any",
        Some("object") if node.contains_key("additionalProperties") => "map",
        Some("array") if node.contains_key("x-kubernetes-list-map-keys") => "keyed",
        // A union of sets with items that do not match the schema is a set of errors.
        Some("array") if node.get("x-kubernetes-list-type") == Some(&json!("set")) => "set",
        Some(kind) => kind,
    };
    let text = match kind {
        "string" => dice.pick(&STRINGS).to_owned(),
        "integer" => dice.pick(&INTEGERS).to_owned(),
        "number" => dice
            .pick(&["self > 1.5", "self >= oldSelf", "int(self) < 3"])
            .to_owned(),
        "boolean" => dice.pick(&["self", "self == oldSelf", "!self || oldSelf"]).to_owned(),
        "set" => dice.pick(&LISTS[..4]).to_owned(),
        "array" => dice.pick(&LISTS).to_owned(),
        "keyed" => dice.pick(&KEYED).to_owned(),
        "map" => dice.pick(&MAPS).to_owned(),
        "object" => about_properties(dice, node),
        _ => dice.pick(&ANY).to_owned(),
    };
    let mut rule = json!({"rule": text});
    if dice.once_in(8) {
        rule = json!({"rule": "!oldSelf.hasValue() || self == oldSelf.value()", "optionalOldSelf": true});
    }
    match dice.below(8) {
        0 => rule["message"] = json!("not so"),
        1 => rule["messageExpression"] = json!(dice.pick(&["'is ' + string(self)", "'has ' + string(size(self))"])),
        2 => rule["reason"] = json!(dice.pick(&["FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate"])),
        3 if kind == "object" => rule["fieldPath"] = json!(format!(".{}", name(dice, node))),
        _ => {}
    }
    rule
}

const STRINGS: [&str; 7] = [
    "self != 'b'",
    "self.size() <= 2",
    "self.matches('^[a-c]*$')",
    "self == oldSelf",
    "oldSelf == '' || self != ''",
    "self < 'b'",
    "int(self) > 0",
];
const INTEGERS: [&str; 6] = [
    "self > 1",
    "self >= oldSelf",
    "self % 2 == 0",
    "10 / self > 2",
    "self in [1, 2, 3]",
    "self != oldSelf || self < 3",
];
const LISTS: [&str; 6] = [
    "self.size() < 3",
    "self.size() >= oldSelf.size()",
    "self.all(x, self.filter(y, y == x).size() == 1)",
    "self == oldSelf",
    "self[0] == self[1]",
    "self + self == oldSelf + self",
];
const KEYED: [&str; 5] = [
    "self.all(x, has(x.a))",
    "oldSelf.all(x, self.exists(y, y.a == x.a))",
    "self.exists_one(x, x.a == self[0].a)",
    "self == oldSelf",
    "self.map(x, x.a).size() < 3",
];
const MAPS: [&str; 5] = [
    "self.all(k, k != 'a')",
    "self.size() < 3",
    "'a' in self || 'b' in self",
    "oldSelf.all(k, k in self)",
    "self == oldSelf",
];
const ANY: [&str; 4] = [
    "type(self) == int ? self > 1 : self != ''",
    "string(self) != 'a'",
    "self == oldSelf",
    "dyn(self) != 2",
];

fn about_properties(dice: &mut Dice, node: &Map<String, Value>) -> String {
    let (one, other) = (name(dice, node), name(dice, node));
    match dice.below(6) {
        0 => format!("has(self.{one})"),
        1 => format!("has(self.{one}) == has(self.{other})"),
        2 => format!("has(self.{one}) || !has(oldSelf.{one})"),
        3 => format!("!has(self.{one}) || !has(oldSelf.{one}) || self.{one} == oldSelf.{one}"),
        4 => format!("self.?{one}.hasValue()"),
        _ => "self == oldSelf".to_owned(),
    }
}

/// The name of one of the properties, or of none.
fn name(dice: &mut Dice, node: &Map<String, Value>) -> String {
    let properties = node.get("properties").and_then(Value::as_object);
    let names: Vec<_> = properties.into_iter().flatten().map(|(name, _)| name.clone()).collect();
    if names.is_empty() || dice.once_in(20) {
        "a".to_owned()
    } else {
        dice.pick(&names)
    }
}
