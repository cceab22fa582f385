//! Parts of a Rust type that its schema lacks: null where the type distinguishes it from an absent value, sets, and objects without
//! fields.

use serde_json::{Map, Value, json};

use super::Version;
use super::sample::{Leaf, Sample, Step};
use crate::embedded::Types;

/// A change of the schema of a field.
pub(super) struct Change {
    place: Leaf,
    change: fn(&mut Map<String, Value>),
}

impl Change {
    pub fn apply(self, schema: &mut Value) {
        self.place.schema_mut(schema).map(self.change);
    }
}

/// The changes of the schema of a version. Kubernetes' own types stay as they are.
pub(super) fn changes(version: &Version<'_>, schema: &Value, sample: &Sample<'_>) -> Vec<Change> {
    let mut walk = ClosingWalk {
        version,
        types: Types::of(version.written),
        sample,
        found: Vec::new(),
    };
    for (name, field) in fields(schema).filter(|(name, _)| !["apiVersion", "kind", "metadata"].contains(&name.as_str()))
    {
        if let Some(written) = walk.types.property(version.written, name) {
            walk.node(field, written, &mut vec![Step::Field(name.clone())]);
        }
    }
    walk.found
}

struct ClosingWalk<'w> {
    version: &'w Version<'w>,
    types: Types<'w>,
    sample: &'w Sample<'w>,
    found: Vec<Change>,
}

impl<'w> ClosingWalk<'w> {
    fn node(&mut self, schema: &Value, written: &'w Value, steps: &mut Vec<Step>) {
        let own = written;
        let (name, written) = self.types.resolve(written);
        if name.is_some_and(Types::is_of_kubernetes) {
            return;
        }
        if schema["items"].is_object() && [own, written].iter().any(|it| it["uniqueItems"] == true) {
            self.set(schema, steps);
        }
        if is_open(schema) && is_plain(written) && self.drops_fields(steps) {
            self.add(steps, |schema| {
                schema.remove("x-kubernetes-preserve-unknown-fields");
                schema.insert("properties".into(), json!({}));
            });
        }
        let required = schema["required"].as_array();
        for (name, field) in fields(schema) {
            let Some(written) = self.types.property(written, name) else {
                continue;
            };
            steps.push(Step::Field(name.clone()));
            let is_required = required.is_some_and(|names| names.iter().any(|it| it == name));
            let is_explicit = written["nullable"] == true;
            if !is_required && field["nullable"] != true && (is_explicit || self.keeps_null(written, steps)) {
                self.add(steps, |schema| _ = schema.insert("nullable".into(), true.into()));
            }
            self.node(field, written, steps);
            steps.pop();
        }
        for (key, step, written) in [
            ("items", Step::Item, &written["items"]),
            ("additionalProperties", Step::Value, values(written)),
        ] {
            if schema[key].is_object() {
                steps.push(step);
                self.node(&schema[key], written, steps);
                steps.pop();
            }
        }
    }

    fn add(&mut self, steps: &[Step], change: fn(&mut Map<String, Value>)) {
        let place = Leaf::from(steps.to_vec());
        self.found.push(Change { place, change });
    }

    /// A Rust set has no order and no duplicates.
    fn set(&mut self, schema: &Value, steps: &mut Vec<Step>) {
        const TYPE: &str = "x-kubernetes-list-type";
        if !schema[TYPE].is_null() {
            return;
        }
        self.add(steps, |schema| _ = schema.insert(TYPE.into(), "set".into()));
        if schema["items"]["type"] == "object" {
            steps.push(Step::Item);
            self.add(steps, |items| {
                items.entry("x-kubernetes-map-type").or_insert_with(|| "atomic".into());
            });
            steps.pop();
        }
    }

    /// Whether the type writes an object without the fields that it read.
    fn drops_fields(&self, steps: &[Step]) -> bool {
        let value = json!({"a": 1});
        let written = self.read(steps, &value);
        written.is_some_and(|object| at(&object, steps).is_some_and(|it| it == &json!({})))
    }

    /// Whether null and an absent value differ for the type, as in `Option<Option<T>>`, and in a variant of an enum, which needs its field.
    fn keeps_null(&self, written: &Value, steps: &[Step]) -> bool {
        if !may_be_null(written) {
            return false;
        }
        let with = self.read(steps, &Value::Null);
        let keeps = with.is_some_and(|object| at(&object, steps) == Some(&Value::Null));
        keeps && self.without(steps).is_none_or(|object| at(&object, steps).is_none())
    }

    /// The output of the type after reading an object with this value.
    fn read(&self, steps: &[Step], value: &Value) -> Option<Value> {
        let mut object = self.sample.around(&Leaf::from(steps.to_vec()), value)?;
        self.version.name(&mut object);
        (self.version.read)(&object).ok()
    }

    /// The output of the type after reading an object without this field; `None` if it cannot be decoded.
    fn without(&self, steps: &[Step]) -> Option<Value> {
        let mut object = self.sample.around(&Leaf::from(steps.to_vec()), &Value::Null)?;
        self.version.name(&mut object);
        let (last, above) = steps.split_last()?;
        if let (Step::Field(name), Some(Value::Object(fields))) = (last, at_mut(&mut object, above)) {
            fields.remove(name);
        }
        (self.version.read)(&object).ok()
    }
}

fn fields(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

/// The schema of the values of a map, which schemars writes beside a pattern if the keys are integers.
pub(super) fn values(written: &Value) -> &Value {
    let patterns = written["patternProperties"].as_object();
    let of_pattern = patterns.and_then(|it| it.values().next());
    of_pattern.unwrap_or(&written["additionalProperties"])
}

/// Whether the derive wrote no keyword but the type, and the schema was opened for that.
fn is_open(schema: &Value) -> bool {
    schema["type"] == "object"
        && schema["x-kubernetes-preserve-unknown-fields"] == true
        && schema["properties"].is_null()
}

/// Whether the author wants no unknown fields.
fn is_plain(written: &Value) -> bool {
    written["x-kubernetes-preserve-unknown-fields"].is_null() && written["additionalProperties"].is_null()
}

/// Whether the schema of a type has null beside other values.
fn may_be_null(written: &Value) -> bool {
    let is_null = |schema: &Value| schema["type"] == "null";
    let types = written["type"].as_array().into_iter().flatten();
    let branches = written["anyOf"].as_array().into_iter().flatten();
    types.into_iter().any(|it| it == "null") || branches.into_iter().any(is_null)
}

/// The value behind the steps, in the first item and the first entry.
fn at<'v>(object: &'v Value, steps: &[Step]) -> Option<&'v Value> {
    steps.iter().try_fold(object, |value, step| match step {
        Step::Field(name) => value.get(name),
        Step::Item => value.get(0),
        Step::Value => value.as_object()?.values().next(),
        Step::Key => None,
    })
}

fn at_mut<'v>(object: &'v mut Value, steps: &[Step]) -> Option<&'v mut Value> {
    steps.iter().try_fold(object, |value, step| match step {
        Step::Field(name) => value.get_mut(name),
        Step::Item => value.get_mut(0),
        Step::Value => value.as_object_mut()?.values_mut().next(),
        Step::Key => None,
    })
}
