//! Equality of values by their shapes, as upstream's `Semantic.DeepEqual`: an absent value equals an empty one, and
//! quantities are compared by their amounts.

use std::cmp::Ordering;

use kubewright_machinery::quantity::Quantity;
use serde_json::Value;

use super::shapes::{self, Type};

/// Whether the values of this definition, for example `core.v1.PodTemplateSpec`, are equal.
pub(in crate::kinds) fn equal(definition: &'static str, one: &Value, other: &Value) -> bool {
    same(&Type::Ref(definition, false), one, other)
}

/// Whether the values of a field of a definition are equal.
pub(in crate::kinds) fn equal_fields(definition: &str, field: &str, one: &Value, other: &Value) -> bool {
    let field = shapes::shape(definition).and_then(|shape| shape.field(field));
    field.map_or(one == other, |field| same(&field.kind, one, other))
}

fn same(kind: &Type, one: &Value, other: &Value) -> bool {
    match (kind, one, other) {
        (Type::Ref("~api.resource.Quantity", _), Value::String(one), Value::String(other)) => {
            match (Quantity::parse(one), Quantity::parse(other)) {
                (Ok(one), Ok(other)) => one.compare(&other) == Ordering::Equal,
                _ => one == other,
            }
        }
        (Type::List(item), Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(item, one, other))
        }
        (Type::Map(_) | Type::Ref(..), Value::Object(one), Value::Object(other)) => {
            let mut names = one.keys().chain(other.keys());
            names.all(|name| {
                let [one, other] = [one, other].map(|fields| fields.get(name).unwrap_or(&Value::Null));
                match kind {
                    Type::Map(item) => same(item, one, other),
                    Type::Ref(definition, _) => equal_fields(definition, name, one, other),
                    _ => one == other,
                }
            })
        }
        (Type::List(_), Value::Null, Value::Array(items)) | (Type::List(_), Value::Array(items), Value::Null) => {
            items.is_empty()
        }
        (Type::Map(_), Value::Null, Value::Object(fields)) | (Type::Map(_), Value::Object(fields), Value::Null) => {
            fields.is_empty()
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn amounts_are_equal_in_any_notation() {
        let claim = |storage: &str| json!({"resources": {"requests": {"storage": storage}}});
        let equal = |one: &Value, other: &Value| equal("core.v1.PersistentVolumeClaimSpec", one, other);
        assert!(equal(&claim("10Gi"), &claim("10737418240")));
        assert!(!equal(&claim("10Gi"), &claim("10G")));
        // A name is no quantity.
        assert!(!equal(&json!({"volumeName": "1"}), &json!({"volumeName": "1.0"})));
    }

    #[test]
    fn empty_lists_and_maps_are_absent() {
        let equal = |one: Value, other: Value| equal("core.v1.PodTemplateSpec", &one, &other);
        assert!(equal(json!({"spec": {"tolerations": []}}), json!({"spec": {}})));
        assert!(equal(json!({"spec": {"nodeSelector": {}}}), json!({"spec": {}})));
        // An empty struct behind a pointer is a value.
        assert!(!equal(json!({"spec": {"securityContext": {}}}), json!({"spec": {}})));
    }
}
