//! JSON merge patches (RFC 7386): the smallest one from one value to another.

use serde_json::{Map, Value};

/// The merge patch that turns `before` into `after`, or `None` if they are equal.
pub(crate) fn merge_diff(before: &Value, after: &Value) -> Option<Value> {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let mut patch = Map::new();
            for name in before.keys().filter(|name| !after.contains_key(*name)) {
                patch.insert(name.clone(), Value::Null);
            }
            for (name, value) in after {
                let old = before.get(name).unwrap_or(&Value::Null);
                if let Some(diff) = merge_diff(old, value) {
                    patch.insert(name.clone(), diff);
                }
            }
            (!patch.is_empty()).then_some(Value::Object(patch))
        }
        _ => (before != after).then(|| after.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_patch_contains_differences_and_nulls_for_removed_fields() {
        let diff = merge_diff(
            &json!({"a": 1, "b": {"c": 2, "d": 3}, "e": 4}),
            &json!({"a": 1, "b": {"c": 5}}),
        );
        assert_eq!(diff, Some(json!({"b": {"c": 5, "d": null}, "e": null})));
    }

    #[test]
    fn equal_values_need_no_patch() {
        assert_eq!(merge_diff(&json!({"a": [1]}), &json!({"a": [1]})), None);
    }

    #[test]
    fn a_new_status_is_sent_whole() {
        assert_eq!(merge_diff(&Value::Null, &json!({"a": 1})), Some(json!({"a": 1})));
    }
}
