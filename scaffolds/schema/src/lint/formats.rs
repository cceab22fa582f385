//! Finds formats that the server does not support. It ignores them, with a warning.

use serde_json::{Map, Value};

/// The supported formats of strings (k8s.io/apiextensions-apiserver v0.37, pkg/apiserver/validation/formats.go); dashes in a format's
/// name are ignored.
const OF_STRINGS: [&str; 26] = [
    "bsonobjectid",
    "uri",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "cidr",
    "mac",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
    "isbn",
    "isbn10",
    "isbn13",
    "creditcard",
    "ssn",
    "hexcolor",
    "rgbcolor",
    "byte",
    "password",
    "date",
    "duration",
    "datetime",
    "k8sshortname",
    "k8slongname",
];

/// The unsupported formats of a CRD or schema, each with the path of its field.
pub(super) fn unknown(value: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut visit = |schema: &Map<String, Value>, field: &str| {
        let format = schema.get("format").and_then(Value::as_str);
        found.extend(
            format
                .filter(|format| !known(schema, format))
                .map(|format| (field.to_owned(), format.to_owned())),
        );
    };
    walk_all(value, &mut visit);
    found
}

/// Calls `visit` with each schema inside of a schema, or inside of those of all versions of a CRD, and the field that it describes.
pub(super) fn walk_all(value: &Value, visit: &mut dyn FnMut(&Map<String, Value>, &str)) {
    match value.pointer("/spec/versions").and_then(Value::as_array) {
        Some(versions) => {
            for version in versions {
                walk(&version["schema"]["openAPIV3Schema"], "", visit);
            }
        }
        None => walk(value, "", visit),
    }
}

/// The unsupported formats of a schema, each as field, message and remedy.
pub(super) fn findings(schema: &Value) -> Vec<(String, String, String)> {
    let describe = |(field, format): (String, String)| {
        let message = format!("unrecognized format \"{format}\"; the API server ignores it, with a warning");
        let remedy = "integers have int32 and int64, numbers float and double, strings date-time, date, duration, uuid, uri, \
                      email, hostname, ipv4, ipv6, cidr, byte, password and some more; \
                      `#[schemars(extend(\"format\" = …))]` sets one";
        (field, message, remedy.to_owned())
    };
    unknown(schema).into_iter().map(describe).collect()
}

/// Calls `visit` with each schema inside of one, and the field that it describes.
pub(super) fn walk(value: &Value, field: &str, visit: &mut dyn FnMut(&Map<String, Value>, &str)) {
    let Value::Object(schema) = value else { return };
    visit(schema, field);
    for (name, property) in schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let dot = if field.is_empty() { "" } else { "." };
        walk(property, &format!("{field}{dot}{name}"), visit);
    }
    for (key, suffix) in [("items", "[]"), ("additionalProperties", "{}"), ("not", "")] {
        if let Some(child) = schema.get(key) {
            walk(child, &format!("{field}{suffix}"), visit);
        }
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for branch in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
            walk(branch, field, visit);
        }
    }
}

fn known(schema: &Map<String, Value>, format: &str) -> bool {
    match schema.get("type").and_then(Value::as_str).unwrap_or_default() {
        "" | "string" => OF_STRINGS.contains(&format.replace('-', "").as_str()),
        "integer" => ["int32", "int64"].contains(&format),
        "number" => ["float", "double"].contains(&format),
        _ => false,
    }
}
