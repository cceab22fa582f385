//! Sets defaults: walks an object by its shape and applies to every struct the default function of its definition, the
//! outer one first, and then the recorded default values.

use std::collections::HashMap;

use kubewright_machinery::quantity::Quantity;
use serde_json::{Map, Value};

use super::{
    edit::Fields,
    kind::StructDefault,
    shapes::{self, Shape, ShapeField, Type},
};

/// The default functions of structs, by the short names of their definitions.
pub(super) struct Defaults(HashMap<&'static str, fn(&mut Fields)>);

impl FromIterator<StructDefault> for Defaults {
    fn from_iter<I: IntoIterator<Item = StructDefault>>(defaults: I) -> Self {
        Self(defaults.into_iter().collect())
    }
}

impl Defaults {
    /// Sets the defaults of `object`, whose shape is `name`.
    pub fn fill(&self, name: &str, object: &mut Value) {
        if let (Some(shape), Some(fields)) = (shapes::shape(name), object.as_object_mut()) {
            self.structure(name, shape, fields);
        }
    }

    fn structure(&self, name: &str, shape: &Shape, fields: &mut Fields) {
        if let Some(default) = self.0.get(name) {
            default(fields);
        }
        for field in &shape.fields {
            match fields.get_mut(field.name) {
                Some(value) if field.attribute("g") == Some("v1.ResourceList") => round(value),
                Some(value) if !value.is_null() => self.inside(&field.kind, value),
                _ => {
                    if let Some(value) = recorded(field) {
                        fields.insert(field.name.to_owned(), value);
                    }
                }
            }
        }
    }

    fn inside(&self, kind: &Type, value: &mut Value) {
        match (kind, value) {
            (Type::Ref(name, _), Value::Object(fields)) => {
                if let Some(shape) = shapes::shape(name) {
                    self.structure(name, shape, fields);
                }
            }
            (Type::List(item), Value::Array(items)) if is_structured(item) => {
                items.iter_mut().for_each(|value| self.inside(item, value));
            }
            (Type::Map(item), Value::Object(entries)) if is_structured(item) => {
                entries.values_mut().for_each(|value| self.inside(item, value));
            }
            _ => {}
        }
    }
}

fn is_structured(kind: &Type) -> bool {
    matches!(kind, Type::Ref(..) | Type::List(_) | Type::Map(_))
}

/// The recorded default of a field, unless it is the zero value that decoding sets: a pointer has none.
fn recorded(field: &ShapeField) -> Option<Value> {
    let text = field
        .attribute("d")
        .filter(|text| field.pointer || !matches!(*text, "{}" | "\"\"" | "0" | "false"))?;
    serde_json::from_str(text).ok()
}

/// Rounds quantities of resources to thousandths.
fn round(value: &mut Value) {
    for amount in value.as_object_mut().into_iter().flat_map(Map::values_mut) {
        if let Some(Ok(quantity)) = amount.as_str().map(Quantity::parse_exact) {
            *amount = Value::String(quantity.rounded_to_milli().canonical());
        }
    }
}
