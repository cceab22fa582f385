//! Encodes objects as Go's types do: fields in the order of their numbers; a value that is not a pointer also where it is zero.

use kubewright_machinery::{
    base64::{self, Encoding},
    time::Moment,
};
use serde_json::{Map, Value};

use super::{
    super::shapes::{self, Numbered, Shape, ShapeField, Type},
    MAGIC, PROPERTIES, SCHEMAS,
    wire::{bytes, double, integer, nested},
};

/// The number of bytes in front of an event that hold its length.
const LENGTH: usize = 4;

/// The body with an object, or `None` for a kind without messages.
pub fn write(object: &Value) -> Option<Vec<u8>> {
    let text = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let (version, kind) = (text("apiVersion"), text("kind"));
    let shape = shapes::of_kind(version, kind)?;
    let mut body = MAGIC.to_vec();
    nested(1, &mut body, |meta| {
        bytes(1, version.as_bytes(), meta);
        bytes(2, kind.as_bytes(), meta);
    });
    nested(2, &mut body, |raw| structure(shape, object, raw));
    // Go's envelope has two more texts, an encoding and a media type.
    bytes(3, b"", &mut body);
    bytes(4, b"", &mut body);
    Some(body)
}

/// The bytes in which kube-apiserver stores an object of a group; `None` if that is JSON.
pub fn stored(group: &str, object: &Value) -> Option<Vec<u8>> {
    if IN_JSON.contains(&group) {
        return None;
    }
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
    write(&object)
}

/// The groups of the servers within kube-apiserver that store their kinds in JSON.
const IN_JSON: [&str; 2] = ["apiextensions.k8s.io", "apiregistration.k8s.io"];

/// One event of a watch, after its length, which delimits it from the next one. `object` is a whole body.
pub fn event(kind: &str, object: &[u8]) -> Vec<u8> {
    let mut event = vec![0; LENGTH];
    bytes(1, kind.as_bytes(), &mut event);
    nested(2, &mut event, |raw| bytes(1, object, raw));
    let length = u32::try_from(event.len() - LENGTH).unwrap_or(u32::MAX);
    event[..LENGTH].copy_from_slice(&length.to_be_bytes());
    event
}

fn structure(shape: &Shape, object: &Value, out: &mut Vec<u8>) {
    let object = object.as_object();
    fields(
        &At {
            shape,
            object,
            level: 0,
        },
        &shape.numbered,
        out,
    );
}

/// A place in an object, below some embedded structs.
struct At<'a> {
    shape: &'a Shape,
    object: Option<&'a Map<String, Value>>,
    /// The count of embedded structs around this place. Each has a number in front of the numbers of its fields.
    level: usize,
}

fn fields(at: &At<'_>, numbered: &[Numbered], out: &mut Vec<u8>) {
    let number = |field: &Numbered| field.path.get(at.level).copied().unwrap_or_default();
    for group in numbered.chunk_by(|a, b| number(a) == number(b)) {
        match group {
            [one] if one.path.len() == at.level + 1 => {
                if let Some(of) = at.shape.fields.get(one.index) {
                    field(of, number(one), at.object.and_then(|object| object.get(of.name)), out);
                }
            }
            [first, ..] => nested(number(first), out, |inner| {
                fields(
                    &At {
                        level: at.level + 1,
                        ..*at
                    },
                    group,
                    inner,
                );
            }),
            [] => {}
        }
    }
}

fn field(field: &ShapeField, number: u64, found: Option<&Value>, out: &mut Vec<u8>) {
    let found = found.filter(|value| !value.is_null());
    match &field.kind {
        Type::List(item) => {
            let items = found.and_then(Value::as_array).into_iter().flatten();
            items.for_each(|of| value(item, number, of, out));
        }
        Type::Map(item) => {
            for (key, of) in found.and_then(Value::as_object).into_iter().flatten() {
                nested(number, out, |entry| {
                    bytes(1, key.as_bytes(), entry);
                    if !(of.is_null() && matches!(**item, Type::Bytes)) {
                        value(item, 2, of, entry);
                    }
                });
            }
        }
        kind => {
            let is_absent = found.is_none() && (field.pointer || matches!(kind, Type::Bytes));
            if !is_absent {
                value(kind, number, found.unwrap_or(&Value::Null), out);
            }
        }
    }
}

