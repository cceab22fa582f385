//! JSON patches (RFC 6902): the operations that turn one value into another.

use serde_json::{Map, Value, json};

/// The operations that turn `from` into `to`. Lists are replaced as a whole.
pub(super) fn difference(from: &Value, to: &Value) -> Vec<Value> {
    let mut operations = Vec::new();
    compare("", from, to, &mut operations);
    operations
}

fn compare(path: &str, from: &Value, to: &Value, operations: &mut Vec<Value>) {
    match (from, to) {
        _ if from == to => {}
        (Value::Object(from), Value::Object(to)) => fields(path, from, to, operations),
        _ => operations.push(json!({"op": "replace", "path": path, "value": to})),
    }
}

fn fields(path: &str, from: &Map<String, Value>, to: &Map<String, Value>, operations: &mut Vec<Value>) {
    for (name, value) in to {
        let path = format!("{path}/{}", escaped(name));
        match from.get(name) {
            Some(present) => compare(&path, present, value, operations),
            None => operations.push(json!({"op": "add", "path": path, "value": value})),
        }
    }
    for name in from.keys().filter(|name| !to.contains_key(*name)) {
        let path = format!("{path}/{}", escaped(name));
        operations.push(json!({"op": "remove", "path": path}));
    }
}

/// A name as part of a JSON pointer (RFC 6901).
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_in_the_patch() {
        let from = json!({"a": 1, "b": {"c": [1, 2], "d": "x"}, "e/f~g": true});
        assert_eq!(difference(&from, &from), Vec::<Value>::new());
        let to = json!({"b": {"c": [1], "d": "x", "h": null}, "e/f~g": false});
        assert_eq!(
            difference(&from, &to),
            [
                json!({"op": "replace", "path": "/b/c", "value": [1]}),
                json!({"op": "add", "path": "/b/h", "value": null}),
                json!({"op": "replace", "path": "/e~1f~0g", "value": false}),
                json!({"op": "remove", "path": "/a"}),
            ]
        );
    }
}
