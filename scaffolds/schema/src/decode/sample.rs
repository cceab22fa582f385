//! Makes objects of a schema: with what is required, and one field with a value that is to be tried.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::close::values;
use crate::embedded::Types;
use crate::examples::edges;
use crate::unions;
use crate::value::Structural;

/// The most items that are made up for a list, or values for a map: each object has all of them.
const MOST: u64 = 64;

/// A step from a schema to one below it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Step {
    /// A property.
    Field(String),
    /// The items of a list.
    Item,
    /// The values of a map.
    Value,
    /// The keys of a map, which have no schema.
    Key,
}

/// A field with a value that has no fields itself, or the keys of a map.
#[derive(Debug)]
pub(super) struct Leaf {
    pub steps: Vec<Step>,
}

impl Leaf {
    /// The field's schema; for keys the schema of their map.
    pub fn schema<'s>(&self, root: &'s Value) -> Option<&'s Value> {
        self.steps.iter().try_fold(root, |node, step| match step {
            Step::Field(name) => node.get("properties")?.get(name),
            Step::Item => node.get("items"),
            Step::Value => node.get("additionalProperties"),
            Step::Key => Some(node),
        })
    }

    pub fn schema_mut<'s>(&self, root: &'s mut Value) -> Option<&'s mut Map<String, Value>> {
        let node = self.steps.iter().try_fold(root, |node, step| match step {
            Step::Field(name) => node.get_mut("properties")?.get_mut(name),
            Step::Item => node.get_mut("items"),
            Step::Value => node.get_mut("additionalProperties"),
            Step::Key => None,
        });
        node?.as_object_mut()
    }

    /// The values to try.
    pub fn values(&self, root: &Value) -> Vec<Value> {
        if self.steps.last() == Some(&Step::Key) {
            return edges::of_keys();
        }
        let admitted = self.schema(root).map(edges::admitted);
        admitted.into_iter().flatten().collect()
    }
}

impl From<Vec<Step>> for Leaf {
    fn from(steps: Vec<Step>) -> Self {
        Self { steps }
    }
}

/// The fields of a whole resource in the order of their names, without the fields of Kubernetes' own types.
pub(super) fn leaves(root: &Value, types: Types<'_>) -> Vec<Leaf> {
    let mut found = Vec::new();
    let fields = root["properties"].as_object().into_iter().flatten();
    for (name, schema) in fields.filter(|(name, _)| !["apiVersion", "kind", "metadata"].contains(&name.as_str())) {
        if let Some(written) = types.property(types.root(), name) {
            let mut steps = vec![Step::Field(name.clone())];
            collect(schema, types, written, &mut steps, &mut found);
        }
    }
    found
}

fn collect(schema: &Value, types: Types<'_>, written: &Value, steps: &mut Vec<Step>, found: &mut Vec<Leaf>) {
    let (name, written) = types.resolve(written);
    if name.is_some_and(Types::is_of_kubernetes) {
        return;
    }
    let mut below = |step: Step, schema: &Value, written: &Value| {
        steps.push(step);
        collect(schema, types, written, steps, found);
        steps.pop();
    };
    if let Some(fields) = schema["properties"].as_object() {
        for (name, schema) in fields {
            if let Some(written) = types.property(written, name) {
                below(Step::Field(name.clone()), schema, written);
            }
        }
    } else if schema["items"].is_object() {
        below(Step::Item, &schema["items"], &written["items"]);
    } else if schema["additionalProperties"].is_object() {
        below(Step::Value, &schema["additionalProperties"], values(written));
        steps.push(Step::Key);
        found.push(Leaf { steps: steps.clone() });
        steps.pop();
    } else {
        found.push(Leaf { steps: steps.clone() });
    }
}

/// Makes objects of a schema.
#[derive(Clone)]
pub(super) struct Sample<'s> {
    root: &'s Value,
    /// Values that decode, by the steps to their fields.
    chosen: BTreeMap<Vec<Step>, Value>,
    /// The optional fields that every object has, by the steps to them.
    included: BTreeSet<Vec<Step>>,
}

impl<'s> Sample<'s> {
    pub fn new(root: &'s Value) -> Self {
        Self {
            root,
            chosen: BTreeMap::new(),
            included: BTreeSet::new(),
        }
    }

    /// Uses this value whenever the field is needed.
    pub fn choose(&mut self, leaf: &Leaf, value: Value) {
        self.chosen.insert(leaf.steps.clone(), value);
    }