fn value(kind: &Type, number: u64, found: &Value, out: &mut Vec<u8>) {
    match kind {
        Type::Str => bytes(number, found.as_str().unwrap_or_default().as_bytes(), out),
        Type::Bytes => {
            let text = found.as_str().unwrap_or_default();
            bytes(
                number,
                &base64::decode(text, Encoding::Standard).unwrap_or_default(),
                out,
            );
        }
        Type::Bool => integer(number, i64::from(found == true), out),
        Type::I32 | Type::I64 => integer(number, found.as_i64().unwrap_or_default(), out),
        Type::F64 => double(number, found.as_f64().unwrap_or_default(), out),
        // The value of a map: a message of its own.
        Type::List(item) => nested(number, out, |list| {
            let items = found.as_array().into_iter().flatten();
            items.for_each(|of| value(item, 1, of, list));
        }),
        Type::Map(_) => {}
        Type::Ref(name, _) => nested(number, out, |inner| referred(name, found, inner)),
    }
}

/// A struct; some structs are not objects in JSON.
fn referred(name: &str, found: &Value, out: &mut Vec<u8>) {
    let text = || found.as_str().unwrap_or_default();
    match name.strip_prefix(SCHEMAS).unwrap_or(name) {
        "~api.resource.Quantity" => bytes(1, text().as_bytes(), out),
        "~apis.meta.v1.Time" => time(Moment::parse(text()).ok(), 0, out),
        "~apis.meta.v1.MicroTime" => {
            let moment = Moment::parse_micro(text()).ok();
            time(moment, moment.map_or(0, |moment| moment.nanos / 1_000 * 1_000), out);
        }
        "~util.intstr.IntOrString" => {
            integer(1, i64::from(found.is_string()), out);
            integer(2, found.as_i64().unwrap_or_default(), out);
            bytes(3, text().as_bytes(), out);
        }
        "~runtime.RawExtension" | "~apis.meta.v1.FieldsV1" | "JSON" => {
            if !found.is_null() {
                bytes(1, found.to_string().as_bytes(), out);
            }
        }
        "~apis.meta.v1.Verbs" => {
            let verbs = found.as_array().into_iter().flatten().filter_map(Value::as_str);
            verbs.for_each(|verb| bytes(1, verb.as_bytes(), out));
        }
        "JSONSchemaPropsOrBool" => {
            integer(1, i64::from(found.is_object() || found == true), out);
            if found.is_object() {
                nested(2, out, |schema| referred(PROPERTIES, found, schema));
            }
        }
        "JSONSchemaPropsOrArray" | "JSONSchemaPropsOrStringArray" => match found {
            Value::Array(items) => {
                for item in items {
                    match item {
                        Value::String(text) => bytes(2, text.as_bytes(), out),
                        schema => nested(2, out, |inner| referred(PROPERTIES, schema, inner)),
                    }
                }
            }
            schema => nested(1, out, |inner| referred(PROPERTIES, schema, inner)),
        },
        _ => {
            if let Some(shape) = shapes::message(name) {
                structure(shape, found, out);
            }
        }
    }
}

/// A point in time; nothing for an absent one.
fn time(moment: Option<Moment>, nanos: u32, out: &mut Vec<u8>) {
    if let Some(moment) = moment {
        integer(1, moment.seconds, out);
        integer(2, nanos.into(), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Objects of every kind in both encodings, which Go's types wrote (`fidelity record forms`).
    const FORMS: &str = include_str!("../../../tests/forms.jsonl");

    /// Fields with a pointer to a time. Go writes a pointer to a zero time as null in JSON, and reads that as no pointer.
    fn pointers_to_times() -> Vec<String> {
        let fields = shapes::names()
            .filter_map(shapes::shape)
            .flat_map(|shape| &shape.fields);
        let is_time = |field: &&ShapeField| matches!(field.kind, Type::Ref("~apis.meta.v1.Time", _));
        let pointers = fields.filter(|field| field.pointer).filter(is_time);
        pointers.map(|field| format!("\"{}\":null", field.name)).collect()
    }

    #[test]
    fn objects_are_encoded_to_the_bytes_of_go() {
        let (mut count, lossy) = (0, pointers_to_times());
        for line in recordings::read::<String, Value>(FORMS) {
            let (kind, body, object) = (line.asked, &line.answered["protobuf"], &line.answered["json"]);
            let text = object.to_string();
            if lossy.iter().any(|null| text.contains(null)) {
                continue;
            }
            let written = write(object).unwrap_or_else(|| panic!("{kind}"));
            let digits: String = written.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(digits, *body, "{kind}: {text}");
            count += 1;
        }
        assert!(count > 200, "{count}");
    }

    #[test]
    fn events_are_delimited_by_their_lengths() {
        assert_eq!(
            event("ADDED", b"k8s\0"),
            b"\0\0\0\x0f\x0a\x05ADDED\x12\x06\x0a\x04k8s\0"
        );
    }
}
