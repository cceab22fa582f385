//! The messages of OpenAPI v3 (gnostic, `openapiv3/OpenAPIv3.proto`), as far as API servers use them.

use serde_json::Value;

use super::{Field, Kind, extensions, field};

/// The document.
pub(super) static DOCUMENT: [Field; 6] = [
    field("openapi", 1, Kind::Text),
    field("info", 2, Kind::Message(&INFO)),
    field("paths", 4, Kind::Message(&PATHS)),
    field("components", 5, Kind::Message(&COMPONENTS)),
    field("security", 6, Kind::List(&Kind::Map(&Kind::Items(&Kind::Text)))),
    extensions(9),
];

static INFO: [Field; 6] = [
    field("title", 1, Kind::Text),
    field("description", 2, Kind::Text),
    field("termsOfService", 3, Kind::Text),
    field("version", 6, Kind::Text),
    extensions(7),
    field("summary", 8, Kind::Text),
];

static PATHS: [Field; 2] = [field("/", 1, Kind::Entries(&Kind::Message(&PATH_ITEM))), extensions(2)];

static PATH_ITEM: [Field; 13] = [
    field("$ref", 1, Kind::Text),
    field("summary", 2, Kind::Text),
    field("description", 3, Kind::Text),
    field("get", 4, Kind::Message(&OPERATION)),
    field("put", 5, Kind::Message(&OPERATION)),
    field("post", 6, Kind::Message(&OPERATION)),
    field("delete", 7, Kind::Message(&OPERATION)),
    field("options", 8, Kind::Message(&OPERATION)),
    field("head", 9, Kind::Message(&OPERATION)),
    field("patch", 10, Kind::Message(&OPERATION)),
    field("trace", 11, Kind::Message(&OPERATION)),
    field("parameters", 13, Kind::List(&Kind::OneOf(parameter))),
    extensions(14),
];

static OPERATION: [Field; 10] = [
    field("tags", 1, Kind::List(&Kind::Text)),
    field("summary", 2, Kind::Text),
    field("description", 3, Kind::Text),
    field("operationId", 5, Kind::Text),
    field("parameters", 6, Kind::List(&Kind::OneOf(parameter))),
    field("requestBody", 7, Kind::OneOf(request_body)),
    field("responses", 8, Kind::Message(&RESPONSES)),
    field("deprecated", 10, Kind::Bool),
    field("security", 11, Kind::List(&Kind::Map(&Kind::Items(&Kind::Text)))),
    extensions(13),
];

static PARAMETER: [Field; 13] = [
    field("name", 1, Kind::Text),
    field("in", 2, Kind::Text),
    field("description", 3, Kind::Text),
    field("required", 4, Kind::Bool),
    field("deprecated", 5, Kind::Bool),
    field("allowEmptyValue", 6, Kind::Bool),
    field("style", 7, Kind::Text),
    field("explode", 8, Kind::Bool),
    field("allowReserved", 9, Kind::Bool),
    field("schema", 10, Kind::OneOf(schema)),
    field("example", 11, Kind::Any),
    field("content", 13, Kind::Map(&Kind::Message(&MEDIA_TYPE))),
    extensions(14),
];

static REFERENCE: [Field; 3] = [
    field("$ref", 1, Kind::Text),
    field("summary", 2, Kind::Text),
    field("description", 3, Kind::Text),
];

static REQUEST_BODY: [Field; 4] = [
    field("description", 1, Kind::Text),
    field("content", 2, Kind::Map(&Kind::Message(&MEDIA_TYPE))),
    field("required", 3, Kind::Bool),
    extensions(4),
];

static MEDIA_TYPE: [Field; 3] = [
    field("schema", 1, Kind::OneOf(schema)),
    field("example", 2, Kind::Any),
    extensions(5),
];

static RESPONSES: [Field; 2] = [field("", 2, Kind::Entries(&Kind::OneOf(response))), extensions(3)];

static RESPONSE: [Field; 3] = [
    field("description", 1, Kind::Text),
    field("content", 3, Kind::Map(&Kind::Message(&MEDIA_TYPE))),
    extensions(5),
];

