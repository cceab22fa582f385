//! Decodes built-in kinds in Protobuf, as kubectl and client-go send them: an envelope that names the type, and in it a
//! message whose field numbers are in the recorded shapes. The result is the object that the same client would have
//! sent as JSON.

use kubewright_machinery::{base64, time};
use serde_json::{Map, Value, json};

use super::{
    super::shapes::{self, Shape, ShapeField, Type},
    MAGIC, PROPERTIES, SCHEMAS,
    wire::{Message, Wire},
};

/// The depth to which messages may nest: deeper than those of any kind, and little enough for the stack.
const DEPTH: usize = 64;

type Fields = Map<String, Value>;

/// Decodes a body.
///
/// # Errors
/// A message that says what is malformed.
pub fn read(body: &[u8]) -> Result<Fields, String> {
    if body.is_empty() {
        return Err("empty data".to_owned());
    }
    let Some(envelope) = body.strip_prefix(MAGIC) else {
        return Err(
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]".to_owned(),
        );
    };
    let (mut meta, mut raw) = (Message::default(), Message::default());
    for (number, wire) in Message::new(envelope).fields()? {
        match (number, wire) {
            (1, Wire::Bytes(bytes)) => meta = Message::new(bytes),
            (2, Wire::Bytes(bytes)) => raw = Message::new(bytes),
            _ => {}
        }
    }
    let (version, kind) = (meta.text(1)?, meta.text(2)?);
    let shape = shapes::of_kind(&version, &kind).ok_or_else(|| {
        let (version, kind) = (
            kubewright_machinery::go::quote(&version),
            kubewright_machinery::go::quote(&kind),
        );
        format!("no kind {kind} is registered for version {version} in scheme \"pkg/api/legacyscheme/scheme.go:30\"")
    })?;
    let mut object = structure(shape, &raw, DEPTH)?;
    object.insert("apiVersion".to_owned(), version.into());
    object.insert("kind".to_owned(), kind.into());
    Ok(object)
}

/// Decodes the events of a watch: the type of each, and its object.
///
/// # Errors
/// As for [`read`].
#[cfg(feature = "testing")]
pub fn read_events(mut stream: &[u8]) -> Result<Vec<Value>, String> {
    let mut events = Vec::new();
    while let Some((length, rest)) = stream.split_first_chunk::<4>() {
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        let (event, rest) = rest.split_at_checked(length).ok_or("unexpected EOF")?;
        let event = Message::new(event);
        let object = read(Message::new(event.bytes(2)?).bytes(1)?)?;
        events.push(json!({"type": event.text(1)?, "object": object}));
        stream = rest;
    }
    Ok(events)
}

fn structure(shape: &Shape, message: &Message, depth: usize) -> Result<Fields, String> {
    let mut object = Fields::new();
    let whole = Embedded { shape, prefix: "" };
    fill(whole, message, &mut object, depth)?;
    Ok(object)
}

/// A struct, or one that is embedded in it.
#[derive(Clone, Copy)]
struct Embedded<'a> {
    shape: &'a Shape,
    /// The numbers that lead to the embedded struct, each with a dot behind it.
    prefix: &'a str,
}

/// Reads the fields of a message into an object.
fn fill(of: Embedded<'_>, message: &Message, object: &mut Fields, depth: usize) -> Result<(), String> {
    let Embedded { shape, prefix } = of;
    let depth = depth.checked_sub(1).ok_or("too deep")?;
    for (number, wire) in message.fields()? {
        let path = format!("{prefix}{number}");
        if let Some(field) = shape.fields.iter().find(|field| field.attribute("b") == Some(&path)) {
            add(field, wire, object, depth)?;
            continue;
        }
        let inner = format!("{path}.");
        let is_embedded = |field: &ShapeField| field.attribute("b").is_some_and(|own| own.starts_with(&inner));
        if let (Wire::Bytes(bytes), true) = (wire, shape.fields.iter().any(is_embedded)) {
            let inner = Embedded { shape, prefix: &inner };
            fill(inner, &Message::new(bytes), object, depth)?;
        }
    }
    Ok(())
}

