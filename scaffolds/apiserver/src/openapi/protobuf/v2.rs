//! The messages of OpenAPI v2 (gnostic, `openapiv2/OpenAPIv2.proto`), as far as API servers use them.

use serde_json::Value;

use super::{Field, Kind, extensions, field};

/// The document.
pub(super) static DOCUMENT: [Field; 13] = [
    field("swagger", 1, Kind::Text),
    field("info", 2, Kind::Message(&INFO)),
    field("host", 3, Kind::Text),
    field("basePath", 4, Kind::Text),
    field("schemes", 5, Kind::List(&Kind::Text)),
    field("consumes", 6, Kind::List(&Kind::Text)),
    field("produces", 7, Kind::List(&Kind::Text)),
    field("paths", 8, Kind::Message(&PATHS)),
    field("definitions", 9, Kind::Map(&Kind::Message(&SCHEMA))),
    field("parameters", 10, Kind::Map(&Kind::OneOf(parameter))),
    field("security", 12, Kind::List(&Kind::Map(&Kind::Items(&Kind::Text)))),
    field("securityDefinitions", 13, Kind::Map(&Kind::OneOf(security))),
    extensions(16),
];

static INFO: [Field; 5] = [
    field("title", 1, Kind::Text),
    field("version", 2, Kind::Text),
    field("description", 3, Kind::Text),
    field("termsOfService", 4, Kind::Text),
    extensions(7),
];

static PATHS: [Field; 2] = [extensions(1), field("/", 2, Kind::Entries(&Kind::Message(&PATH_ITEM)))];

static PATH_ITEM: [Field; 10] = [
    field("$ref", 1, Kind::Text),
    field("get", 2, Kind::Message(&OPERATION)),
    field("put", 3, Kind::Message(&OPERATION)),
    field("post", 4, Kind::Message(&OPERATION)),
    field("delete", 5, Kind::Message(&OPERATION)),
    field("options", 6, Kind::Message(&OPERATION)),
    field("head", 7, Kind::Message(&OPERATION)),
    field("patch", 8, Kind::Message(&OPERATION)),
    field("parameters", 9, Kind::List(&Kind::OneOf(parameter_or_reference))),
    extensions(10),
];

static OPERATION: [Field; 12] = [
    field("tags", 1, Kind::List(&Kind::Text)),
    field("summary", 2, Kind::Text),
    field("description", 3, Kind::Text),
    field("operationId", 5, Kind::Text),
    field("produces", 6, Kind::List(&Kind::Text)),
    field("consumes", 7, Kind::List(&Kind::Text)),
    field("parameters", 8, Kind::List(&Kind::OneOf(parameter_or_reference))),
    field("responses", 9, Kind::Message(&RESPONSES)),
    field("schemes", 10, Kind::List(&Kind::Text)),
    field("deprecated", 11, Kind::Bool),
    field("security", 12, Kind::List(&Kind::Map(&Kind::Items(&Kind::Text)))),
    extensions(13),
];

static BODY_PARAMETER: [Field; 6] = [
    field("description", 1, Kind::Text),
    field("name", 2, Kind::Text),
    field("in", 3, Kind::Text),
    field("required", 4, Kind::Bool),
    field("schema", 5, Kind::Message(&SCHEMA)),
    extensions(6),
];

static HEADER_PARAMETER_SUB_SCHEMA: [Field; 22] = [
    field("required", 1, Kind::Bool),
    field("in", 2, Kind::Text),
    field("description", 3, Kind::Text),
    field("name", 4, Kind::Text),
    field("type", 5, Kind::Text),
    field("format", 6, Kind::Text),
    field("items", 7, Kind::Message(&PRIMITIVES_ITEMS)),
    field("collectionFormat", 8, Kind::Text),
    field("default", 9, Kind::Any),
    field("maximum", 10, Kind::Double),
    field("exclusiveMaximum", 11, Kind::Bool),
    field("minimum", 12, Kind::Double),
    field("exclusiveMinimum", 13, Kind::Bool),
    field("maxLength", 14, Kind::Integer),
    field("minLength", 15, Kind::Integer),
    field("pattern", 16, Kind::Text),
    field("maxItems", 17, Kind::Integer),
    field("minItems", 18, Kind::Integer),
    field("uniqueItems", 19, Kind::Bool),
    field("enum", 20, Kind::List(&Kind::Any)),
    field("multipleOf", 21, Kind::Double),
    extensions(22),
];

static QUERY_PARAMETER_SUB_SCHEMA: [Field; 23] = [
    field("required", 1, Kind::Bool),
    field("in", 2, Kind::Text),
    field("description", 3, Kind::Text),
    field("name", 4, Kind::Text),
    field("allowEmptyValue", 5, Kind::Bool),
    field("type", 6, Kind::Text),
    field("format", 7, Kind::Text),
    field("items", 8, Kind::Message(&PRIMITIVES_ITEMS)),
    field("collectionFormat", 9, Kind::Text),
    field("default", 10, Kind::Any),
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
    field("enum", 21, Kind::List(&Kind::Any)),
    field("multipleOf", 22, Kind::Double),
    extensions(23),
];

