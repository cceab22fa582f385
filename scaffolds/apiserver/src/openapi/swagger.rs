//! The v2 document: all v3 documents in one, in Swagger's terms, which express less about schemas.

use super::operation::COMPONENTS;
use crate::release::KUBERNETES;
use serde_json::{Map, Value, json};

/// Fields that Swagger does not have, and defaults, which upstream omits there.
const UNKNOWN: [&str; 5] = ["allOf", "anyOf", "oneOf", "not", "default"];

/// Merges all `documents` into one.
pub(super) fn of(documents: impl Iterator<Item = Value>) -> Value {
    let (mut paths, mut definitions) = (Map::new(), Map::new());
    for mut document in documents {
        let take = |part: Option<&mut Value>| match part.map(Value::take) {
            Some(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        for (name, schema) in take(document.pointer_mut("/components/schemas")) {
            definitions.insert(name, root(schema));
        }
        for (path, item) in take(document.get_mut("paths")) {
            paths.insert(path, place(item));
        }
    }
    json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": KUBERNETES},
        "paths": paths,
        "definitions": definitions,
        "security": [{"BearerToken": []}],
        "securityDefinitions": {"BearerToken": {
            "type": "apiKey", "description": "Bearer Token authentication", "name": "authorization", "in": "header",
        }},
    })
}

/// The schema of a definition. An object that preserves unknown fields gets no properties, because clients would take
/// the list for complete.
fn root(schema: Value) -> Value {
    if schema["x-kubernetes-preserve-unknown-fields"] == true {
        return json!({"type": "object", "x-kubernetes-group-version-kind": schema["x-kubernetes-group-version-kind"]});
    }
    node(schema)
}

fn node(schema: Value) -> Value {
    let Value::Object(mut fields) = schema else {
        return schema;
    };
    if let Some(name) = reference(&fields) {
        let mut out = json!({"$ref": format!("#/definitions/{name}")});
        if let Some(description) = fields.remove("description") {
            out["description"] = description;
        }
        return out;
    }
    let nullable = fields.remove("nullable") == Some(json!(true));
    let keeps = fields.get("x-kubernetes-preserve-unknown-fields") == Some(&json!(true));
    fields.retain(|key, _| !UNKNOWN.contains(&key.as_str()));
    if nullable || keeps {
        fields.remove("items");
        fields.remove("properties");
    }
    let is = |fields: &Map<String, Value>, kind: &str| fields.get("type").is_some_and(|it| it == kind);
    if nullable || keeps && is(&fields, "object") || is(&fields, "array") && !fields.contains_key("items") {
        fields.remove("type");
    }
    if keeps && fields.get("x-kubernetes-embedded-resource") == Some(&json!(true)) {
        // `kind` and `apiVersion` were required, but their properties have been removed.
        require_less(&mut fields, |_, name| name != "kind" && name != "apiVersion");
    }
    // Swagger has no nulls, so a field that may be null cannot be required.
    require_less(&mut fields, |fields, name| {
        let property = fields.get("properties").and_then(|all| all.get(name));
        property.is_none_or(|it| it.get("nullable") != Some(&json!(true)))
    });
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(|it| *it = node(it.take()));
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = fields.get_mut(key) {
            *inner = node(inner.take());
        }
    }
    Value::Object(fields)
}

/// The referenced definition: of a plain reference, or of the `allOf` with which v3 adds a description.
fn reference(fields: &Map<String, Value>) -> Option<String> {
    let wrapped = fields
        .get("allOf")
        .and_then(|all| all.get(0))
        .and_then(|it| it.get("$ref"));
    let reference = fields.get("$ref").or(wrapped)?;
    reference.as_str()?.strip_prefix(COMPONENTS).map(str::to_owned)
}

/// Removes the required fields for which `stays` is false.
fn require_less(fields: &mut Map<String, Value>, stays: impl Fn(&Map<String, Value>, &str) -> bool) {
    let Some(Value::Array(required)) = fields.get("required") else {
        return;
    };
    let stays = |name: &&Value| name.as_str().is_some_and(|name| stays(fields, name));
    let left: Vec<Value> = required.iter().filter(stays).cloned().collect();
    if left.is_empty() {
        fields.remove("required");
    } else {
        fields.insert("required".to_owned(), Value::Array(left));
    }
}

/// A path in Swagger's form: request bodies become parameters, and media types belong to the operation.
fn place(item: Value) -> Value {
    let Value::Object(fields) = item else { return item };
    let convert = |(key, value): (String, Value)| {
        let value = if key == "parameters" {
            parameters(value)
        } else {
            operation(value)
        };
        (key, value)
    };
    Value::Object(fields.into_iter().map(convert).collect())
}

fn operation(operation: Value) -> Value {
    let Value::Object(mut fields) = operation else {
        return operation;
    };
    let types = |content: &Value| {
        content
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .cloned()
            .collect::<Vec<_>>()
    };
    let mut all = match fields.remove("parameters").map(parameters) {
        Some(Value::Array(all)) => all,
        _ => Vec::new(),
    };
    fields.insert(
        "produces".to_owned(),
        json!(types(
            &fields.get("responses").unwrap_or(&Value::Null)["200"]["content"]
        )),
    );
    if let Some(body) = fields.remove("requestBody") {
        fields.insert("consumes".to_owned(), json!(types(&body["content"])));
        let mut parameter = json!({"name": "body", "in": "body", "schema": first_schema(&body["content"])});
        if body["required"] == true {
            parameter["required"] = json!(true);
        }
        all.insert(0, parameter);
    }
    if !all.is_empty() {
        fields.insert("parameters".to_owned(), Value::Array(all));
    }
    if let Some(Value::Object(responses)) = fields.get_mut("responses") {
        responses.values_mut().for_each(|it| *it = response(it));
    }
    fields.insert("schemes".to_owned(), json!(["https"]));
    Value::Object(fields)
}

fn response(response: &Value) -> Value {
    let mut out = json!({"description": response["description"]});
    if response["content"].is_object() {
        out["schema"] = first_schema(&response["content"]);
    }
    out
}

fn first_schema(content: &Value) -> Value {
    let first = content.as_object().and_then(|all| all.values().next());
    first.map(|it| node(it["schema"].clone())).unwrap_or_default()
}

fn parameters(all: Value) -> Value {
    let Value::Array(all) = all else { return all };
    let flat = |mut parameter: Value| {
        let schema = parameter["schema"].take();
        if let (Value::Object(fields), Value::Object(schema)) = (&mut parameter, schema) {
            fields.remove("schema");
            fields.extend(schema);
        }
        parameter
    };
    Value::Array(all.into_iter().map(flat).collect())
}