/// Adds the value of a field: of a list one item, of a map one entry.
fn add(field: &ShapeField, wire: Wire, object: &mut Fields, depth: usize) -> Result<(), String> {
    let name = field.name.to_owned();
    match &field.kind {
        Type::List(item) => {
            let list = object.entry(name).or_insert_with(|| json!([]));
            if let Some(list) = list.as_array_mut() {
                list.push(value(item, wire, depth)?);
            }
        }
        Type::Map(item) => {
            let (key, entry) = entry(item, wire, depth)?;
            let map = object.entry(name).or_insert_with(|| json!({}));
            map[key] = entry;
        }
        kind => {
            let found = value(kind, wire, depth)?;
            // Protobuf encodes zeros where JSON omits the field; a struct is never omitted.
            let is_omitted = match kind {
                Type::Ref(..) => found.is_null(),
                _ => (field.omit_empty || field.omit_zero) && is_zero(&found),
            };
            if field.pointer || !is_omitted {
                object.insert(name, found);
            }
        }
    }
    Ok(())
}

fn entry(item: &Type, wire: Wire, depth: usize) -> Result<(String, Value), String> {
    let Wire::Bytes(bytes) = wire else {
        return Err("malformed map entry".to_owned());
    };
    let message = Message::new(bytes);
    // An absent value is the zero of its type.
    let zero = match item {
        Type::I32 | Type::I64 | Type::F64 | Type::Bool => Wire::Number(0),
        _ => Wire::Bytes(&[]),
    };
    let found = match (item, message.find(2)?.unwrap_or(zero)) {
        // A list as the value of a map is a message of its own.
        (Type::List(of), Wire::Bytes(bytes)) => {
            let items = Message::new(bytes).fields()?.into_iter();
            let items: Result<Vec<Value>, String> = items.map(|(_, wire)| value(of, wire, depth)).collect();
            items?.into()
        }
        (_, wire) => value(item, wire, depth)?,
    };
    Ok((message.text(1)?, found))
}

fn value(kind: &Type, wire: Wire, depth: usize) -> Result<Value, String> {
    Ok(match (kind, wire) {
        (Type::Str, Wire::Bytes(bytes)) => String::from_utf8_lossy(bytes).into_owned().into(),
        (Type::Bytes, Wire::Bytes(bytes)) => base64::encode(bytes, base64::Encoding::Standard).into(),
        (Type::Bool, Wire::Number(number)) => (number != 0).into(),
        (Type::I32 | Type::I64, Wire::Number(number)) => number.cast_signed().into(),
        (Type::F64, Wire::Number(number)) => float(f64::from_bits(number)),
        (Type::Ref(name, _), Wire::Bytes(bytes)) => referred(name, &Message::new(bytes), depth)?,
        _ => return Err("proto: wrong wireType".to_owned()),
    })
}

