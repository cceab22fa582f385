//! Sets defaults: walks an object by its shape and applies to every struct the default function of its definition, the
//! outer one first, and then the recorded default values.

use std::{
    collections::{HashMap, HashSet},
    sync::OnceLock,
};

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

/// Defaults for the objects of one definition.
pub(super) struct KindDefaults {
    defaults: &'static Defaults,
    /// The definitions in it that have a default, or contain a definition that has one. The walk skips all others, such as
    /// ObjectMeta. Computed for the first object.
    concerned: OnceLock<HashSet<&'static str>>,
}

impl KindDefaults {
    pub fn new(defaults: &'static Defaults) -> Self {
        Self {
            defaults,
            concerned: OnceLock::new(),
        }
    }

    /// Sets the defaults of `object`, whose definition is always `name`.
    pub fn fill(&self, name: &str, object: &mut Value) {
        let (Some(shape), Some(fields)) = (shapes::shape(name), object.as_object_mut()) else {
            return;
        };
        let concerned = self.concerned.get_or_init(|| self.defaults.concerned(shape));
        self.defaults.structure(name, shape, concerned, fields);
    }
}

impl Defaults {
    /// The definitions in `shape` that have a default, or contain a definition that has one.
    fn concerned(&self, shape: &'static Shape) -> HashSet<&'static str> {
        let mut reachable = HashMap::new();
        let mut next = vec![shape];
        while let Some(shape) = next.pop() {
            for name in shape.fields.iter().filter_map(|field| definition_in(&field.kind)) {
                if let Some(inner) = shapes::shape(name)
                    && reachable.insert(name, inner).is_none()
                {
                    next.push(inner);
                }
            }
        }
        let gets = |name: &str, shape: &Shape| {
            let sets = |field: &ShapeField| is_resources(field) || recorded(field).is_some();
            self.0.contains_key(name) || shape.fields.iter().any(sets)
        };
        let contains = |shape: &Shape, contained: &HashSet<&str>| {
            let mut inner = shape.fields.iter().filter_map(|field| definition_in(&field.kind));
            inner.any(|name| contained.contains(name))
        };
        let mut contained: HashSet<&'static str> = HashSet::new();
        loop {
            let known = contained.len();
            let found = reachable
                .iter()
                .filter(|(name, shape)| gets(name, shape) || contains(shape, &contained));
            let found: Vec<_> = found.map(|(name, _)| *name).collect();
            contained.extend(found);
            if contained.len() == known {
                return contained;
            }
        }
    }

    fn structure(&self, name: &str, shape: &Shape, concerned: &HashSet<&'static str>, fields: &mut Fields) {
        if let Some(default) = self.0.get(name) {
            default(fields);
        }
        for field in &shape.fields {
            match fields.get_mut(field.name) {
                Some(value) if is_resources(field) => round(value),
                Some(value) if !value.is_null() => self.inside(&field.kind, concerned, value),
                _ => {
                    if let Some(value) = recorded(field) {
                        fields.insert(field.name.to_owned(), value);
                    }
                }
            }
        }
    }

    fn inside(&self, kind: &Type, concerned: &HashSet<&'static str>, value: &mut Value) {
        if !definition_in(kind).is_some_and(|name| concerned.contains(name)) {
            return;
        }
        match (kind, value) {
            (Type::Ref(name, _), Value::Object(fields)) => {
                if let Some(shape) = shapes::shape(name) {
                    self.structure(name, shape, concerned, fields);
                }
            }
            (Type::List(item), Value::Array(items)) => {
                items.iter_mut().for_each(|value| self.inside(item, concerned, value));
            }
            (Type::Map(item), Value::Object(entries)) => {
                entries
                    .values_mut()
                    .for_each(|value| self.inside(item, concerned, value));
            }
            _ => {}
        }
    }
}

/// The definition of a value, or of the items in it.
fn definition_in(kind: &Type) -> Option<&'static str> {
    match kind {
        Type::Ref(name, _) => Some(name),
        Type::List(item) | Type::Map(item) => definition_in(item),
        _ => None,
    }
}

fn is_resources(field: &ShapeField) -> bool {
    field.attribute("g") == Some("v1.ResourceList")
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
