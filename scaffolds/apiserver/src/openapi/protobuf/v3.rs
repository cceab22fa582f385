//! The messages of OpenAPI v3 (gnostic, `openapiv3/OpenAPIv3.proto`), as far as API servers use them.

use serde_json::Value;

use super::{Field, Wire, extensions, field};

/// The document.
pub(super) static DOCUMENT: [Field; 6] = [
    field("openapi", 1, Wire::Text),
    field("info", 2, Wire::Message(&INFO)),
    field("paths", 4, Wire::Message(&PATHS)),
    field("components", 5, Wire::Message(&COMPONENTS)),
    field("security", 6, Wire::List(&Wire::Map(&Wire::Items(&Wire::Text)))),
    extensions(9),
];

static INFO: [Field; 6] = [
    field("title", 1, Wire::Text),
    field("description", 2, Wire::Text),
    field("termsOfService", 3, Wire::Text),
    field("version", 6, Wire::Text),
    extensions(7),
    field("summary", 8, Wire::Text),
];

static PATHS: [Field; 2] = [field("/", 1, Wire::Entries(&Wire::Message(&PATH_ITEM))), extensions(2)];

static PATH_ITEM: [Field; 13] = [
    field("$ref", 1, Wire::Text),
    field("summary", 2, Wire::Text),
    field("description", 3, Wire::Text),
    field("get", 4, Wire::Message(&OPERATION)),
    field("put", 5, Wire::Message(&OPERATION)),
    field("post", 6, Wire::Message(&OPERATION)),
    field("delete", 7, Wire::Message(&OPERATION)),
    field("options", 8, Wire::Message(&OPERATION)),
    field("head", 9, Wire::Message(&OPERATION)),
    field("patch", 10, Wire::Message(&OPERATION)),
    field("trace", 11, Wire::Message(&OPERATION)),
    field("parameters", 13, Wire::List(&Wire::OneOf(parameter))),
    extensions(14),
];

static OPERATION: [Field; 10] = [
    field("tags", 1, Wire::List(&Wire::Text)),
    field("summary", 2, Wire::Text),
    field("description", 3, Wire::Text),
    field("operationId", 5, Wire::Text),
    field("parameters", 6, Wire::List(&Wire::OneOf(parameter))),
    field("requestBody", 7, Wire::OneOf(request_body)),
    field("responses", 8, Wire::Message(&RESPONSES)),
    field("deprecated", 10, Wire::Bool),
    field("security", 11, Wire::List(&Wire::Map(&Wire::Items(&Wire::Text)))),
    extensions(13),
];

static PARAMETER: [Field; 13] = [
    field("name", 1, Wire::Text),
    field("in", 2, Wire::Text),
    field("description", 3, Wire::Text),
    field("required", 4, Wire::Bool),
    field("deprecated", 5, Wire::Bool),
    field("allowEmptyValue", 6, Wire::Bool),
    field("style", 7, Wire::Text),
    field("explode", 8, Wire::Bool),
    field("allowReserved", 9, Wire::Bool),
    field("schema", 10, Wire::OneOf(schema)),
    field("example", 11, Wire::Any),
    field("content", 13, Wire::Map(&Wire::Message(&MEDIA_TYPE))),
    extensions(14),
];

static REFERENCE: [Field; 3] = [
    field("$ref", 1, Wire::Text),
    field("summary", 2, Wire::Text),
    field("description", 3, Wire::Text),
];

static REQUEST_BODY: [Field; 4] = [
    field("description", 1, Wire::Text),
    field("content", 2, Wire::Map(&Wire::Message(&MEDIA_TYPE))),
    field("required", 3, Wire::Bool),
    extensions(4),
];

static MEDIA_TYPE: [Field; 3] = [
    field("schema", 1, Wire::OneOf(schema)),
    field("example", 2, Wire::Any),
    extensions(5),
];

static RESPONSES: [Field; 2] = [field("", 2, Wire::Entries(&Wire::OneOf(response))), extensions(3)];

static RESPONSE: [Field; 3] = [
    field("description", 1, Wire::Text),
    field("content", 3, Wire::Map(&Wire::Message(&MEDIA_TYPE))),
    extensions(5),
];

