//! The messages of OpenAPI v2 (gnostic, `openapiv2/OpenAPIv2.proto`), as far as API servers use them.

use serde_json::Value;

use super::{Field, Wire, extensions, field};

/// The document.
pub(super) static DOCUMENT: [Field; 13] = [
    field("swagger", 1, Wire::Text),
    field("info", 2, Wire::Message(&INFO)),
    field("host", 3, Wire::Text),
    field("basePath", 4, Wire::Text),
    field("schemes", 5, Wire::List(&Wire::Text)),
    field("consumes", 6, Wire::List(&Wire::Text)),
    field("produces", 7, Wire::List(&Wire::Text)),
    field("paths", 8, Wire::Message(&PATHS)),
    field("definitions", 9, Wire::Map(&Wire::Message(&SCHEMA))),
    field("parameters", 10, Wire::Map(&Wire::OneOf(parameter))),
    field("security", 12, Wire::List(&Wire::Map(&Wire::Items(&Wire::Text)))),
    field("securityDefinitions", 13, Wire::Map(&Wire::OneOf(security))),
    extensions(16),
];

static INFO: [Field; 5] = [
    field("title", 1, Wire::Text),
    field("version", 2, Wire::Text),
    field("description", 3, Wire::Text),
    field("termsOfService", 4, Wire::Text),
    extensions(7),
];

static PATHS: [Field; 2] = [extensions(1), field("/", 2, Wire::Entries(&Wire::Message(&PATH_ITEM)))];

static PATH_ITEM: [Field; 10] = [
    field("$ref", 1, Wire::Text),
    field("get", 2, Wire::Message(&OPERATION)),
    field("put", 3, Wire::Message(&OPERATION)),
    field("post", 4, Wire::Message(&OPERATION)),
    field("delete", 5, Wire::Message(&OPERATION)),
    field("options", 6, Wire::Message(&OPERATION)),
    field("head", 7, Wire::Message(&OPERATION)),
    field("patch", 8, Wire::Message(&OPERATION)),
    field("parameters", 9, Wire::List(&Wire::OneOf(parameter_or_reference))),
    extensions(10),
];

static OPERATION: [Field; 12] = [
    field("tags", 1, Wire::List(&Wire::Text)),
    field("summary", 2, Wire::Text),
    field("description", 3, Wire::Text),
    field("operationId", 5, Wire::Text),
    field("produces", 6, Wire::List(&Wire::Text)),
    field("consumes", 7, Wire::List(&Wire::Text)),
    field("parameters", 8, Wire::List(&Wire::OneOf(parameter_or_reference))),
    field("responses", 9, Wire::Message(&RESPONSES)),
    field("schemes", 10, Wire::List(&Wire::Text)),
    field("deprecated", 11, Wire::Bool),
    field("security", 12, Wire::List(&Wire::Map(&Wire::Items(&Wire::Text)))),
    extensions(13),
];

static BODY_PARAMETER: [Field; 6] = [
    field("description", 1, Wire::Text),
    field("name", 2, Wire::Text),
    field("in", 3, Wire::Text),
    field("required", 4, Wire::Bool),
    field("schema", 5, Wire::Message(&SCHEMA)),
    extensions(6),
];

/// A parameter in a header or in the path.
static PLAIN_PARAMETER: [Field; 6] = [
    field("required", 1, Wire::Bool),
    field("in", 2, Wire::Text),
    field("description", 3, Wire::Text),
    field("name", 4, Wire::Text),
    field("", 5, Wire::Part(&PRIMITIVE)),
    extensions(22),
];

static QUERY_PARAMETER: [Field; 7] = [
    field("required", 1, Wire::Bool),
    field("in", 2, Wire::Text),
    field("description", 3, Wire::Text),
    field("name", 4, Wire::Text),
    field("allowEmptyValue", 5, Wire::Bool),
    field("", 6, Wire::Part(&PRIMITIVE)),
    extensions(23),
];

static ITEMS: [Field; 2] = [field("", 1, Wire::Part(&PRIMITIVE)), extensions(18)];