/// A struct; some structs are not objects in JSON.
fn referred(name: &str, message: &Message, depth: usize) -> Result<Value, String> {
    let schema = |number| match message.find(number)? {
        Some(Wire::Bytes(bytes)) => referred(PROPERTIES, &Message::new(bytes), depth),
        _ => Ok(Value::Null),
    };
    Ok(match name.strip_prefix(SCHEMAS).unwrap_or(name) {
        "~api.resource.Quantity" => match message.text(1)?.as_str() {
            "" => "0".into(),
            text => text.into(),
        },
        "~apis.meta.v1.Time" | "~apis.meta.v1.MicroTime" => time(name, message)?,
        "~util.intstr.IntOrString" => match message.number(1)? {
            0 => message.number(2)?.into(),
            _ => message.text(3)?.into(),
        },
        "~runtime.RawExtension" | "~apis.meta.v1.FieldsV1" | "JSON" => match message.bytes(1)? {
            [] => Value::Null,
            raw => serde_json::from_slice(raw).map_err(|error| error.to_string())?,
        },
        "JSONSchemaPropsOrBool" => match schema(2)? {
            Value::Null => (message.number(1)? != 0).into(),
            schema => schema,
        },
        "JSONSchemaPropsOrArray" | "JSONSchemaPropsOrStringArray" => {
            let item = match name.ends_with("OrArray") {
                true => Type::Ref(PROPERTIES, true),
                false => Type::Str,
            };
            let items = message.fields()?.into_iter().filter(|(number, _)| *number == 2);
            let items: Vec<Value> = items
                .map(|(_, wire)| value(&item, wire, depth))
                .collect::<Result<_, String>>()?;
            match items.is_empty() {
                true => schema(1)?,
                false => items.into(),
            }
        }
        _ => match shapes::message(name) {
            Some(shape) => structure(shape, message, depth)?.into(),
            None => Value::Null,
        },
    })
}

/// A time; an empty message is an absent one.
fn time(name: &str, message: &Message) -> Result<Value, String> {
    if message.fields()?.is_empty() {
        return Ok(Value::Null);
    }
    let (seconds, nanos) = (message.number(1)?, message.number(2)?);
    let text = time::text(seconds);
    Ok(match name.ends_with("MicroTime") {
        true => format!("{}.{:06}Z", text.trim_end_matches('Z'), nanos / 1_000).into(),
        false => text.into(),
    })
}

/// A float, as Go writes it in JSON: whole ones like integers.
fn float(number: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and less than 2^53")]
    match number.fract() == 0.0 && number.abs() < 9e15 {
        true => (number as i64).into(),
        false => number.into(),
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::decode::decode;

    /// Objects of every kind in both encodings, which Go's types wrote (`fidelity record forms`).
    const FORMS: &str = include_str!("../../../tests/forms.jsonl");

    fn bytes(digits: &str) -> Vec<u8> {
        let pairs = digits.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).unwrap());
        pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
    }

    #[test]
    fn both_encodings_of_an_object_are_decoded_to_the_same_object() {
        let mut kinds = std::collections::BTreeSet::new();
        for line in recordings::read::<String, Value>(FORMS) {
            let (kind, body, written) = (line.asked, &line.answered["protobuf"], line.answered["json"].clone());
            let text = written.to_string();
            let body = bytes(body.as_str().unwrap());
            let sent = Value::Object(read(&body).unwrap_or_else(|why| panic!("{kind}: {why}\n{text}")));
            let (version, name) = kind.split_once(' ').unwrap();
            let definition = shapes::name_of_kind(version, name).unwrap();
            let decoded = [sent, written].map(|mut object| {
                let unknown = decode(definition, &mut object);
                assert_eq!(unknown, Ok(Vec::new()), "{kind}: {text}");
                crate::kinds::empties::bring(definition, &mut object, crate::strategy::Empties::Stored, &[]);
                object
            });
            assert_eq!(decoded[0], decoded[1], "{kind}: {text}");
            kinds.insert(kind);
        }
        assert!(kinds.len() > 50, "{kinds:?}");
    }

    #[test]
    fn a_value_that_is_left_out_is_the_zero_of_its_type() {
        let entry = |item: &Type| entry(item, Wire::Bytes(b"\x0a\x01k"), DEPTH).unwrap().1;
        assert_eq!(entry(&Type::Bool), json!(false));
        assert_eq!(entry(&Type::Bytes), json!(""));
        assert_eq!(entry(&Type::List(Box::new(Type::Str))), json!([]));
        assert_eq!(entry(&Type::Ref("~api.resource.Quantity", false)), json!("0"));
        assert_eq!(entry(&Type::Ref("~util.intstr.IntOrString", false)), json!(0));
    }
}
