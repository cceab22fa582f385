//! Typed decoding and encoding in one step: converts a body to the result of Go's decoder and encoder. Values must have
//! the right types, unknown fields are removed, nulls and zeros are removed or kept according to each field's tags, and
//! quantities, times and bytes get their canonical form.

use kubewright_machinery::{
    base64::{self, Encoding},
    go,
    quantity::Quantity,
    time::Moment,
};
use serde_json::{Map, Value, json};

use super::shapes::{self, Shape, ShapeField, Type};

/// Limits the recursion in the schemas of CustomResourceDefinitions; bodies of this depth have been refused before.
const DEEPEST: usize = 200;

/// Decodes `object` by the definition `name`, and returns the paths of unknown fields.
///
/// # Errors
/// The message of Go's decoder about the first value of a wrong type.
pub(super) fn decode(name: &str, object: &mut Value) -> Result<Vec<String>, String> {
    FieldDecoder::default().read(name, object)
}

/// Like [`decode`], for an object that the server has produced from others, which Go converts in a different way.
///
/// # Errors
/// The converter's message about the first value of a wrong type.
pub(super) fn convert(name: &str, object: &mut Value) -> Result<Vec<String>, String> {
    let reader = FieldDecoder {
        converts: true,
        ..FieldDecoder::default()
    };
    reader.read(name, object)
}

/// [`decode`] or [`convert`].
pub(super) type Read = fn(&str, &mut Value) -> Result<Vec<String>, String>;

#[derive(Default)]
struct FieldDecoder {
    /// Whether to follow Go's converter instead of its decoder.
    converts: bool,
    /// The error of the first value of a wrong type. Decoding continues after it, because a value that cannot be parsed
    /// takes precedence.
    wrong: Option<String>,
    /// The names of the current field and its parents for errors, without indices.
    fields: Vec<&'static str>,
    /// The struct that contains the innermost field.
    owner: &'static str,
    /// The path of the current field, for unknown fields.
    path: String,
    unknown: Vec<String>,
    depth: usize,
}

impl FieldDecoder {
    fn read(mut self, name: &str, object: &mut Value) -> Result<Vec<String>, String> {
        if let (Some(shape), Some(fields)) = (shapes::shape(name), object.as_object_mut()) {
            self.object(shape, fields)?;
        }
        self.wrong.map_or(Ok(self.unknown), Err)
    }