    /// An object with all of these fields that can stand together.
    pub fn with_all(mut self, leaves: &[Leaf]) -> Option<Value> {
        for leaf in leaves {
            self.included
                .extend((1..=leaf.steps.len()).map(|end| leaf.steps[..end].to_vec()));
        }
        self.make(self.root, &mut Vec::new(), None)
    }

    /// An object with this value in the field; `None` if a required field has no value that its schema admits.
    pub fn around(&self, leaf: &Leaf, value: &Value) -> Option<Value> {
        self.make(self.root, &mut Vec::new(), Some((&leaf.steps, value)))
    }

    /// The object with this value in the field, and with what leads to the field.
    pub fn within(&self, object: &Value, leaf: &Leaf, value: &Value) -> Option<Value> {
        let mut object = object.clone();
        self.put(self.root, &mut object, &mut Vec::new(), (&leaf.steps, value))?;
        Some(object)
    }

    fn put(&self, schema: &Value, node: &mut Value, at: &mut Vec<Step>, focus: (&[Step], &Value)) -> Option<()> {
        let (below, slot) = match (focus.0.first(), &mut *node) {
            (Some(Step::Field(name)), Value::Object(fields)) => {
                let below = &schema["properties"][name];
                if !fields.contains_key(name) {
                    let made = self.below(Step::Field(name.clone()), below, at, Some(focus))?;
                    fields.insert(name.clone(), made);
                    return Some(());
                }
                (below, fields.get_mut(name))
            }
            (Some(Step::Item), Value::Array(items)) => (&schema["items"], items.first_mut()),
            (Some(Step::Value), Value::Object(fields)) => (&schema["additionalProperties"], fields.values_mut().next()),
            _ => (schema, None),
        };
        let (Some(slot), Some((step, rest))) = (slot, focus.0.split_first()) else {
            *node = self.make(schema, at, Some(focus))?;
            return Some(());
        };
        at.push(step.clone());
        let put = self.put(below, slot, at, (rest, focus.1));
        at.pop();
        put
    }

    fn make(&self, schema: &Value, at: &mut Vec<Step>, focus: Option<(&[Step], &Value)>) -> Option<Value> {
        if let Some(([], value)) = focus {
            return Some(value.clone());
        }
        if schema["properties"].is_object() {
            return self.object(schema, at, focus);
        }
        if schema["items"].is_object() {
            return self.list(schema, at, focus);
        }
        if schema["additionalProperties"].is_object() {
            return self.map(schema, at, focus);
        }
        let chosen = self.chosen.get(at).cloned();
        chosen.or_else(|| edges::typical(schema))
    }

    /// The value behind a step, with the focus if it is there.
    fn below(&self, step: Step, schema: &Value, at: &mut Vec<Step>, focus: Option<(&[Step], &Value)>) -> Option<Value> {
        let focus = focus.and_then(|(steps, value)| match steps.split_first() {
            Some((first, rest)) if *first == step => Some((rest, value)),
            _ => None,
        });
        at.push(step);
        let value = self.make(schema, at, focus);
        at.pop();
        value
    }

    fn object(&self, schema: &Value, at: &mut Vec<Step>, focus: Option<(&[Step], &Value)>) -> Option<Value> {
        let fields = schema["properties"].as_object()?;
        let required = schema["required"].as_array();
        let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
        let in_focus = focus.and_then(|(steps, _)| match steps.first() {
            Some(Step::Field(name)) => Some(name.as_str()),
            _ => None,
        });
        let is_root = at.is_empty();
        let (mut object, mut optional) = (Map::new(), Map::new());
        for (name, field) in fields
            .iter()
            .filter(|(name, _)| !is_root || !["apiVersion", "kind", "metadata"].contains(&name.as_str()))
        {
            // kube's types need a spec, also where the schema of a kind taken over from others does not.
            at.push(Step::Field(name.clone()));
            let is_included = self.included.contains(at);
            at.pop();
            if is_required(name) || in_focus == Some(name) || (is_root && name == "spec") {
                let value = self.below(Step::Field(name.clone()), field, at, focus)?;
                object.insert(name.clone(), value);
            } else if is_included && let Some(value) = self.below(Step::Field(name.clone()), field, at, focus) {
                optional.insert(name.clone(), value);
            }
        }
        self.unite(schema, &mut object, at, in_focus)?;
        if !optional.is_empty() {
            let mut all = object.clone();
            all.extend(optional);
            self.unite(schema, &mut all, at, in_focus)?;
            let compiled = Structural::compile(&json!({"type": "object", "properties": {"value": schema}}));
            if is_root || compiled.validate(&json!({"value": all})).is_empty() {
                return Some(Value::Object(all));
            }
        }
        if focus.is_none()
            && ["oneOf", "anyOf", "allOf", "not"]
                .iter()
                .any(|key| schema.get(key).is_some())
        {
            return self.completed(schema, at, object);
        }
        Some(Value::Object(object))
    }

