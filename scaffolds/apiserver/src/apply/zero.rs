//! What an object of a built-in kind is before anything is set. Its structs are there and its required scalars are
//! empty, so whoever creates it does not come to own those, only what is in them.

use serde_json::{Value, json};

use super::schema::{Id, Property, Schema};

/// Structs are nested by value, so they end; this only guards against a schema that says otherwise.
const MAX_DEPTH: usize = 16;

impl Schema {
    /// The empty object that a creation is compared with: `{apiVersion, kind}` and, for built-in kinds, everything that
    /// `created` has only because Go writes it even when nobody set it.
    pub(super) fn zero(&self, created: &Value) -> Value {
        let mut object = if self.structs {
            struct_of(self, self.root, 0)
        } else {
            json!({})
        };
        if self.structs {
            overlay_nulls(&mut object, created);
        }
        if let Some(object) = object.as_object_mut() {
            for key in ["apiVersion", "kind"] {
                object.insert(key.to_owned(), created.get(key).cloned().unwrap_or_default());
            }
        }
        object
    }
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

/// Nulls of a created object are unset pointers, slices and times; the empty object has them too.
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
