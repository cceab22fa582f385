//! Encodes objects as text in the requested format.

use bytes::{Bytes, BytesMut};
use serde_json::Value;

use crate::{encode, kinds::protobuf, request::accept::Format};

/// A body, and its format: JSON instead of Protobuf for objects without messages.
pub type Rendered = (Bytes, Format);

/// Encodes an object. On a single line it ends with a line feed, like the output of Go's encoder; with indentation it
/// does not.
pub fn value(object: &Value, format: Format) -> Rendered {
    let body = match format {
        Format::Json => {
            let mut line = Vec::new();
            encode::append(&mut line, object);
            line.push(b'\n');
            line.into()
        }
        // Cannot fail: the maps of a Value have only strings as keys.
        Format::Pretty => serde_json::to_vec_pretty(object).unwrap_or_default().into(),
        Format::Yaml => kubewright_schema::yaml::to_string(object).into(),
        Format::Protobuf => match protobuf::write(object) {
            Some(body) => body.into(),
            None => return value(object, Format::Json),
        },
    };
    (body, format)
}

/// Encodes an object that is JSON text already. As JSON it is sent unchanged, with a line feed at the end.
pub fn text(object: Bytes, format: Format) -> Rendered {
    if format == Format::Json {
        let mut line = object
            .try_into_mut()
            .unwrap_or_else(|shared| BytesMut::from(shared.as_ref()));
        line.extend_from_slice(b"\n");
        return (line.freeze(), format);
    }
    match serde_json::from_slice(&object) {
        Ok(read) => value(&read, format),
        Err(_) => (object, Format::Json),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_on_one_line_ends_with_a_line_feed() {
        let object = json!({"a": 1});
        assert_eq!(value(&object, Format::Json).0, "{\"a\":1}\n");
        assert_eq!(value(&object, Format::Pretty).0, "{\n  \"a\": 1\n}");
        let stored = Bytes::from_static(b"{\"a\":1}");
        assert_eq!(text(stored.clone(), Format::Json).0, "{\"a\":1}\n");
        assert_eq!(text(stored, Format::Yaml).0, "a: 1\n");
    }

    #[test]
    fn an_object_without_messages_is_sent_as_json() {
        let status = json!({"apiVersion": "v1", "kind": "Status", "code": 404});
        assert!(value(&status, Format::Protobuf).0.starts_with(b"k8s\0"));
        let (body, format) = value(&json!({"kind": "Foo"}), Format::Protobuf);
        assert_eq!(
            (body.as_ref(), format),
            (b"{\"kind\":\"Foo\"}\n".as_slice(), Format::Json)
        );
    }
}
