//! Types and sizes of the variables of admission when expressions are written, by the schema of the kind.
//! A server compiles such expressions without it.

use super::scope;
use super::variables::COMPOSED;
use crate::declare::{Declared, Shape};
use crate::schema::Node;
use crate::types::{Scope, Type, Variable};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The declarations of variables, by their names.
pub(super) type Admitted = BTreeMap<&'static str, Declared>;

/// The longest value of a label, name of a namespace and name of most objects, the longest key of a label, and the size of all
/// annotations (apimachinery's `validation`), in characters.
const LABEL: u64 = 63;
const NAME: u64 = 253;
const KEY: u64 = 317;
const ANNOTATIONS: u64 = 256 * 1024;

/// Formats whose values are strings in the expressions of policies, but other types in rules: both may be meant.
const FORMATS: [&str; 4] = ["byte", "date", "date-time", "duration"];

/// Declares the variables, for objects under `schema`, an `openAPIV3Schema`, and parameters under `params`.
pub(super) fn declare(schema: &Value, params: Option<&Value>) -> Admitted {
    let mut all = Admitted::from([
        ("object", object(schema)),
        ("oldObject", object(schema)),
        ("request", of_type(&scope::request())),
        ("namespaceObject", namespace()),
    ]);
    all.extend(params.map(|schema| ("params", object(schema))));
    all
}

/// The variables of rules on a type, under the names that they have in policies, with these variables of a policy.
pub(super) fn rule_scope(schema: &Value, composed: Type) -> Option<Scope> {
    let object = Declared::of(&Node::read(schema), true)?.r#type("object");
    let variable = |name, r#type| Variable { name, r#type };
    let variables = vec![
        variable("object", object.clone()),
        variable("oldObject", object),
        variable(COMPOSED, composed),
    ];
    Some(Scope {
        variables,
        mutates: false,
    })
}

/// Declares an object with all of its metadata.
fn object(schema: &Value) -> Declared {
    let mut schema = opened(schema);
    if schema["properties"].is_object() {
        schema["properties"]["metadata"] = metadata();
        for name in ["apiVersion", "kind"] {
            schema["properties"][name] = text(NAME);
        }
    }
    Declared::of(&Node::read(&schema), false).unwrap_or_else(|| of_type(&Type::Dyn))
}

/// Declares a Namespace with the server's type, and the sizes of its metadata.
fn namespace() -> Declared {
    let mut namespace = of_type(&scope::namespace());
    let metadata = Declared::of(&Node::read(&opened(&metadata())), false);
    if let (Shape::Object(fields), Some(sized)) = (&mut namespace.shape, metadata) {
        let sized = match (fields.get("metadata").map(|it| &it.shape), sized.shape) {
            (Some(Shape::Object(known)), Shape::Object(sized)) => {
                let sized = sized.into_iter().filter(|(name, _)| known.contains_key(name));
                // Its times are timestamps, and its uid has another name.
                let sized = sized.filter(|(name, _)| !name.ends_with("Timestamp"));
                known.clone().into_iter().chain(sized).collect()
            }
            _ => return namespace,
        };
        fields.insert("metadata".to_owned(), Arc::new(Declared::fields(sized)));
    }
    namespace
}

/// Declares a value of this type, of any size that fits into a request.
fn of_type(r#type: &Type) -> Declared {
    match r#type {
        Type::List(item) => Declared::list(of_type(item)),
        Type::Map(of) => Declared::map(of_type(&of.1)),
        Type::Object(of) => {
            let fields = of.fields.iter();
            Declared::fields(fields.map(|(name, it)| (name.clone(), Arc::new(of_type(it)))).collect())
        }
        other => Declared::any_size(other.clone()),
    }
}

fn text(most: u64) -> Value {
    json!({"type": "string", "maxLength": most})
}

/// A value of any type.
fn any() -> Value {
    json!({"x-kubernetes-int-or-string": true})
}

/// Whether a value may be of any type, or have any fields.
pub(super) fn is_open(schema: &Value) -> bool {
    let flag = |key: &str| schema[key] == true;
    flag("x-kubernetes-preserve-unknown-fields")
        || flag("x-kubernetes-embedded-resource")
        || flag("x-kubernetes-int-or-string")
        || flag("additionalProperties")
        || schema["type"].is_null()
}

/// The schema as expressions of policies see values: those that it only preserves are of any type.
fn opened(schema: &Value) -> Value {
    let Some(node) = schema.as_object() else {
        return any();
    };
    let format = node.get("format").and_then(Value::as_str).unwrap_or_default();
    if is_open(schema) || FORMATS.contains(&format) {
        return any();
    }
    let mut node = node.clone();
    for key in ["items", "additionalProperties"] {
        if let Some(below) = node.get_mut(key).filter(|below| below.is_object()) {
            *below = opened(below);
        }
    }
    if let Some(Value::Object(properties)) = node.get_mut("properties") {
        let all = std::mem::take(properties).into_iter();
        *properties = all.map(|(name, below)| (name, opened(&below))).collect();
    }
    Value::Object(node)
}

/// The schema of ObjectMeta, with the limits that the server enforces.
pub(super) fn metadata() -> Value {
    let number = json!({"type": "integer"});
    let flag = json!({"type": "boolean"});
    let map = |most: u64| json!({"type": "object", "additionalProperties": text(most)});
    let list = |items: Value| json!({"type": "array", "items": items});
    let object = |fields: Map<String, Value>| json!({"type": "object", "properties": fields});
    let texts = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), text(NAME))).collect();
    let mut owner: Map<String, Value> = texts(&["apiVersion", "kind", "name", "uid"]);
    owner.extend(["blockOwnerDeletion", "controller"].map(|name| (name.to_owned(), flag.clone())));
    let mut manager: Map<String, Value> = texts(&["apiVersion", "fieldsType", "manager", "operation", "subresource"]);
    manager.extend(["fieldsV1", "time"].map(|name| (name.to_owned(), any())));
    let mut all: Map<String, Value> = texts(&["generateName", "name", "resourceVersion", "selfLink", "uid"]);
    all.extend(
        [
            ("annotations", map(ANNOTATIONS)),
            ("creationTimestamp", any()),
            ("deletionGracePeriodSeconds", number.clone()),
            ("deletionTimestamp", any()),
            ("finalizers", list(text(KEY))),
            ("generation", number),
            ("labels", map(LABEL)),
            ("managedFields", list(object(manager))),
            ("namespace", text(LABEL)),
            ("ownerReferences", list(object(owner))),
        ]
        .map(|(name, schema)| (name.to_owned(), schema)),
    );
    object(all)
}
