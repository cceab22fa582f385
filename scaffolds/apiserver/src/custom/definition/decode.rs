//! Reads a CustomResourceDefinition as the server's typed decoder does: wrong JSON types are refused in its words,
//! unknown fields dropped and named, empty values written the way it writes them. Not the decoder of the built-in kinds, which
//! reads the same recorded shapes: schemas have parts that decode themselves, and numbers are written anew.

use std::sync::LazyLock;

use kubewright_machinery::go;
use serde_json::{Map, Number, Value, json};

use crate::kinds::shapes::{self, ShapeField, Type};

const DEFINITION: &str = super::SHAPE;
const SCHEMA: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

static ONE_SCHEMA: Type = Type::Ref(SCHEMA, false);
static SCHEMAS: LazyLock<Type> = LazyLock::new(|| Type::List(Box::new(Type::Ref(SCHEMA, false))));
static NAMES: LazyLock<Type> = LazyLock::new(|| Type::List(Box::new(Type::Str)));

/// Brings `crd` into the form in which the server shows it and returns the fields that it does not know.
/// `metadata` is left alone.
///
/// # Errors
/// The decoder's sentence about the first value of a wrong type, in the order of field names.
pub(super) fn read(crd: &mut Value) -> Result<Vec<String>, String> {
    let mut reader = DefinitionDecoder::default();
    let Value::Object(object) = crd.take() else {
        return Err("json: cannot unmarshal into Go value of type v1.CustomResourceDefinition".to_owned());
    };
    let (kept, rest): (Map<_, _>, Map<_, _>) = object
        .into_iter()
        .partition(|(key, _)| matches!(key.as_str(), "apiVersion" | "kind" | "metadata"));
    let mut read = reader.object(Value::Object(rest), DEFINITION, &Place::default())?;
    if let (Value::Object(fields), Some(error)) = (&mut read, &reader.error) {
        fields.clear();
        return Err(error.clone());
    }
    if let Value::Object(fields) = &mut read {
        fields.remove("metadata");
        fields.extend(kept);
    }
    *crd = read;
    Ok(reader.unknown)
}

/// The position of the decoder: the struct and fields as in Go's errors, and the path as in warnings.
#[derive(Clone, Default)]
struct Place {
    owner: &'static str,
    fields: String,
    path: String,
    /// Go's name of the type that the value must have.
    go: String,
    /// Inside `items` and `additionalProperties` unknown fields go unnoticed: those parts decode themselves.
    quiet: bool,
}

impl Place {
    fn field(&self, owner: &'static str, field: &ShapeField) -> Self {
        Self {
            owner,
            fields: joined(&self.fields, field.name),
            path: joined(&self.path, field.name),
            go: field.go_type(),
            quiet: self.quiet,
        }
    }

    fn item(&self, path: String, kind: &Type) -> Self {
        Self {
            path,
            go: kind.go(),
            ..self.clone()
        }
    }
}

fn joined(base: &str, name: &str) -> String {
    if base.is_empty() {
        name.to_owned()
    } else {
        format!("{base}.{name}")
    }
}

#[derive(Default)]
struct DefinitionDecoder {
    unknown: Vec<String>,
    /// The first value of a wrong type; as in Go the rest is read all the same.
    error: Option<String>,
}

impl DefinitionDecoder {
    fn wrong(&mut self, value: &Value, type_name: &str, place: &Place) {
        let what = match value {
            Value::Number(number) if matches!(type_name, "int32" | "int64") => format!("number {number}"),
            _ => go::kind(value).to_owned(),
        };
        let Place { owner, fields, .. } = place;
        self.error.get_or_insert_with(|| {
            format!("json: cannot unmarshal {what} into Go struct field {owner}.{fields} of type {type_name}")
        });
    }

    /// `value` in the server's form; errors that end the reading at once are those of types with a decoder of
    /// their own.
    fn value(&mut self, value: Value, kind: &'static Type, place: &Place) -> Result<Value, String> {
        Ok(match (kind, whole(kind, value)) {
            (Type::Ref(name, _), value) => return self.reference(value, name, place),
            (Type::List(item), Value::Array(items)) => return self.list(items, item, place),
            (Type::Map(item), Value::Object(entries)) => return self.map(entries, item, place),
            (_, Value::Null) => zero(kind),
            (Type::Str | Type::Bytes, value @ Value::String(_)) => value,
            (Type::Bool, value @ Value::Bool(_)) => value,
            (Type::F64, Value::Number(number)) => Value::Number(float(number)),
            (Type::I64, Value::Number(number)) if number.is_i64() => Value::Number(number),
            (Type::I32, Value::Number(number)) if number.as_i64().is_some_and(|it| i32::try_from(it).is_ok()) => {
                Value::Number(number)
            }
            (_, value) => {
                self.wrong(&value, &place.go, place);
                zero(kind)
            }
        })
    }

