//! Objects as text in the format that the client accepts.

use bytes::{Bytes, BytesMut};
use serde_json::Value;

use crate::request::accept::Format;

/// An object. On one line it ends in a line feed, as Go's encoder writes it; spread over lines it does not.
pub fn value(object: &Value, format: Format) -> Bytes {
    match format {
        Format::Json => (object.to_string() + "\n").into(),
        // A Value has no map with keys other than texts, which is all that could fail.
        Format::Pretty => serde_json::to_vec_pretty(object).unwrap_or_default().into(),
        Format::Yaml => kubewright_schema::yaml::to_string(object).into(),
    }
}

/// An object that is JSON text already: for JSON it is sent as it is, but for the end of the line.
pub fn text(object: Bytes, format: Format) -> Bytes {
    if format == Format::Json {
        let mut line = object
            .try_into_mut()
            .unwrap_or_else(|shared| BytesMut::from(shared.as_ref()));
        line.extend_from_slice(b"\n");
        return line.freeze();
    }
    match serde_json::from_slice(&object) {
        Ok(read) => value(&read, format),
        Err(_) => object,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_stands_on_one_line_ends_it() {
        let object = json!({"a": 1});
        assert_eq!(value(&object, Format::Json), "{\"a\":1}\n");
        assert_eq!(value(&object, Format::Pretty), "{\n  \"a\": 1\n}");
        let stored = Bytes::from_static(b"{\"a\":1}");
        assert_eq!(text(stored.clone(), Format::Json), "{\"a\":1}\n");
        assert_eq!(text(stored, Format::Yaml), "a: 1\n");
    }
}
