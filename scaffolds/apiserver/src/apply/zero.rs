//! The object of a built-in kind before any field is set. Its structs exist and its required scalars are empty, so a
//! creator does not own those, but only the fields in them.

use kubewright_schema::typed::{Id, Property, Schema};
use serde_json::{Value, json};

/// Go structs nest by value, so nesting is finite; this guards against a recursive schema.
const MAX_DEPTH: usize = 16;

/// The empty object with which a created one is compared: `{apiVersion, kind}` and, for built-in kinds, all fields
/// of `created` that Go encodes even if nobody has set them.
pub(super) fn zero(schema: &Schema, created: &Value) -> Value {
    let mut object = if schema.structs {
        struct_of(schema, schema.root, 0)
    } else {
        json!({})
    };
    if schema.structs {
        overlay_nulls(&mut object, created);
    }
    if let Some(object) = object.as_object_mut() {
        for key in ["apiVersion", "kind"] {
            object.insert(key.to_owned(), created.get(key).cloned().unwrap_or_default());
        }
    }
    object
}

fn struct_of(schema: &Schema, id: Id, depth: usize) -> Value {
    let fields = schema.get(id).map.as_ref().map(|map| &map.fields);
    let members = fields.into_iter().flatten().filter_map(|(name, property)| {
        let it = member_of(schema, property, depth)?;
        Some((name.clone(), it))
    });
    Value::Object(members.collect())
}

fn member_of(schema: &Schema, property: &Property, depth: usize) -> Option<Value> {
    match &property.default {
        Some(Value::Object(it)) if it.is_empty() && depth < MAX_DEPTH => {
            Some(struct_of(schema, property.id, depth + 1))
        }
        Some(it) if *it == json!("") || *it == json!(0) || *it == json!(false) => Some(it.clone()),
        None if property.required => Some(Value::Null),
        _ => None,
    }
}

/// Nulls in a created object are unset pointers, slices and times; the empty object has them too.
fn overlay_nulls(zero: &mut Value, created: &Value) {
    let (Some(zero), Some(created)) = (zero.as_object_mut(), created.as_object()) else {
        return;
    };
    for (name, it) in created {
        match zero.get_mut(name) {
            Some(below) => overlay_nulls(below, it),
            None if it.is_null() => drop(zero.insert(name.clone(), Value::Null)),
            None => {}
        }
    }
}
