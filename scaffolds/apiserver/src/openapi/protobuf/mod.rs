//! Encodes OpenAPI documents in Protobuf, as gnostic's models define their messages: a table for each version of OpenAPI, and
//! one encoder. Clients such as kubectl request v2 in this form alone.

mod v2;
mod v3;

use serde_json::Value;

use crate::kinds::protobuf::wire::{bytes, double, integer, nested};

/// A version of OpenAPI.
pub struct Version {
    media_types: [&'static str; 2],
    document: &'static Message,
}

/// OpenAPI v2.
pub static V2: Version = Version {
    media_types: [
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
        "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
    ],
    document: &v2::DOCUMENT,
};
/// OpenAPI v3.
pub static V3: Version = Version {
    media_types: [
        "application/com.github.proto-openapi.spec.v3.v1.0+protobuf",
        "application/com.github.proto-openapi.spec.v3@v1.0+protobuf",
    ],
    document: &v3::DOCUMENT,
};

/// A message, or a part of one: its fields in the order of their numbers.
type Message = [Field];

/// A field of a message.
struct Field {
    /// The name in JSON. For [`Wire::Entries`], the prefix of the names; an empty one means all but extensions.
    name: &'static str,
    number: u64,
    kind: Wire,
}

/// The type of a field, and how JSON has it.
enum Wire {
    Text,
    Bool,
    Integer,
    Double,
    /// Any value: a message with a text in YAML.
    Any,
    Message(&'static Message),
    /// Fields of several messages, as fields of this one: their numbers count from the number of this field.
    Part(&'static Message),
    /// A repeated field.
    List(&'static Wire),
    /// A message whose only field is repeated. JSON has a list, or one item without a list.
    Items(&'static Wire),
    /// A message with a repeated field of names and values. JSON has a map.
    Map(&'static Wire),
    /// A repeated field of names and values. JSON has them among the other fields.
    Entries(&'static Wire),
    /// A message with one of several fields: the field's number and kind, if the value fits one.
    OneOf(fn(&Value) -> Option<(u64, Wire)>),
}

const fn field(name: &'static str, number: u64, kind: Wire) -> Field {
    Field { name, number, kind }
}

/// The extensions of an object: `x-kubernetes-group-version-kind`.
const fn extensions(number: u64) -> Field {
    field("x-", number, Wire::Entries(&Wire::Any))
}

impl Version {
    /// The media types of documents in Protobuf: the present one, which is sent, and the former one.
    pub fn media_types(&self) -> [&'static str; 2] {
        self.media_types
    }

    /// A document in Protobuf.
    pub fn encode(&self, document: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        fields(self.document, 0, document, &mut out);
        out
    }
}

fn fields(message: &Message, first: u64, object: &Value, out: &mut Vec<u8>) {
    for Field { name, number, kind } in message {
        let number = first + number;
        if let Wire::Part(part) = kind {
            fields(part, number, object, out);
        } else if let Wire::Entries(of) = kind {
            let is_wanted = |key: &str| match *name {
                "" => !key.starts_with("x-"),
                prefix => key.starts_with(prefix),
            };
            let entries = object.as_object().into_iter().flatten();
            for (key, value) in entries.filter(|(key, _)| is_wanted(key)) {
                named(number, key, out, |out| present(2, of, value, out));
            }
        } else if let Some(value) = object.get(name) {
            present(number, kind, value, out);
        }
    }
}

/// Writes a field, unless it has its default.
fn present(number: u64, kind: &Wire, value: &Value, out: &mut Vec<u8>) {
    if !is_default(kind, value) {
        write(number, kind, value, out);
    }
}

/// Whether Protobuf omits the value of a field.
fn is_default(kind: &Wire, value: &Value) -> bool {
    match kind {
        Wire::Text => value == "",
        Wire::Bool => value == false,
        Wire::Integer | Wire::Double => value.as_f64() == Some(0.0),
        _ => false,
    }
}

fn write(number: u64, kind: &Wire, value: &Value, out: &mut Vec<u8>) {
    match kind {
        Wire::Text => bytes(number, value.as_str().unwrap_or_default().as_bytes(), out),
        Wire::Bool => integer(number, i64::from(value == true), out),
        Wire::Integer => integer(number, value.as_i64().unwrap_or_default(), out),
        Wire::Double => double(number, value.as_f64().unwrap_or_default(), out),
        Wire::Any => nested(number, out, |inner| {
            bytes(2, kubewright_schema::yaml::to_string(value).as_bytes(), inner);
        }),
        Wire::Message(message) => nested(number, out, |inner| fields(message, 0, value, inner)),
        Wire::List(of) => {
            for item in value.as_array().into_iter().flatten() {
                write(number, of, item, out);
            }
        }
        Wire::Items(of) => nested(number, out, |inner| match value {
            Value::Array(items) => items.iter().for_each(|item| write(1, of, item, inner)),
            item => write(1, of, item, inner),
        }),
        Wire::Map(of) => nested(number, out, |inner| {
            for (key, value) in value.as_object().into_iter().flatten() {
                named(1, key, inner, |inner| present(2, of, value, inner));
            }
        }),
        // Only `fields` knows the object of these.
        Wire::Part(_) | Wire::Entries(_) => {}
        Wire::OneOf(choose) => nested(number, out, |inner| {
            if let Some((number, kind)) = choose(value) {
                write(number, &kind, value, inner);
            }
        }),
    }
}

/// A message with a name and a value.
fn named(number: u64, name: &str, out: &mut Vec<u8>, value: impl FnOnce(&mut Vec<u8>)) {
    nested(number, out, |inner| {
        if !name.is_empty() {
            bytes(1, name.as_bytes(), inner);
        }
        value(inner);
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_have_their_numbers_and_zeros_are_omitted() {
        let schema =
            json!({"type": "string", "maxLength": 300, "minimum": 0, "uniqueItems": false, "x-kubernetes-a": true});
        let document = json!({"swagger": "2.0", "paths": {}, "definitions": {"a": schema}});
        let schema = b"\x58\xac\x02\xb2\x01\x08\x0a\x06string\xfa\x01\x19\x0a\x0ex-kubernetes-a\x12\x07\x12\x05true\n";
        let mut expected = b"\x0a\x032.0\x42\x00\x4a".to_vec();
        let named = [b"\x0a\x01a\x12".as_slice(), &[schema.len() as u8], schema].concat();
        expected.extend([named.len() as u8 + 2, 0x0a, named.len() as u8]);
        expected.extend(named);
        assert_eq!(
            String::from_utf8_lossy(&V2.encode(&document))
                .escape_debug()
                .to_string(),
            String::from_utf8_lossy(&expected).escape_debug().to_string()
        );
    }

    #[test]
    fn the_fields_of_a_part_follow_those_before_it() {
        let encoded = |of: &str| {
            let parameter = json!({"in": of, "type": "string", "uniqueItems": true, "x-a": 1});
            V2.encode(&json!({"parameters": {"a": parameter}}))
        };
        let extension = b"\x0b\x0a\x03x-a\x12\x04\x12\x021\n".as_slice();
        for (of, fields) in [
            ("query", b"\x12\x05query\x32\x06string\xa0\x01\x01\xba\x01".as_slice()),
            ("path", b"\x12\x04path\x2a\x06string\x98\x01\x01\xb2\x01".as_slice()),
        ] {
            let (encoded, expected) = (encoded(of), [fields, extension].concat());
            assert!(encoded.ends_with(&expected), "{of}: {encoded:?}");
        }
    }

    #[test]
    fn one_of_several_messages_is_chosen_by_the_value() {
        let encoded = |value: Value| V3.encode(&json!({"components": {"schemas": {"a": value}}}));
        let reference = encoded(json!({"$ref": "b"}));
        assert!(reference.ends_with(b"\x12\x05\x12\x03\x0a\x01b"), "{reference:?}");
        let closed = encoded(json!({"additionalProperties": false}));
        assert!(closed.ends_with(b"\x0a\x05\x82\x02\x02\x10\x00"), "{closed:?}");
        let default = encoded(json!({"default": {}}));
        assert!(default.ends_with(b"\x0a\x03\x8a\x02\x00"), "{default:?}");
    }
}
