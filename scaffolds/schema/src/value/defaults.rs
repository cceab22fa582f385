//! Validates the defaults of a schema by the schema itself.

use super::node::Node;
use super::read::Reading;
use super::{object_causes, prune, resource};
use kubewright_machinery::cause::{Cause, Path};
use kubewright_machinery::go;
use serde_json::{Map, Value, json};

/// The causes for which defaults in the schema of a resource, at `path`, are invalid.
pub(crate) fn check(schema: &Map<String, Value>, path: &Path) -> Vec<Cause> {
    let mut causes = Vec::new();
    let scope = Scope {
        resource: schema,
        steps: Vec::new(),
        inside_meta: false,
    };
    walk(schema, path, &scope, &mut causes);
    causes
}

/// The surroundings of a node.
#[derive(Clone)]
struct Scope<'a> {
    /// The schema of the innermost resource.
    resource: &'a Map<String, Value>,
    /// The steps from there to the node.
    steps: Vec<SchemaStep<'a>>,
    /// Whether the node is inside the resource's metadata.
    inside_meta: bool,
}

#[derive(Clone, Copy)]
enum SchemaStep<'a> {
    Property(&'a str),
    Item,
}

impl<'a> Scope<'a> {
    fn step(&self, step: SchemaStep<'a>) -> Self {
        let mut below = self.clone();
        below.steps.push(step);
        below
    }

    /// A resource that has only `value`, at this place.
    fn resource_around(&self, value: Value) -> Value {
        let inner = self.steps.iter().rev().fold(value, |value, step| match step {
            SchemaStep::Property(name) => json!({*name: value}),
            SchemaStep::Item => json!([value]),
        });
        let mut resource = json!({"apiVersion": "validation/v1", "kind": "Validation"});
        if let (Value::Object(resource), Value::Object(inner)) = (&mut resource, inner) {
            resource.extend(inner);
        }
        resource
    }
}

fn walk<'a>(schema: &'a Map<String, Value>, path: &Path, scope: &Scope<'a>, causes: &mut Vec<Cause>) {
    let embedded = schema.get("x-kubernetes-embedded-resource") == Some(&Value::Bool(true));
    let own = Scope {
        resource: schema,
        steps: Vec::new(),
        inside_meta: false,
    };
    let scope = if embedded { &own } else { scope };
    if let Some(default) = schema.get("default").filter(|it| !it.is_null()) {
        let path = path.child("default");
        causes.extend(if scope.inside_meta {
            in_metadata(default, schema, &path, scope)
        } else {
            anywhere(default, schema, &path, scope.steps.is_empty())
        });
    }
    // As on the server, nothing below `additionalProperties` is checked.
    if let Some(Value::Object(items)) = schema.get("items") {
        walk(items, &path.child("items"), &scope.step(SchemaStep::Item), causes);
    }
    for (name, property) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        if let Value::Object(property) = property {
            let mut below = scope.step(SchemaStep::Property(name));
            let meta = ["metadata", "apiVersion", "kind"].contains(&name.as_str());
            below.inside_meta |= meta && scope.steps.is_empty();
            walk(property, &path.property(name), &below, causes);
        }
    }
}

/// Checks a default inside the metadata of a resource: the metadata must be valid with it.
fn in_metadata(default: &Value, schema: &Map<String, Value>, path: &Path, scope: &Scope) -> Vec<Cause> {
    let mut resource_node = Node::of(scope.resource, Reading::Defaults);
    resource_node.become_resource();
    let mut object = scope.resource_around(default.clone());
    let fault = match resource::coerce(&mut object, &resource_node, &Path::root()) {
        Err(cause) => Some(cause.to_string()),
        Ok(_) => {
            let mut causes = Vec::new();
            resource::check(&object, &resource_node, &Path::root(), &mut causes);
            aggregate(&causes)
        }
    };
    match fault {
        Some(fault) => vec![path.invalid(default.clone(), &format!("must result in valid metadata: {fault}"))],
        None => by_schema(default, schema, &Node::of(schema, Reading::Defaults), path),
    }
}

fn anywhere(default: &Value, schema: &Map<String, Value>, path: &Path, resource: bool) -> Vec<Cause> {
    let mut node = Node::of(schema, Reading::Defaults);
    if resource {
        node.become_resource();
    }
    let mut causes = Vec::new();
    let mut value = default.clone();
    prune::unknown_in(&mut value, &node);
    if !go::equal(&value, default) {
        causes.push(path.invalid(default.clone(), "must not have unknown fields"));
    }
    let mut value = default.clone();
    if let Err(cause) = resource::coerce(&mut value, &node, path) {
        causes.push(cause);
        return causes;
    }
    let mut found = Vec::new();
    resource::check(&value, &node, path, &mut found);
    if found.is_empty() {
        found = by_schema(&value, schema, &node, path);
    }
    causes.extend(found);
    causes
}

/// Validates a default by the keywords, and if those have no objection, by the validation rules.
fn by_schema(default: &Value, schema: &Map<String, Value>, node: &Node, path: &Path) -> Vec<Cause> {
    let causes = object_causes(default, None, node, path);
    if causes.is_empty() && node.has_rules {
        return by_rules(default, schema, path);
    }
    causes
}

#[cfg(not(feature = "cel"))]
fn by_rules(_: &Value, _: &Map<String, Value>, _: &Path) -> Vec<Cause> {
    Vec::new()
}

/// Validates a default by the rules, both as an unchanged value and as a new one.
#[cfg(feature = "cel")]
fn by_rules(default: &Value, schema: &Map<String, Value>, path: &Path) -> Vec<Cause> {
    kubewright_cel::check_default(default, &Value::Object(schema.clone()), path)
}

/// The causes in the form in which Go prints a list of errors; `None` for an empty list.
fn aggregate(causes: &[Cause]) -> Option<String> {
    match causes {
        [] => None,
        [one] => Some(one.to_string()),
        _ => {
            let all: Vec<String> = causes.iter().map(ToString::to_string).collect();
            Some(format!("[{}]", all.join(", ")))
        }
    }
}

impl Node {
    /// Makes this the node of a resource. The root of a schema always is one, even without `x-kubernetes-embedded-resource`.
    fn become_resource(&mut self) {
        self.embedded = true;
        self.has_resources = true;
    }
}