    fn reference(&mut self, value: Value, name: &'static str, place: &Place) -> Result<Value, String> {
        match (name.rsplit('.').next().unwrap_or_default(), value) {
            ("JSON", value) | ("Time", value @ (Value::Null | Value::String(_))) => Ok(value),
            ("Time", value) => {
                self.wrong(&value, "string", place);
                Ok(Value::Null)
            }
            ("JSONSchemaPropsOrBool", value) => self.schema_or_bool(value, place),
            ("JSONSchemaPropsOrArray", value) => self.schema_or_array(value, &SCHEMAS, place),
            ("JSONSchemaPropsOrStringArray", value) => self.schema_or_array(value, &NAMES, place),
            (_, value) => self.object(value, name, place),
        }
    }

    fn object(&mut self, value: Value, name: &'static str, place: &Place) -> Result<Value, String> {
        let Some(shape) = shapes::shape(name) else {
            return Ok(value);
        };
        let entries = match value {
            Value::Object(entries) => entries,
            Value::Null => Map::new(),
            other => {
                self.wrong(&other, &format!("v1.{}", shape.go), place);
                Map::new()
            }
        };
        let mut out = Map::new();
        for (name, value) in entries {
            let Some(field) = shape.field(&name) else {
                if !place.quiet {
                    let path = joined(&place.path, &name);
                    self.unknown.push(format!("unknown field \"{path}\""));
                }
                continue;
            };
            let absent = value.is_null();
            let value = self.value(value, &field.kind, &place.field(shape.go, field))?;
            if is_always_shown(field) || is_shown(field, absent, &value) {
                out.insert(name, value);
            }
        }
        for field in shape.fields.iter().filter(|field| is_always_shown(field)) {
            if !out.contains_key(field.name) {
                out.insert(field.name.to_owned(), self.value(Value::Null, &field.kind, place)?);
            }
        }
        Ok(Value::Object(out))
    }

    fn list(&mut self, items: Vec<Value>, kind: &'static Type, place: &Place) -> Result<Value, String> {
        let items = items.into_iter().enumerate();
        let items =
            items.map(|(index, item)| self.value(item, kind, &place.item(format!("{}[{index}]", place.path), kind)));
        items.collect::<Result<Vec<_>, _>>().map(Value::Array)
    }

    fn map(&mut self, entries: Map<String, Value>, kind: &'static Type, place: &Place) -> Result<Value, String> {
        let mut out = Map::new();
        for (key, value) in entries {
            let value = self.value(value, kind, &place.item(format!("{}.{key}", place.path), kind))?;
            out.insert(key, value);
        }
        Ok(Value::Object(out))
    }

    fn schema_or_bool(&mut self, value: Value, place: &Place) -> Result<Value, String> {
        match value {
            value @ (Value::Bool(_) | Value::Null) => Ok(value),
            Value::Object(_) => self.apart(value, &ONE_SCHEMA, place),
            _ => Err("boolean or JSON schema expected".to_owned()),
        }
    }

    /// A schema, or a list of `listed`.
    fn schema_or_array(&mut self, value: Value, listed: &'static Type, place: &Place) -> Result<Value, String> {
        match &value {
            Value::Object(_) => self.apart(value, &ONE_SCHEMA, place),
            Value::Array(items) if !items.is_empty() => self.apart(value, listed, place),
            _ => Ok(Value::Null),
        }
    }

    /// A part that decodes itself: its first error ends everything.
    fn apart(&mut self, value: Value, kind: &'static Type, place: &Place) -> Result<Value, String> {
        let place = Place {
            quiet: true,
            ..place.item(place.path.clone(), kind)
        };
        let earlier = self.error.take();
        let read = self.value(value, kind, &place)?;
        match self.error.take() {
            Some(error) => Err(error),
            None => {
                self.error = earlier;
                Ok(read)
            }
        }
    }
}

/// Whether Go's encoder writes the field whatever it holds: to a struct, `omitempty` means nothing.
fn is_always_shown(field: &ShapeField) -> bool {
    !field.omit_empty || !field.pointer && matches!(field.kind, Type::Ref(..))
}

/// Whether Go's encoder writes a field that may be left out: a pointer wherever there is one, other values unless empty.
fn is_shown(field: &ShapeField, absent: bool, value: &Value) -> bool {
    if field.pointer {
        return !absent;
    }
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(entries) => !entries.is_empty(),
    }
}

fn zero(kind: &Type) -> Value {
    match kind {
        Type::Str => json!(""),
        Type::Bool => json!(false),
        Type::I32 | Type::I64 | Type::F64 => json!(0),
        _ => Value::Null,
    }
}

/// A value for a field of a type, with a whole number as an integer.
fn whole(kind: &Type, value: Value) -> Value {
    match (kind, value) {
        (Type::I32 | Type::I64, Value::Number(number)) => Value::Number(go::stored_number(number)),
        (_, other) => other,
    }
}

/// A number as a `float64` that Go writes: 2⁵³ + 1 becomes 2⁵³, and `3.0` becomes 3.
fn float(number: Number) -> Number {
    let float = number.as_f64().and_then(Number::from_f64);
    go::stored_number(float.unwrap_or(number))
}
