//! Random values of a schema, valid or almost valid.

use fastrand::Rng;
use serde_json::{Map, Value, json};

/// One value in this many has the wrong type, is out of bounds or is unknown.
const BROKEN: u8 = 24;

/// A value of `schema`, an OpenAPI schema in which our `examples` list the possible strings.
pub fn value(rng: &mut Rng, schema: &Value) -> Value {
    if rng.u8(..BROKEN * 2) == 0 {
        return rng
            .choice([
                json!(null),
                json!("text"),
                json!(-1),
                json!(1.5),
                json!([]),
                json!({}),
                json!(true),
            ])
            .unwrap_or_default();
    }
    if let Some(values) = schema["examples"].as_array().or(schema["enum"].as_array()) {
        return rng.choice(values).cloned().unwrap_or_default();
    }
    if schema["x-kubernetes-int-or-string"] == true {
        return rng.choice([json!(1), json!("50%"), json!("x")]).unwrap_or_default();
    }
    match schema["type"].as_str() {
        Some("object") => object(rng, schema),
        Some("array") => {
            let least = usize::from(schema["minItems"].as_u64() == Some(1));
            let items: Vec<Value> = (0..rng.usize(least..4)).map(|_| value(rng, &schema["items"])).collect();
            // The items of a set or map should be unique; sometimes they are not.
            items.into()
        }
        Some("integer") => json!(rng.i64(0..5)),
        Some("number") => rng.choice([json!(0), json!(1), json!(0.5)]).unwrap_or_default(),
        Some("boolean") => json!(rng.bool()),
        Some("string") => rng
            .choice([json!("a"), json!("b"), json!("cc"), json!("")])
            .unwrap_or_default(),
        _ => rng.choice([json!({"a": 1}), json!("a"), json!(2)]).unwrap_or_default(),
    }
}

fn object(rng: &mut Rng, schema: &Value) -> Value {
    let mut map = Map::new();
    let required = schema["required"].as_array();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let needed = required.is_some_and(|required| required.iter().any(|it| it == name));
        if (needed && rng.u8(..BROKEN) > 0) || (!needed && rng.u8(..3) == 0) {
            map.insert(name.clone(), value(rng, property));
        }
    }
    if schema["additionalProperties"].is_object() {
        for key in ["k", "l", "m"] {
            if rng.bool() {
                map.insert(key.to_owned(), value(rng, &schema["additionalProperties"]));
            }
        }
    }
    if rng.u8(..BROKEN) == 0 {
        map.insert("unknown".to_owned(), json!("field"));
    }
    map.into()
}

/// Removes some fields, except those that identify the object.
pub fn thin(rng: &mut Rng, value: &mut Value) {
    if let Value::Object(map) = value {
        map.retain(|key, _| ["apiVersion", "kind", "metadata", "name"].contains(&key.as_str()) || rng.u8(..3) > 0);
        map.iter_mut()
            .filter(|(key, _)| *key != "metadata")
            .for_each(|(_, inner)| thin(rng, inner));
    }
}

/// Some of the JSON pointers into `value`, in random order.
pub fn pointers(rng: &mut Rng, value: &Value) -> Vec<String> {
    let mut all = Vec::new();
    collect(value, "", &mut all);
    rng.shuffle(&mut all);
    all
}

fn collect(value: &Value, at: &str, all: &mut Vec<String>) {
    if let Value::Object(map) = value {
        for (key, inner) in map {
            let pointer = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
            collect(inner, &pointer, all);
            all.push(pointer);
        }
    }
}
