//! Objects as text in the format that the client accepts.

use bytes::Bytes;
use serde_json::Value;

use crate::request::accept::Format;

/// An object.
pub fn value(object: &Value, format: Format) -> Bytes {
    match format {
        Format::Json => object.to_string().into(),
        // A Value has no map with keys other than texts, which is all that could fail.
        Format::Pretty => serde_json::to_vec_pretty(object).unwrap_or_default().into(),
        Format::Yaml => kubewright_schema::yaml::to_string(object).into(),
    }
}

/// An object that is JSON text already: for JSON it is sent as it is.
pub fn text(object: Bytes, format: Format) -> Bytes {
    if format == Format::Json {
        return object;
    }
    match serde_json::from_slice(&object) {
        Ok(read) => value(&read, format),
        Err(_) => object,
    }
}
