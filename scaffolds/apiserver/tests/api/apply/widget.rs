//! A custom kind with every type of list and map, and random objects of it.

use serde_json::{Map, Value, json};

use super::dice::Dice;

/// Its schema.
pub fn schema() -> Value {
    let inner = json!({"type": "object", "required": ["id"], "properties": {
        "id": {"type": "integer"}, "text": {"type": "string"},
    }});
    let nested = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"},
        "marks": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "inner": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"], "items": inner},
    }});
    let port = json!({"type": "object", "required": ["port"], "properties": {
        "port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"}, "name": {"type": "string"},
        "extra": {"type": "object", "additionalProperties": {"type": "string"}},
    }});
    let spec = json!({"type": "object", "properties": {
        "size": {"type": "integer"},
        "ratio": {"type": "number"},
        "on": {"type": "boolean"},
        "when": {"type": "string", "format": "date-time"},
        "either": {"x-kubernetes-int-or-string": true},
        "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "numbers": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
        "plain": {"type": "array", "items": {"type": "string"}},
        "ports": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"],
            "items": port},
        "nested": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
            "items": nested},
        "color": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {
            "r": {"type": "integer"}, "g": {"type": "integer"}}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "rows": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"},
            "x-kubernetes-list-type": "set"}},
        "deep": {"type": "object", "properties": {"er": {"type": "object", "properties": {
            "a": {"type": "integer"}, "b": {"type": "integer"}}}}},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
            "known": {"type": "string"}}},
        "any": {"x-kubernetes-preserve-unknown-fields": true},
        "object": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
    }});
    let condition = json!({"type": "object", "required": ["type"], "properties": {
        "type": {"type": "string"}, "status": {"type": "string"}}});
    let status = json!({"type": "object", "properties": {
        "phase": {"type": "string"},
        "conditions": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"],
            "items": condition},
    }});
    json!({"type": "object", "properties": {"spec": spec, "status": status}})
}

const FIELDS: [&str; 17] = [
    "size", "ratio", "on", "when", "either", "tags", "numbers", "plain", "ports", "nested", "color", "labels", "rows",
    "deep", "free", "any", "object",
];

/// A random spec with some of the fields.
pub fn spec(dice: &mut Dice) -> Value {
    let mut out = Map::new();
    for name in dice.some(&FIELDS).into_iter().take(6) {
        let value = if dice.chance(2) { Value::Null } else { field(dice, name) };
        out.insert(name.to_owned(), value);
    }
    Value::Object(out)
}

fn field(dice: &mut Dice, name: &str) -> Value {
    match name {
        "size" => json!(dice.roll(3)),
        "ratio" => json!(dice.pick(&[&json!(1), &json!(1.5), &json!(2.5)])),
        "on" => json!(dice.chance(50)),
        "when" => json!(dice.pick(&["2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"])),
        "either" => dice.pick(&[&json!(80), &json!("80"), &json!("http")]).clone(),
        "tags" | "plain" => texts(dice),
        "numbers" => integers(dice),
        "ports" => list(dice, &["80", "443", "8080"], |dice, port| {
            let mut it = some_of(dice, &["name", "extra"], |dice, name| match name {
                "name" => json!(dice.pick(&["http", "web"])),
                _ => strings(dice),
            });
            it["port"] = json!(port.parse::<u16>().expect("a number"));
            if dice.chance(60) {
                it["protocol"] = json!(dice.pick(&["TCP", "UDP"]));
            }
            it
        }),
        "nested" => list(dice, &["a", "b", "c<d"], |dice, name| {
            let mut it = some_of(dice, &["marks", "inner"], |dice, field| match field {
                "marks" => texts(dice),
                _ => list(dice, &["1", "2", "10"], |dice, id| {
                    let mut it = some_of(dice, &["text"], |dice, _| json!(dice.pick(&["x", "y"])));
                    it["id"] = json!(id.parse::<u16>().expect("a number"));
                    it
                }),
            });
            it["name"] = json!(name);
            it
        }),
        "color" => some_of(dice, &["r", "g"], |dice, _| json!(dice.roll(2))),
        "labels" => strings(dice),
        "rows" => some_of(dice, &["one", "two"], |dice, _| integers(dice)),
        "deep" => some_of(dice, &["er"], |dice, _| {
            some_of(dice, &["a", "b"], |dice, _| json!(dice.roll(2)))
        }),
        "free" => some_of(dice, &["known", "list", "map"], |dice, name| match name {
            "known" => json!(dice.pick(&["x", "y"])),
            "list" => integers(dice),
            _ => strings(dice),
        }),
        "object" => json!({"apiVersion": "v1", "kind": "Thing",
            "metadata": {"name": dice.pick(&["x", "y"]), "labels": strings(dice)}, "more": strings(dice)}),
        _ => match dice.roll(4) {
            0 => json!(dice.roll(2)),
            1 => json!("text"),
            2 => integers(dice),
            _ => strings(dice),
        },
    }
}

/// Random labels, annotations, finalizers.
pub fn metadata(dice: &mut Dice) -> Value {
    some_of(
        dice,
        &["labels", "annotations", "finalizers"],
        |dice, name| match name {
            "finalizers" => json!(dice.some(&["example.com/a", "example.com/b"])),
            _ => strings(dice),
        },
    )
}

pub fn some_of(dice: &mut Dice, names: &[&str], of: impl Fn(&mut Dice, &str) -> Value) -> Value {
    let names = dice.some(names);
    Value::Object(
        names
            .into_iter()
            .map(|name| (name.to_owned(), of(dice, name)))
            .collect(),
    )
}

pub fn list(dice: &mut Dice, keys: &[&str], of: impl Fn(&mut Dice, &str) -> Value) -> Value {
    let mut keys = dice.some(keys);
    if dice.chance(4) {
        keys.extend(keys.clone());
    }
    Value::Array(keys.into_iter().map(|key| of(dice, key)).collect())
}

fn texts(dice: &mut Dice) -> Value {
    list(dice, &["a", "b", "c"], |_, it| json!(it))
}

fn integers(dice: &mut Dice) -> Value {
    list(dice, &["1", "2", "3"], |_, it| {
        json!(it.parse::<u16>().expect("a number"))
    })
}

pub fn strings(dice: &mut Dice) -> Value {
    some_of(dice, &["x", "y", "z"], |dice, _| json!(dice.pick(&["1", "2"])))
}