    fn object(&mut self, shape: &'static Shape, object: &mut Map<String, Value>) -> Result<(), String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("json: exceeded max depth".to_owned());
        }
        for (name, value) in std::mem::take(object) {
            let end = self.path.len();
            self.push(&name);
            match shape.field(&name) {
                None => self.unknown.push(self.path.clone()),
                Some(_) if value.is_null() => {}
                Some(field) => {
                    let owner = std::mem::replace(&mut self.owner, shape.go);
                    let depth = self.fields.len();
                    self.fields
                        .extend(field.attribute("v").map(|via| via.trim_end_matches('.')));
                    self.fields.push(field.name);
                    let value = self.value(&field.kind, &field.go_type(), value)?;
                    self.fields.truncate(depth);
                    self.owner = owner;
                    if !is_left_out(field, &value) {
                        object.insert(name, value);
                    }
                }
            }
            self.path.truncate(end);
        }
        for field in shape
            .fields
            .iter()
            .filter(|field| !object.contains_key(field.name))
            .collect::<Vec<_>>()
        {
            if let Some(zero) = zero(field) {
                object.insert(field.name.to_owned(), zero);
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn push(&mut self, name: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(name);
    }

    fn value(&mut self, kind: &'static Type, go: &str, value: Value) -> Result<Value, String> {
        match (kind, whole(kind, value)) {
            (Type::Ref(name, _), value) => self.reference(name, go, value),
            (_, Value::Null) => Ok(zero_of(kind)),
            (Type::Str, Value::String(text)) => Ok(Value::String(text)),
            (Type::Bool, Value::Bool(flag)) => Ok(Value::Bool(flag)),
            (Type::I32, Value::Number(number)) if fits_i32(&number) => Ok(Value::Number(number)),
            (Type::I64, Value::Number(number)) if number.as_i64().is_some() => Ok(Value::Number(number)),
            (Type::I32 | Type::I64, Value::Number(number)) if self.converts => converted(kind, &number, go),
            (Type::F64, Value::Number(number)) => Ok(Value::Number(number)),
            (Type::Bytes, value) => self.bytes(go, value),
            (Type::List(item), Value::Array(items)) => self.list(item, go, items),
            (Type::Map(item), Value::Object(entries)) => self.map(item, go, entries),
            (kind, value) if self.converts => Err(inconvertible(kind, &value, go)),
            (kind, value) => Ok(self.wrong(kind, &value, go)),
        }
    }

    /// Records a value of a wrong type, and returns its replacement.
    fn wrong(&mut self, kind: &Type, value: &Value, go: &str) -> Value {
        let sentence = self.mismatch(value, go);
        self.wrong.get_or_insert(sentence);
        zero_of(kind)
    }

    fn list(&mut self, item: &'static Type, go: &str, items: Vec<Value>) -> Result<Value, String> {
        let go = go.strip_prefix("[]").map_or_else(|| item.go(), str::to_owned);
        let mut out = Vec::with_capacity(items.len());
        for (index, value) in items.into_iter().enumerate() {
            let end = self.path.len();
            self.path.push_str(&format!("[{index}]"));
            out.push(self.value(item, &go, value)?);
            self.path.truncate(end);
        }
        Ok(Value::Array(out))
    }

    fn map(&mut self, item: &'static Type, go: &str, entries: Map<String, Value>) -> Result<Value, String> {
        let go = go.strip_prefix("map[string]").map_or_else(|| item.go(), str::to_owned);
        let mut out = Map::new();
        for (key, value) in entries {
            let end = self.path.len();
            self.push(&key);
            let value = self.value(item, &go, value)?;
            out.insert(key, value);
            self.path.truncate(end);
        }
        Ok(Value::Object(out))
    }

    fn bytes(&mut self, go: &str, value: Value) -> Result<Value, String> {
        match value {
            Value::String(text) => match base64::decode(&text, Encoding::Standard) {
                Ok(bytes) => Ok(Value::String(base64::encode(&bytes, Encoding::Standard))),
                Err(at) if self.converts => Err(format!(
                    "error decoding from json: illegal base64 data at input byte {at}"
                )),
                Err(at) => {
                    let sentence = format!("illegal base64 data at input byte {at}");
                    self.wrong.get_or_insert(sentence);
                    Ok(Value::Null)
                }
            },
            // A byte slice may also be an array of numbers.
            Value::Array(items) => {
                let mut bytes = Vec::with_capacity(items.len());
                for item in items {
                    let byte = item.as_u64().and_then(|number| u8::try_from(number).ok());
                    match byte {
                        Some(byte) => bytes.push(byte),
                        None if self.converts => return Err("unrecognized type: uint8".to_owned()),
                        None => _ = self.wrong(&Type::Bytes, &item, "uint8"),
                    }
                }
                Ok(Value::String(base64::encode(&bytes, Encoding::Standard)))
            }
            other if self.converts => Err(inconvertible(&Type::Bytes, &other, go)),
            other => Ok(self.wrong(&Type::Bytes, &other, go)),
        }
    }

    fn reference(&mut self, name: &'static str, go: &str, value: Value) -> Result<Value, String> {
        match (name, value) {
            ("~api.resource.Quantity", value) => quantity(&value),
            ("~util.intstr.IntOrString", value) => self.int_or_string(value),
            ("~apis.meta.v1.Time", value) => self.time(value, |text| Ok(Moment::parse(text)?.utc())),
            ("~apis.meta.v1.MicroTime", value) => self.time(value, |text| Ok(Moment::parse_micro(text)?.utc_micro())),
            (raw, value) if is_raw(raw) => Ok(value),
            (_, Value::Null) => self.structure(name, Map::new()),
            (_, Value::Object(fields)) => self.structure(name, fields),
            (_, value) if self.converts => Err(format!("cannot restore struct from: {}", go_kind(&value))),
            (name, value) => Ok(self.wrong(&Type::Ref(name, false), &value, go)),
        }
    }

    fn structure(&mut self, name: &str, mut fields: Map<String, Value>) -> Result<Value, String> {
        if let Some(shape) = shapes::shape(name) {
            self.object(shape, &mut fields)?;
        }
        Ok(Value::Object(fields))
    }

    fn int_or_string(&self, value: Value) -> Result<Value, String> {
        match value {
            Value::String(text) => Ok(Value::String(text)),
            Value::Number(number) if fits_i32(&number) => Ok(Value::Number(number)),
            Value::Null => Ok(json!(0)),
            other => Err(self.mismatch(&other, "int32")),
        }
    }

    fn time(&self, value: Value, canonical: fn(&str) -> Result<String, String>) -> Result<Value, String> {
        match value {
            Value::String(text) => canonical(&text).map(Value::String),
            Value::Null => Ok(Value::Null),
            other => Err(self.mismatch(&other, "string")),
        }
    }

    fn mismatch(&self, value: &Value, go: &str) -> String {
        let found = match value {
            Value::Number(number) if takes_numbers(go) => format!("number {number}"),
            _ => kubewright_machinery::go::kind(value).to_owned(),
        };
        if self.converts {
            return format!("json: cannot unmarshal {found} into Go value of type {go}");
        }
        let field = self.fields.join(".");
        format!(
            "json: cannot unmarshal {found} into Go struct field {}.{field} of type {go}",
            self.owner
        )
    }
}

/// A value for a field of a type, with a whole number as an integer, as it is stored.
fn whole(kind: &Type, value: Value) -> Value {
    match (kind, value) {
        (Type::I32 | Type::I64 | Type::F64 | Type::Ref(..), Value::Number(number)) if !number.is_i64() => {
            Value::Number(go::stored_number(number))
        }
        (_, other) => other,
    }
}

/// Converts a number that is not an integer of the type: a whole float becomes an integer, truncated to the type's size.
fn converted(kind: &Type, number: &serde_json::Number, go: &str) -> Result<Value, String> {
    #[expect(clippy::cast_possible_truncation, reason = "as Go's converter cuts them")]
    let whole = match (number.as_i64(), number.as_f64()) {
        (Some(whole), _) => whole,
        (None, Some(float)) if float.fract() == 0.0 => float as i64,
        _ => return Err(format!("cannot convert float64 to {go}")),
    };
    #[expect(clippy::cast_possible_truncation, reason = "as Go's converter cuts them")]
    let fitted = if matches!(kind, Type::I32) {
        i64::from(whole as i32)
    } else {
        whole
    };
    Ok(json!(fitted))
}

/// The error of Go's converter for a value of another type.
fn inconvertible(kind: &Type, value: &Value, go: &str) -> String {
    let found = go_kind(value);
    match kind {
        Type::List(_) | Type::Bytes => format!("cannot restore slice from {found}"),
        Type::Map(_) => format!("cannot restore map from {found}"),
        // To Go, a number is a character.
        Type::Str if found == "int64" => format!("cannot convert int64 to {go}"),
        Type::Str => "unrecognized type: string".to_owned(),
        Type::Bool => "unrecognized type: bool".to_owned(),
        Type::F64 => "unrecognized type: float64".to_owned(),
        Type::I64 => "unrecognized type: int64".to_owned(),
        _ => "unrecognized type: int32".to_owned(),
    }
}

/// Go's kind of a decoded value.
fn go_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}

/// Whether Go's error quotes a number that does not fit, as it does only for number types.
fn takes_numbers(go: &str) -> bool {
    matches!(go, "int32" | "int64" | "float64" | "uint8")
}

fn fits_i32(number: &serde_json::Number) -> bool {
    number.as_i64().is_some_and(|number| i32::try_from(number).is_ok())
}

/// Whether Go keeps the values of a definition unparsed.
pub(super) fn is_raw(name: &str) -> bool {
    matches!(name, "~apis.meta.v1.FieldsV1" | "~runtime.RawExtension")
        || name.contains(".v1.JSON") && !name.ends_with(".JSONSchemaProps")
}

fn quantity(value: &Value) -> Result<Value, String> {
    let text = match value {
        Value::Null => return Ok(json!("0")),
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    Ok(Value::String(Quantity::parse_exact(&text)?.canonical()))
}

/// Whether Go's encoder omits the field with this value, ignoring lists and maps.
fn is_left_out(field: &ShapeField, value: &Value) -> bool {
    if field.pointer || !field.omit_empty {
        return false;
    }
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => matches!(field.kind, Type::I32 | Type::I64) && number.as_i64() == Some(0),
        Value::String(text) => text.is_empty() && !matches!(field.kind, Type::Ref(..)),
        // `super::empties` handles empty ones.
        Value::Array(_) | Value::Object(_) => false,
    }
}

/// The value that Go's encoder writes for an unset field, if any.
fn zero(field: &ShapeField) -> Option<Value> {
    if field.omit_zero || field.pointer && field.omit_empty {
        return None;
    }
    if field.pointer {
        return Some(Value::Null);
    }
    match &field.kind {
        Type::Ref(..) => Some(zero_of(&field.kind)),
        _ if field.omit_empty => None,
        // In a map no bytes are empty ones.
        Type::Bytes => Some(Value::Null),
        kind => Some(zero_of(kind)),
    }
}

/// Go's zero value of a type.
fn zero_of(kind: &Type) -> Value {
    match kind {
        Type::Str | Type::Bytes => json!(""),
        Type::I32 | Type::I64 | Type::F64 => json!(0),
        Type::Bool => json!(false),
        Type::List(_) | Type::Map(_) => Value::Null,
        Type::Ref("~api.resource.Quantity", _) => json!("0"),
        Type::Ref("~util.intstr.IntOrString", _) => json!(0),
        Type::Ref("~apis.meta.v1.Time" | "~apis.meta.v1.MicroTime", _) => Value::Null,
        Type::Ref(name, _) if is_raw(name) => Value::Null,
        Type::Ref(name, _) => {
            let mut object = Map::new();
            for field in shapes::shape(name)
                .map(|shape| shape.fields.as_slice())
                .unwrap_or_default()
            {
                if let Some(value) = zero(field) {
                    object.insert(field.name.to_owned(), value);
                }
            }
            Value::Object(object)
        }
    }
}

/// The value that Go's encoder writes for the field `name` of a new object.
pub(super) fn empty(definition: &str, name: &str) -> Option<Value> {
    zero(shapes::shape(definition)?.field(name)?)
}