    /// Sets the member of a union that is in focus or that the discriminator names, and removes the others.
    fn unite(
        &self,
        schema: &Value,
        object: &mut Map<String, Value>,
        at: &mut Vec<Step>,
        in_focus: Option<&str>,
    ) -> Option<()> {
        let members = unions::members(schema);
        for member in &members {
            if in_focus == Some(&member.field) {
                object.insert(member.discriminator.clone(), member.value.clone().into());
            }
        }
        unions::settle(&members, object, in_focus, |name| {
            self.below(Step::Field(name.to_owned()), &schema["properties"][name], at, None)
        })
    }

    /// An object of a schema with branches, as enums with data have: with one more field, if it is invalid without.
    fn completed(&self, schema: &Value, at: &mut Vec<Step>, object: Map<String, Value>) -> Option<Value> {
        let compiled = Structural::compile(&json!({"type": "object", "properties": {"value": schema}}));
        let is_valid = |object: &Map<String, Value>| compiled.validate(&json!({"value": object})).is_empty();
        if is_valid(&object) {
            return Some(Value::Object(object));
        }
        let more = schema["properties"].as_object()?.iter().find_map(|(name, field)| {
            let mut more = object.clone();
            more.insert(name.clone(), self.below(Step::Field(name.clone()), field, at, None)?);
            is_valid(&more).then_some(more)
        });
        more.map(Value::Object)
    }

    /// A list of the least length, with what is in focus in its first item.
    fn list(&self, schema: &Value, at: &mut Vec<Step>, focus: Option<(&[Step], &Value)>) -> Option<Value> {
        at.push(Step::Item);
        let is_needed = focus.is_some() || self.included.contains(at);
        at.pop();
        let least = schema["minItems"]
            .as_u64()
            .unwrap_or_default()
            .max(u64::from(is_needed));
        if least > MOST {
            return None;
        }
        let mut items = Vec::new();
        for index in 0..least {
            let focus = focus.filter(|_| index == 0);
            let item = self.below(Step::Item, &schema["items"], at, focus)?;
            items.push(if index == 0 {
                item
            } else {
                distinct(schema, item, &items)?
            });
        }
        Some(Value::Array(items))
    }

    fn map(&self, schema: &Value, at: &mut Vec<Step>, focus: Option<(&[Step], &Value)>) -> Option<Value> {
        at.push(Step::Value);
        let is_included = self.included.contains(at);
        at.pop();
        let least = schema["minProperties"].as_u64().unwrap_or_default();
        if focus.is_none() && !is_included && least == 0 {
            return Some(Value::Object(Map::new()));
        }
        if least > MOST {
            return None;
        }
        let key = if let Some(([Step::Key], Value::String(key))) = focus {
            key.clone()
        } else {
            at.push(Step::Key);
            let chosen = self.chosen.get(at).and_then(Value::as_str);
            at.pop();
            chosen.unwrap_or("a").to_owned()
        };
        let value = self.below(Step::Value, &schema["additionalProperties"], at, focus)?;
        let mut map = Map::from_iter([(key, value)]);
        for index in 1..least {
            let value = self.below(Step::Value, &schema["additionalProperties"], at, None)?;
            map.insert(format!("a{index}"), value);
        }
        Some(Value::Object(map))
    }
}

/// The item, with another value where the items of its list have to differ.
fn distinct(list: &Value, mut item: Value, others: &[Value]) -> Option<Value> {
    match list["x-kubernetes-list-type"].as_str() {
        Some("set") => edges::admitted(&list["items"]).find(|it| !others.contains(it)),
        Some("map") => {
            let keys = list["x-kubernetes-list-map-keys"].as_array()?.iter();
            let (key, value) = keys.filter_map(Value::as_str).find_map(|key| {
                let is_new = |it: &Value| others.iter().all(|other| other[key] != *it);
                let value = edges::admitted(&list["items"]["properties"][key]).find(is_new);
                value.map(|value| (key, value))
            })?;
            item.as_object_mut()?.insert(key.to_owned(), value);
            Some(item)
        }
        _ => Some(item),
    }
}