/// The schema of a value without fields.
static PRIMITIVE: [Field; 17] = [
    field("type", 0, Wire::Text),
    field("format", 1, Wire::Text),
    field("items", 2, Wire::Message(&ITEMS)),
    field("collectionFormat", 3, Wire::Text),
    field("default", 4, Wire::Any),
    field("maximum", 5, Wire::Double),
    field("exclusiveMaximum", 6, Wire::Bool),
    field("minimum", 7, Wire::Double),
    field("exclusiveMinimum", 8, Wire::Bool),
    field("maxLength", 9, Wire::Integer),
    field("minLength", 10, Wire::Integer),
    field("pattern", 11, Wire::Text),
    field("maxItems", 12, Wire::Integer),
    field("minItems", 13, Wire::Integer),
    field("uniqueItems", 14, Wire::Bool),
    field("enum", 15, Wire::List(&Wire::Any)),
    field("multipleOf", 16, Wire::Double),
];

static JSON_REFERENCE: [Field; 2] = [field("$ref", 1, Wire::Text), field("description", 2, Wire::Text)];

static RESPONSES: [Field; 2] = [
    field("", 1, Wire::Entries(&Wire::OneOf(response_or_reference))),
    extensions(2),
];

static RESPONSE: [Field; 3] = [
    field("description", 1, Wire::Text),
    field("schema", 2, Wire::OneOf(response_schema)),
    extensions(5),
];

static SCHEMA: [Field; 29] = [
    field("$ref", 1, Wire::Text),
    field("format", 2, Wire::Text),
    field("title", 3, Wire::Text),
    field("description", 4, Wire::Text),
    field("default", 5, Wire::Any),
    field("multipleOf", 6, Wire::Double),
    field("maximum", 7, Wire::Double),
    field("exclusiveMaximum", 8, Wire::Bool),
    field("minimum", 9, Wire::Double),
    field("exclusiveMinimum", 10, Wire::Bool),
    field("maxLength", 11, Wire::Integer),
    field("minLength", 12, Wire::Integer),
    field("pattern", 13, Wire::Text),
    field("maxItems", 14, Wire::Integer),
    field("minItems", 15, Wire::Integer),
    field("uniqueItems", 16, Wire::Bool),
    field("maxProperties", 17, Wire::Integer),
    field("minProperties", 18, Wire::Integer),
    field("required", 19, Wire::List(&Wire::Text)),
    field("enum", 20, Wire::List(&Wire::Any)),
    field("additionalProperties", 21, Wire::OneOf(additional_properties)),
    field("type", 22, Wire::Items(&Wire::Text)),
    field("items", 23, Wire::Items(&Wire::Message(&SCHEMA))),
    field("allOf", 24, Wire::List(&Wire::Message(&SCHEMA))),
    field("properties", 25, Wire::Map(&Wire::Message(&SCHEMA))),
    field("discriminator", 26, Wire::Text),
    field("readOnly", 27, Wire::Bool),
    field("example", 30, Wire::Any),
    extensions(31),
];

static API_KEY_SECURITY: [Field; 5] = [
    field("type", 1, Wire::Text),
    field("name", 2, Wire::Text),
    field("in", 3, Wire::Text),
    field("description", 4, Wire::Text),
    extensions(5),
];

fn parameter_or_reference(value: &Value) -> Option<(u64, Wire)> {
    Some(match value.get("$ref") {
        None => (1, Wire::OneOf(parameter)),
        Some(_) => (2, Wire::Message(&JSON_REFERENCE)),
    })
}

fn parameter(value: &Value) -> Option<(u64, Wire)> {
    Some(match value["in"].as_str() {
        Some("body") => (1, Wire::Message(&BODY_PARAMETER)),
        _ => (2, Wire::OneOf(plain_parameter)),
    })
}

fn plain_parameter(value: &Value) -> Option<(u64, Wire)> {
    Some(match value["in"].as_str()? {
        "header" => (1, Wire::Message(&PLAIN_PARAMETER)),
        "query" => (3, Wire::Message(&QUERY_PARAMETER)),
        "path" => (4, Wire::Message(&PLAIN_PARAMETER)),
        _ => return None,
    })
}

fn response_or_reference(value: &Value) -> Option<(u64, Wire)> {
    Some(match value.get("$ref") {
        None => (1, Wire::Message(&RESPONSE)),
        Some(_) => (2, Wire::Message(&JSON_REFERENCE)),
    })
}

fn response_schema(_: &Value) -> Option<(u64, Wire)> {
    Some((1, Wire::Message(&SCHEMA)))
}

fn additional_properties(value: &Value) -> Option<(u64, Wire)> {
    Some(match value {
        Value::Bool(_) => (2, Wire::Bool),
        _ => (1, Wire::Message(&SCHEMA)),
    })
}

fn security(value: &Value) -> Option<(u64, Wire)> {
    (value["type"] == "apiKey").then_some((2, Wire::Message(&API_KEY_SECURITY)))
}
