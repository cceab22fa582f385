//! A custom kind with every type of list and map, and random objects of it.

use serde_json::{Map, Value, json};

use crate::dice::Dice;

pub const GROUP: &str = "apply.kubewright.dev";

/// The schema of both versions.
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

pub fn definition() -> Value {
    let version = |name: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": schema()}})
    };
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets.{GROUP}")},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [version("v1", true), version("v1beta1", false)]}})
}

/// Decodes such an object: metadata is converted as by its Go type, and the only default in the schema is set.
pub fn decode(object: &mut Value) {
    metadata_of(object);
    let spec = object.get_mut("spec").and_then(Value::as_object_mut);
    if let Some(spec) = spec {
        spec.retain(|_, it| !it.is_null());
        spec.get_mut("object").into_iter().for_each(metadata_of);
    }
    let ports = object
        .get_mut("spec")
        .and_then(|it| it.get_mut("ports"))
        .and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
        port.entry("protocol").or_insert_with(|| json!("TCP"));
    }
}

fn metadata_of(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|_, it| !(*it == json!({}) || *it == json!([]) || it.is_null()));
    }
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

/// A random status.
pub fn status(dice: &mut Dice) -> Value {
    some_of(dice, &["phase", "conditions"], |dice, name| match name {
        "phase" => json!(dice.pick(&["Ready", "Waiting"])),
        _ => list(
            dice,
            &["Ready", "Failed"],
            |dice, name| json!({"type": name, "status": dice.pick(&["True", "False"])}),
        ),
    })
}

/// Adds a value that does not match the schema.
pub fn spoil(dice: &mut Dice, object: &mut Value) {
    let bad = [
        json!({"size": "x"}),
        json!({"on": 1}),
        json!({"ratio": [1]}),
        json!({"when": {"a": 1}}),
        json!({"tags": "a"}),
        json!({"tags": [null]}),
        json!({"tags": [{"a": 1}]}),
        json!({"tags": [["a"]]}),
        json!({"tags": ["a", "a"]}),
        json!({"numbers": ["a"]}),
        json!({"plain": [1]}),
        json!({"ports": {}}),
        json!({"ports": [null]}),
        json!({"ports": [{}]}),
        json!({"ports": ["a"]}),
        json!({"ports": [{"port": 1}, {"port": 1, "protocol": "TCP"}]}),
        json!({"nested": [{"name": "a", "more": 1}]}),
        json!({"nested": [{"name": "a", "inner": [{"text": "x"}]}]}),
        json!({"nested": [{"name": 1}]}),
        json!({"color": {"b": 1}}),
        json!({"color": "red"}),
        json!({"labels": {"x": 1}}),
        json!({"rows": {"one": ["a"]}}),
        json!({"unknown": {"a": 1}}),
        json!({"size": 1.5}),
        json!({"size": "x", "on": "y"}),
        json!({"either": {"a": 1}}),
        json!({"free": "x"}),
        json!("x"),
        json!([1]),
        json!(null),
        json!({"deep": {"er": "x"}}),
    ];
    object["spec"] = bad[dice.roll(bad.len())].clone();
    match dice.roll(12) {
        0 => object["metadata"]["labels"] = json!({"x": 1}),
        1 => object["metadata"]["managedFields"] = json!([{}]),
        2 => object["metadata"]["unknown"] = json!(1),
        3 => object["metadata"]["finalizers"] = json!("x"),
        _ => {}
    }
}

/// Random labels, annotations and finalizers.
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