static COMPONENTS: [Field; 3] = [
    field("schemas", 1, Wire::Map(&Wire::OneOf(schema))),
    field("securitySchemes", 7, Wire::Map(&Wire::OneOf(security_scheme))),
    extensions(10),
];

static SCHEMA: [Field; 33] = [
    field("nullable", 1, Wire::Bool),
    field("readOnly", 3, Wire::Bool),
    field("writeOnly", 4, Wire::Bool),
    field("example", 7, Wire::Any),
    field("deprecated", 8, Wire::Bool),
    field("title", 9, Wire::Text),
    field("multipleOf", 10, Wire::Double),
    field("maximum", 11, Wire::Double),
    field("exclusiveMaximum", 12, Wire::Bool),
    field("minimum", 13, Wire::Double),
    field("exclusiveMinimum", 14, Wire::Bool),
    field("maxLength", 15, Wire::Integer),
    field("minLength", 16, Wire::Integer),
    field("pattern", 17, Wire::Text),
    field("maxItems", 18, Wire::Integer),
    field("minItems", 19, Wire::Integer),
    field("uniqueItems", 20, Wire::Bool),
    field("maxProperties", 21, Wire::Integer),
    field("minProperties", 22, Wire::Integer),
    field("required", 23, Wire::List(&Wire::Text)),
    field("enum", 24, Wire::List(&Wire::Any)),
    field("type", 25, Wire::Text),
    field("allOf", 26, Wire::List(&Wire::OneOf(schema))),
    field("oneOf", 27, Wire::List(&Wire::OneOf(schema))),
    field("anyOf", 28, Wire::List(&Wire::OneOf(schema))),
    field("not", 29, Wire::Message(&SCHEMA)),
    field("items", 30, Wire::Items(&Wire::OneOf(schema))),
    field("properties", 31, Wire::Map(&Wire::OneOf(schema))),
    field("additionalProperties", 32, Wire::OneOf(additional_properties)),
    field("default", 33, Wire::OneOf(default)),
    field("description", 34, Wire::Text),
    field("format", 35, Wire::Text),
    extensions(36),
];

static SECURITY_SCHEME: [Field; 8] = [
    field("type", 1, Wire::Text),
    field("description", 2, Wire::Text),
    field("name", 3, Wire::Text),
    field("in", 4, Wire::Text),
    field("scheme", 5, Wire::Text),
    field("bearerFormat", 6, Wire::Text),
    field("openIdConnectUrl", 8, Wire::Text),
    extensions(9),
];

fn parameter(value: &Value) -> Option<(u64, Wire)> {
    Some(or_reference(value, Wire::Message(&PARAMETER)))
}

fn response(value: &Value) -> Option<(u64, Wire)> {
    Some(or_reference(value, Wire::Message(&RESPONSE)))
}

fn schema(value: &Value) -> Option<(u64, Wire)> {
    Some(or_reference(value, Wire::Message(&SCHEMA)))
}

fn security_scheme(value: &Value) -> Option<(u64, Wire)> {
    Some(or_reference(value, Wire::Message(&SECURITY_SCHEME)))
}

fn request_body(value: &Value) -> Option<(u64, Wire)> {
    Some(or_reference(value, Wire::Message(&REQUEST_BODY)))
}

fn or_reference(value: &Value, kind: Wire) -> (u64, Wire) {
    match value.get("$ref") {
        None => (1, kind),
        Some(_) => (2, Wire::Message(&REFERENCE)),
    }
}

fn additional_properties(value: &Value) -> Option<(u64, Wire)> {
    Some(match value {
        Value::Bool(_) => (2, Wire::Bool),
        _ => (1, Wire::OneOf(schema)),
    })
}

/// Defaults that are lists or maps get lost, as upstream.
fn default(value: &Value) -> Option<(u64, Wire)> {
    Some(match value {
        Value::Number(_) => (1, Wire::Double),
        Value::Bool(_) => (2, Wire::Bool),
        Value::String(_) => (3, Wire::Text),
        _ => return None,
    })
}