static COMPONENTS: [Field; 3] = [
    field("schemas", 1, Kind::Map(&Kind::OneOf(schema))),
    field("securitySchemes", 7, Kind::Map(&Kind::OneOf(security_scheme))),
    extensions(10),
];

static SCHEMA: [Field; 33] = [
    field("nullable", 1, Kind::Bool),
    field("readOnly", 3, Kind::Bool),
    field("writeOnly", 4, Kind::Bool),
    field("example", 7, Kind::Any),
    field("deprecated", 8, Kind::Bool),
    field("title", 9, Kind::Text),
    field("multipleOf", 10, Kind::Double),
    field("maximum", 11, Kind::Double),
    field("exclusiveMaximum", 12, Kind::Bool),
    field("minimum", 13, Kind::Double),
    field("exclusiveMinimum", 14, Kind::Bool),
    field("maxLength", 15, Kind::Integer),
    field("minLength", 16, Kind::Integer),
    field("pattern", 17, Kind::Text),
    field("maxItems", 18, Kind::Integer),
    field("minItems", 19, Kind::Integer),
    field("uniqueItems", 20, Kind::Bool),
    field("maxProperties", 21, Kind::Integer),
    field("minProperties", 22, Kind::Integer),
    field("required", 23, Kind::List(&Kind::Text)),
    field("enum", 24, Kind::List(&Kind::Any)),
    field("type", 25, Kind::Text),
    field("allOf", 26, Kind::List(&Kind::OneOf(schema))),
    field("oneOf", 27, Kind::List(&Kind::OneOf(schema))),
    field("anyOf", 28, Kind::List(&Kind::OneOf(schema))),
    field("not", 29, Kind::Message(&SCHEMA)),
    field("items", 30, Kind::Items(&Kind::OneOf(schema))),
    field("properties", 31, Kind::Map(&Kind::OneOf(schema))),
    field("additionalProperties", 32, Kind::OneOf(additional_properties)),
    field("default", 33, Kind::OneOf(default)),
    field("description", 34, Kind::Text),
    field("format", 35, Kind::Text),
    extensions(36),
];

static SECURITY_SCHEME: [Field; 8] = [
    field("type", 1, Kind::Text),
    field("description", 2, Kind::Text),
    field("name", 3, Kind::Text),
    field("in", 4, Kind::Text),
    field("scheme", 5, Kind::Text),
    field("bearerFormat", 6, Kind::Text),
    field("openIdConnectUrl", 8, Kind::Text),
    extensions(9),
];

fn parameter(value: &Value) -> Option<(u64, Kind)> {
    Some(or_reference(value, Kind::Message(&PARAMETER)))
}

fn response(value: &Value) -> Option<(u64, Kind)> {
    Some(or_reference(value, Kind::Message(&RESPONSE)))
}

fn schema(value: &Value) -> Option<(u64, Kind)> {
    Some(or_reference(value, Kind::Message(&SCHEMA)))
}

fn security_scheme(value: &Value) -> Option<(u64, Kind)> {
    Some(or_reference(value, Kind::Message(&SECURITY_SCHEME)))
}

fn request_body(value: &Value) -> Option<(u64, Kind)> {
    Some(or_reference(value, Kind::Message(&REQUEST_BODY)))
}

fn or_reference(value: &Value, kind: Kind) -> (u64, Kind) {
    match value.get("$ref") {
        None => (1, kind),
        Some(_) => (2, Kind::Message(&REFERENCE)),
    }
}

fn additional_properties(value: &Value) -> Option<(u64, Kind)> {
    Some(match value {
        Value::Bool(_) => (2, Kind::Bool),
        _ => (1, Kind::OneOf(schema)),
    })
}

/// Defaults that are lists or maps get lost, as upstream.
fn default(value: &Value) -> Option<(u64, Kind)> {
    Some(match value {
        Value::Number(_) => (1, Kind::Double),
        Value::Bool(_) => (2, Kind::Bool),
        Value::String(_) => (3, Kind::Text),
        _ => return None,
    })
}
