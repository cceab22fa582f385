//! Compiles OpenAPI v3 to a [`Schema`], by the rules of kube-openapi's conversion for structured-merge-diff.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map as Object, Value, json};

use super::schema::{Id, List, ListType, Map, Patch, Property, Scalar, Schema, Type};

/// Below this depth schemas are untyped; the JSON depth limit of requests bounds a CRD's schema anyway.
const MAX_DEPTH: usize = 200;
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const RAW_EXTENSION: &str = "io.k8s.apimachinery.pkg.runtime.RawExtension";
const OBJECT_META: &str = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

pub(super) fn schema(openapi: &Value, definitions: &dyn Fn(&str) -> Option<Value>) -> Schema {
    let mut compiler = Compiler {
        definitions,
        types: vec![untyped(), deduced()],
        named: BTreeMap::new(),
        todo: VecDeque::new(),
    };
    let root = compiler.refer(openapi, false, 0);
    while let Some((id, name, atomic)) = compiler.todo.pop_front() {
        compiler.types[id.0] = compiler.define(&name, atomic);
    }
    Schema {
        types: compiler.types,
        root,
        structs: true,
    }
}

/// Adds the fields of every object to the schema of a custom kind. Without a schema, the kind stays an untyped object.
pub(super) fn with_object_meta(openapi: &Value) -> Value {
    let mut openapi = openapi.clone();
    match openapi.as_object_mut() {
        Some(object) if !object.is_empty() => add_object_meta(object),
        _ => openapi = json!({"type": "object"}),
    }
    openapi
}

fn add_object_meta(object: &mut Object<String, Value>) {
    let properties = object.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert("apiVersion".into(), json!({"type": "string"}));
        properties.insert("kind".into(), json!({"type": "string"}));
        properties.insert("metadata".into(), json!({"$ref": OBJECT_META}));
    }
}

/// ObjectMeta and the definitions that it refers to, recorded from kube-apiserver 1.37 without descriptions.
fn meta(name: &str) -> Option<Value> {
    let definitions: Value = serde_json::from_str(include_str!("metadata.json")).ok()?;
    definitions.get(name).cloned()
}

struct Compiler<'a> {
    definitions: &'a dyn Fn(&str) -> Option<Value>,
    types: Vec<Type>,
    /// Definitions by name and by the map type with which the reference overrides theirs.
    named: BTreeMap<(String, Option<bool>), Id>,
    todo: VecDeque<(Id, String, Option<bool>)>,
}

impl Compiler<'_> {
    /// The type of a member, which is a reference (alone or in `allOf`) or an inline schema.
    fn refer(&mut self, schema: &Value, preserve: bool, depth: usize) -> Id {
        if depth > MAX_DEPTH {
            return Id::UNTYPED;
        }
        let Some(name) = reference(schema) else {
            let built = self.build(schema, preserve, depth);
            return self.push(built);
        };
        let key = (name, map_type(schema));
        if let Some(id) = self.named.get(&key) {
            return *id;
        }
        let id = self.push(Type::default());
        self.named.insert(key.clone(), id);
        self.todo.push_back((id, key.0, key.1));
        id
    }

    fn push(&mut self, it: Type) -> Id {
        self.types.push(it);
        Id(self.types.len() - 1)
    }

    fn define(&mut self, name: &str, atomic: Option<bool>) -> Type {
        match name {
            QUANTITY => {
                return Type {
                    scalar: Some(Scalar::Untyped),
                    ..Type::default()
                };
            }
            RAW_EXTENSION => return untyped(),
            _ => {}
        }
        let Some(schema) = (self.definitions)(name).or_else(|| meta(name)) else {
            return untyped();
        };
        let mut it = self.build(&schema, false, 0);
        it.name = name.rsplit('.').next().unwrap_or_default().to_owned();
        match (&mut it.map, &mut it.list, atomic) {
            (Some(map), _, Some(atomic)) => map.atomic = atomic,
            (None, Some(list), Some(true)) => list.kind = ListType::Atomic,
            _ => {}
        }
        it
    }

    fn build(&mut self, schema: &Value, preserve: bool, depth: usize) -> Type {
        let preserve = preserve || flag(schema, "x-kubernetes-preserve-unknown-fields");
        let declared = text(schema, "type");
        let format = text(schema, "format");
        let mut it = Type::default();
        match declared {
            "object" => it.map = Some(self.map(schema, preserve, depth)),
            "array" => it.list = Some(self.list(schema, preserve, depth)),
            "integer" | "number" => it.scalar = Some(Scalar::Numeric),
            "boolean" => it.scalar = Some(Scalar::Boolean),
            "string" if matches!(format, "" | "byte") => it.scalar = Some(Scalar::String),
            "string" => it.scalar = Some(Scalar::Untyped),
            _ => {
                it.scalar = Some(Scalar::Untyped);
                it.list = Some(self.list(schema, preserve, depth));
                it.map = Some(self.map(schema, preserve, depth));
            }
        }
        it
    }

    fn list(&mut self, schema: &Value, preserve: bool, depth: usize) -> List {
        let element = match schema.get("items") {
            Some(items) => self.refer(items, preserve, depth + 1),
            None => Id::UNTYPED,
        };
        List {
            element,
            kind: list_type(schema),
        }
    }

    fn map(&mut self, schema: &Value, preserve: bool, depth: usize) -> Map {
        let required: Vec<&str> = strings(schema, "required");
        let mut fields = BTreeMap::new();
        for (name, member) in self.members(schema).as_ref() {
            let property = Property {
                id: self.refer(member, preserve, depth + 1),
                default: member.get("default").filter(|it| !it.is_null()).cloned(),
                required: required.contains(&name.as_str()),
                patch: patch(member),
            };
            fields.insert(name.clone(), property);
        }
        let element = match schema.get("additionalProperties") {
            Some(Value::Bool(true)) => Some(Id::DEDUCED),
            Some(Value::Bool(false)) => None,
            Some(values) => Some(self.refer(values, preserve, depth + 1)),
            None => (preserve || fields.is_empty()).then_some(Id::DEDUCED),
        };
        Map {
            fields,
            element,
            atomic: map_type(schema) == Some(true),
        }
    }

    /// The declared fields, including the fields of an embedded object.
    fn members<'v>(&self, schema: &'v Value) -> std::borrow::Cow<'v, Object<String, Value>> {
        let mut schema = std::borrow::Cow::Borrowed(schema);
        if flag(&schema, "x-kubernetes-embedded-resource")
            && let Some(object) = schema.to_mut().as_object_mut()
        {
            add_object_meta(object);
        }
        match schema {
            std::borrow::Cow::Borrowed(it) => it
                .get("properties")
                .and_then(Value::as_object)
                .map_or_else(Default::default, std::borrow::Cow::Borrowed),
            std::borrow::Cow::Owned(mut it) => match it.get_mut("properties").map(Value::take) {
                Some(Value::Object(members)) => std::borrow::Cow::Owned(members),
                _ => std::borrow::Cow::default(),
            },
        }
    }
}