static PATH_PARAMETER_SUB_SCHEMA: [Field; 22] = [
    field("required", 1, Kind::Bool),
    field("in", 2, Kind::Text),
    field("description", 3, Kind::Text),
    field("name", 4, Kind::Text),
    field("type", 5, Kind::Text),
    field("format", 6, Kind::Text),
    field("items", 7, Kind::Message(&PRIMITIVES_ITEMS)),
    field("collectionFormat", 8, Kind::Text),
    field("default", 9, Kind::Any),
    field("maximum", 10, Kind::Double),
    field("exclusiveMaximum", 11, Kind::Bool),
    field("minimum", 12, Kind::Double),
    field("exclusiveMinimum", 13, Kind::Bool),
    field("maxLength", 14, Kind::Integer),
    field("minLength", 15, Kind::Integer),
    field("pattern", 16, Kind::Text),
    field("maxItems", 17, Kind::Integer),
    field("minItems", 18, Kind::Integer),
    field("uniqueItems", 19, Kind::Bool),
    field("enum", 20, Kind::List(&Kind::Any)),
    field("multipleOf", 21, Kind::Double),
    extensions(22),
];

static PRIMITIVES_ITEMS: [Field; 18] = [
    field("type", 1, Kind::Text),
    field("format", 2, Kind::Text),
    field("items", 3, Kind::Message(&PRIMITIVES_ITEMS)),
    field("collectionFormat", 4, Kind::Text),
    field("default", 5, Kind::Any),
    field("maximum", 6, Kind::Double),
    field("exclusiveMaximum", 7, Kind::Bool),
    field("minimum", 8, Kind::Double),
    field("exclusiveMinimum", 9, Kind::Bool),
    field("maxLength", 10, Kind::Integer),
    field("minLength", 11, Kind::Integer),
    field("pattern", 12, Kind::Text),
    field("maxItems", 13, Kind::Integer),
    field("minItems", 14, Kind::Integer),
    field("uniqueItems", 15, Kind::Bool),
    field("enum", 16, Kind::List(&Kind::Any)),
    field("multipleOf", 17, Kind::Double),
    extensions(18),
];

static JSON_REFERENCE: [Field; 2] = [field("$ref", 1, Kind::Text), field("description", 2, Kind::Text)];

static RESPONSES: [Field; 2] = [
    field("", 1, Kind::Entries(&Kind::OneOf(response_or_reference))),
    extensions(2),
];

static RESPONSE: [Field; 3] = [
    field("description", 1, Kind::Text),
    field("schema", 2, Kind::OneOf(response_schema)),
    extensions(5),
];

static SCHEMA: [Field; 29] = [
    field("$ref", 1, Kind::Text),
    field("format", 2, Kind::Text),
    field("title", 3, Kind::Text),
    field("description", 4, Kind::Text),
    field("default", 5, Kind::Any),
    field("multipleOf", 6, Kind::Double),
    field("maximum", 7, Kind::Double),
    field("exclusiveMaximum", 8, Kind::Bool),
    field("minimum", 9, Kind::Double),
    field("exclusiveMinimum", 10, Kind::Bool),
    field("maxLength", 11, Kind::Integer),
    field("minLength", 12, Kind::Integer),
    field("pattern", 13, Kind::Text),
    field("maxItems", 14, Kind::Integer),
    field("minItems", 15, Kind::Integer),
    field("uniqueItems", 16, Kind::Bool),
    field("maxProperties", 17, Kind::Integer),
    field("minProperties", 18, Kind::Integer),
    field("required", 19, Kind::List(&Kind::Text)),
    field("enum", 20, Kind::List(&Kind::Any)),
    field("additionalProperties", 21, Kind::OneOf(additional_properties)),
    field("type", 22, Kind::Items(&Kind::Text)),
    field("items", 23, Kind::Items(&Kind::Message(&SCHEMA))),
    field("allOf", 24, Kind::List(&Kind::Message(&SCHEMA))),
    field("properties", 25, Kind::Map(&Kind::Message(&SCHEMA))),
    field("discriminator", 26, Kind::Text),
    field("readOnly", 27, Kind::Bool),
    field("example", 30, Kind::Any),
    extensions(31),
];

static API_KEY_SECURITY: [Field; 5] = [
    field("type", 1, Kind::Text),
    field("name", 2, Kind::Text),
    field("in", 3, Kind::Text),
    field("description", 4, Kind::Text),
    extensions(5),
];

fn parameter_or_reference(value: &Value) -> Option<(u64, Kind)> {
    Some(match value.get("$ref") {
        None => (1, Kind::OneOf(parameter)),
        Some(_) => (2, Kind::Message(&JSON_REFERENCE)),
    })
}

fn parameter(value: &Value) -> Option<(u64, Kind)> {
    Some(match value["in"].as_str() {
        Some("body") => (1, Kind::Message(&BODY_PARAMETER)),
        _ => (2, Kind::OneOf(plain_parameter)),
    })
}

fn plain_parameter(value: &Value) -> Option<(u64, Kind)> {
    Some(match value["in"].as_str()? {
        "header" => (1, Kind::Message(&HEADER_PARAMETER_SUB_SCHEMA)),
        "query" => (3, Kind::Message(&QUERY_PARAMETER_SUB_SCHEMA)),
        "path" => (4, Kind::Message(&PATH_PARAMETER_SUB_SCHEMA)),
        _ => return None,
    })
}

fn response_or_reference(value: &Value) -> Option<(u64, Kind)> {
    Some(match value.get("$ref") {
        None => (1, Kind::Message(&RESPONSE)),
        Some(_) => (2, Kind::Message(&JSON_REFERENCE)),
    })
}

fn response_schema(_: &Value) -> Option<(u64, Kind)> {
    Some((1, Kind::Message(&SCHEMA)))
}

fn additional_properties(value: &Value) -> Option<(u64, Kind)> {
    Some(match value {
        Value::Bool(_) => (2, Kind::Bool),
        _ => (1, Kind::Message(&SCHEMA)),
    })
}

fn security(value: &Value) -> Option<(u64, Kind)> {
    (value["type"] == "apiKey").then_some((2, Kind::Message(&API_KEY_SECURITY)))
}
