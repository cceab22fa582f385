//! The recorded shapes as OpenAPI v3 schemas, for server-side apply, strategic merge and `/openapi`.

use serde_json::{Map, Value, json};

use super::shapes::{self, Shape, ShapeField, Type};

const REFERENCE: &str = "#/components/schemas/";

/// The schema with this full name (`io.k8s.api.apps.v1.Deployment`), as the real server publishes it but for descriptions.
pub fn openapi_schema(name: &str) -> Option<Value> {
    shapes::shape(&short(name)).map(object)
}

/// The same, in which only those fields are required that Go writes even if nobody has set them. The Go type of a field that
/// the server requires may still leave it out.
pub(super) fn encoded_schema(name: &str) -> Option<Value> {
    let shape = shapes::shape(&short(name))?;
    let mut schema = object(shape);
    let omitted = |name: &Value| shape.fields.iter().any(|field| field.omit_empty && *name == field.name);
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| !omitted(name));
    }
    Some(schema)
}

/// The full names of all schemas there are.
pub fn openapi_schema_names() -> Vec<String> {
    let mut names: Vec<String> = shapes::names().map(full).collect();
    names.sort();
    names
}

pub(super) fn short(name: &str) -> String {
    match name.strip_prefix("io.k8s.api.") {
        Some(rest) => rest.to_owned(),
        None => name.replace("io.k8s.apimachinery.pkg.", "~"),
    }
}

pub(super) fn full(name: &str) -> String {
    if name.starts_with('~') {
        name.replace('~', "io.k8s.apimachinery.pkg.")
    } else if name.starts_with("io.") {
        name.to_owned()
    } else {
        format!("io.k8s.api.{name}")
    }
}

fn object(shape: &Shape) -> Value {
    let mut out = Map::new();
    for (key, value) in &shape.attributes {
        match *key {
            "t" => _ = out.insert("type".to_owned(), json!(value)),
            "f" => _ = out.insert("format".to_owned(), json!(value)),
            "m" => _ = out.insert("x-kubernetes-map-type".to_owned(), json!(value)),
            "o" => {
                let alternatives: Vec<Value> = value.split('|').map(|name| json!({"type": name})).collect();
                out.insert("oneOf".to_owned(), json!(alternatives));
            }
            "k" => kind(&mut out, value),
            "u" => _ = out.insert("x-kubernetes-unions".to_owned(), parsed(value)),
            _ => {}
        }
    }
    let required: Vec<&str> = shape
        .fields
        .iter()
        .filter(|field| field.required)
        .map(|field| field.name)
        .collect();
    if !required.is_empty() {
        out.insert("required".to_owned(), json!(required));
    }
    if !shape.fields.is_empty() {
        let properties = shape
            .fields
            .iter()
            .map(|field| (field.name.to_owned(), property(field)));
        out.insert("properties".to_owned(), Value::Object(properties.collect()));
    }
    Value::Object(out)
}

fn kind(out: &mut Map<String, Value>, text: &str) {
    let mut parts = text.split('/');
    let mut next = || parts.next().unwrap_or_default();
    let kind = json!({"group": next(), "version": next(), "kind": next()});
    let kinds = out
        .entry("x-kubernetes-group-version-kind")
        .or_insert_with(|| json!([]));
    if let Some(kinds) = kinds.as_array_mut() {
        kinds.push(kind);
    }
}

fn property(field: &ShapeField) -> Value {
    let mut out = schema(&field.kind, field.attribute("ie"));
    let words = |text: &str, between: char| json!(text.split(between).collect::<Vec<_>>());
    for (key, value) in &field.attributes {
        let (name, value) = match *key {
            "d" => ("default", parsed(value)),
            "e" => ("enum", values(value)),
            "l" => ("x-kubernetes-list-type", json!(value)),
            "lk" => ("x-kubernetes-list-map-keys", words(value, ',')),
            "m" => ("x-kubernetes-map-type", json!(value)),
            "p" => ("x-kubernetes-patch-strategy", json!(value)),
            "pk" => ("x-kubernetes-patch-merge-key", json!(value)),
            _ => continue,
        };
        out.insert(name.to_owned(), value);
    }
    Value::Object(out)
}

fn schema(kind: &Type, item_values: Option<&str>) -> Map<String, Value> {
    let scalar = |name: &str, format: Option<&str>| {
        let mut out = Map::from_iter([("type".to_owned(), json!(name))]);
        if let Some(format) = format {
            out.insert("format".to_owned(), json!(format));
        }
        out
    };
    match kind {
        Type::Str => scalar("string", None),
        Type::Bytes => scalar("string", Some("byte")),
        Type::I32 => scalar("integer", Some("int32")),
        Type::I64 => scalar("integer", Some("int64")),
        Type::F64 => scalar("number", Some("double")),
        Type::Bool => scalar("boolean", None),
        Type::Ref(name, true) => Map::from_iter([("$ref".to_owned(), json!(reference(name)))]),
        Type::Ref(name, false) => Map::from_iter([("allOf".to_owned(), json!([{"$ref": reference(name)}]))]),
        Type::List(item) => container("array", "items", item, item_values),
        Type::Map(item) => container("object", "additionalProperties", item, item_values),
    }
}

fn container(name: &str, inner: &str, item: &Type, values: Option<&str>) -> Map<String, Value> {
    let mut schema = schema(item, None);
    let default = match item {
        _ if !shapes::items_have_defaults() => None,
        Type::Str => Some(json!("")),
        Type::I32 | Type::I64 => Some(json!(0)),
        Type::Bool => Some(json!(false)),
        Type::Ref(_, false) => Some(json!({})),
        _ => None,
    };
    if let Some(default) = default {
        schema.insert("default".to_owned(), default);
    }
    if let Some(values) = values {
        schema.insert("enum".to_owned(), self::values(values));
    }
    Map::from_iter([
        ("type".to_owned(), json!(name)),
        (inner.to_owned(), Value::Object(schema)),
    ])
}

/// The values that a field is limited to.
fn values(text: &str) -> Value {
    text.split('|').map(|value| value.replace("%20", " ")).collect()
}

fn reference(name: &str) -> String {
    format!("{REFERENCE}{}", full(name))
}

/// A value that the recorder wrote; what cannot be read is null, which no schema has.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_values_may_contain_spaces() {
        let spec = openapi_schema("io.k8s.api.certificates.v1.CertificateSigningRequestSpec").unwrap();
        let usages = spec.pointer("/properties/usages").unwrap();
        assert_eq!(usages["items"]["enum"][1], "cert sign");
        assert_eq!(usages["x-kubernetes-list-type"], "atomic");
    }
}