fn untyped() -> Type {
    Type {
        scalar: Some(Scalar::Untyped),
        list: Some(List {
            element: Id::UNTYPED,
            kind: ListType::Atomic,
        }),
        map: Some(Map {
            fields: BTreeMap::new(),
            element: Some(Id::UNTYPED),
            atomic: true,
        }),
        ..Type::default()
    }
}

fn deduced() -> Type {
    Type {
        map: Some(Map {
            fields: BTreeMap::new(),
            element: Some(Id::DEDUCED),
            atomic: false,
        }),
        ..untyped()
    }
}

fn reference(schema: &Value) -> Option<String> {
    let direct = schema.get("$ref").and_then(Value::as_str);
    let reference = direct.or_else(|| match schema.get("allOf")?.as_array()?.as_slice() {
        [only] => only.get("$ref")?.as_str(),
        _ => None,
    })?;
    reference
        .rsplit('/')
        .next()
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}

fn list_type(schema: &Value) -> ListType {
    match (
        text(schema, "x-kubernetes-list-type"),
        text(schema, "x-kubernetes-patch-strategy"),
    ) {
        ("set", _) => ListType::Set,
        ("map", _) => ListType::Map(
            strings(schema, "x-kubernetes-list-map-keys")
                .into_iter()
                .map(str::to_owned)
                .collect(),
        ),
        ("", "merge" | "merge,retainKeys") => match text(schema, "x-kubernetes-patch-merge-key") {
            "" => ListType::Set,
            key => ListType::Map(vec![key.to_owned()]),
        },
        _ => ListType::Atomic,
    }
}

fn map_type(schema: &Value) -> Option<bool> {
    match text(schema, "x-kubernetes-map-type") {
        "atomic" => Some(true),
        "granular" => Some(false),
        _ => None,
    }
}

fn patch(schema: &Value) -> Patch {
    let strategies = text(schema, "x-kubernetes-patch-strategy");
    let has = |name| strategies.split(',').any(|it| it == name);
    let key = text(schema, "x-kubernetes-patch-merge-key");
    Patch {
        merge: has("merge"),
        retain_keys: has("retainKeys"),
        replace: has("replace"),
        merge_key: (!key.is_empty()).then(|| key.to_owned()),
    }
}

fn text<'v>(schema: &'v Value, key: &str) -> &'v str {
    schema.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn flag(schema: &Value, key: &str) -> bool {
    schema.get(key) == Some(&Value::Bool(true))
}

fn strings<'v>(schema: &'v Value, key: &str) -> Vec<&'v str> {
    schema
        .get(key)
        .and_then(Value::as_array)
        .map(|it| it.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}
