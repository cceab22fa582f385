//! Decodes built-in kinds in Protobuf, as kubectl and client-go send them: an envelope that names the type, and in it a
//! message whose field numbers are in the recorded shapes. The result is the object that the same client would have
//! sent as JSON.

use kubewright_machinery::{base64, time};
use serde_json::{Map, Value, json};

use super::{
    shapes::{self, Field, Shape, Type},
    wire::{Message, Wire},
};

/// The first bytes of every body.
const MAGIC: &[u8] = b"k8s\0";
/// How deep messages may nest: deeper than those of any kind, and little enough for the stack.
const DEPTH: usize = 64;

type Fields = Map<String, Value>;

/// Decodes a body.
///
/// # Errors
/// A message that says what is malformed.
pub fn read(body: &[u8]) -> Result<Fields, String> {
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
        let is_embedded = |field: &Field| field.attribute("b").is_some_and(|own| own.starts_with(&inner));
        if let (Wire::Bytes(bytes), true) = (wire, shape.fields.iter().any(is_embedded)) {
            let inner = Embedded { shape, prefix: &inner };
            fill(inner, &Message::new(bytes), object, depth)?;
        }
    }
    Ok(())
}

/// Adds the value of a field: of a list one item, of a map one entry.
fn add(field: &Field, wire: Wire, object: &mut Fields, depth: usize) -> Result<(), String> {
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
            // Protobuf encodes zeros where JSON omits the field.
            if field.pointer || !is_zero(&found) || !(field.omit_empty || field.omit_zero) {
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
    let mut found = Value::Null;
    for (number, wire) in message.fields()? {
        if number != 2 {
            continue;
        }
        found = match (item, wire) {
            // A list as the value of a map is a message of its own.
            (Type::List(of), Wire::Bytes(bytes)) => {
                let items = Message::new(bytes).fields()?.into_iter();
                let items: Result<Vec<Value>, String> = items.map(|(_, wire)| value(of, wire, depth)).collect();
                items?.into()
            }
            _ => value(item, wire, depth)?,
        };
    }
    if found.is_null() {
        found = match item {
            Type::Str | Type::Bytes => json!(""),
            Type::List(_) => json!([]),
            _ => Value::Null,
        };
    }
    Ok((message.text(1)?, found))
}

fn value(kind: &Type, wire: Wire, depth: usize) -> Result<Value, String> {
    Ok(match (kind, wire) {
        (Type::Str, Wire::Bytes(bytes)) => String::from_utf8_lossy(bytes).into_owned().into(),
        (Type::Bytes, Wire::Bytes(bytes)) => base64::encode(bytes, base64::Encoding::Standard).into(),
        (Type::Bool, Wire::Number(number)) => (number != 0).into(),
        (Type::I32 | Type::I64, Wire::Number(number)) => number.cast_signed().into(),
        (Type::F64, Wire::Number(number)) => f64::from_bits(number).into(),
        (Type::Ref(name, _), Wire::Bytes(bytes)) => referred(name, &Message::new(bytes), depth)?,
        _ => return Err("proto: wrong wireType".to_owned()),
    })
}

/// A struct; some structs are not objects in JSON.
fn referred(name: &str, message: &Message, depth: usize) -> Result<Value, String> {
    Ok(match name {
        "~api.resource.Quantity" => message.text(1)?.into(),
        "~apis.meta.v1.Time" | "~apis.meta.v1.MicroTime" => time(name, message)?,
        "~util.intstr.IntOrString" => match message.number(1)? {
            0 => message.number(2)?.into(),
            _ => message.text(3)?.into(),
        },
        "~runtime.RawExtension" | "~apis.meta.v1.FieldsV1" => {
            let raw = message.bytes(1)?;
            serde_json::from_slice(raw).map_err(|error| error.to_string())?
        }
        _ => match shapes::shape(name) {
            Some(shape) => structure(shape, message, depth)?.into(),
            None => Value::Null,
        },
    })
}

/// A time; zero seconds mean that it is absent.
fn time(name: &str, message: &Message) -> Result<Value, String> {
    let (seconds, nanos) = (message.number(1)?, message.number(2)?);
    if seconds == 0 && nanos == 0 {
        return Ok(Value::Null);
    }
    let text = time::text(seconds);
    Ok(match name.ends_with("MicroTime") {
        true => format!("{}.{:06}Z", text.trim_end_matches('Z'), nanos / 1_000).into(),
        false => text.into(),
    })
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
