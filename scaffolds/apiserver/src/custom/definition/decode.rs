//! Reads a CustomResourceDefinition as the server's typed decoder does: wrong JSON types are refused in its words,
//! unknown fields dropped and named, empty values written the way it writes them.

use super::shape::{DEFINITION, Empty, Field, Kind, ONE_SCHEMA, Shape};
use serde_json::{Map, Number, Value, json};

/// Brings `crd` into the form in which the server shows it and returns the fields that it does not know.
/// `metadata` is left alone.
///
/// # Errors
/// The decoder's sentence about the first value of a wrong type, in the order of field names.
pub(super) fn read(crd: &mut Value) -> Result<Vec<String>, String> {
    let mut reader = Reader::default();
    let Value::Object(object) = crd.take() else {
        return Err("json: cannot unmarshal into Go value of type v1.CustomResourceDefinition".to_owned());
    };
    let (kept, rest): (Map<_, _>, Map<_, _>) = object
        .into_iter()
        .partition(|(key, _)| matches!(key.as_str(), "apiVersion" | "kind" | "metadata"));
    let place = Place::default();
    let mut read = reader.object(Value::Object(rest), &DEFINITION, &place)?;
    if let (Value::Object(fields), Some(error)) = (&mut read, &reader.error) {
        fields.clear();
        return Err(error.clone());
    }
    if let Value::Object(fields) = &mut read {
        fields.extend(kept);
    }
    *crd = read;
    Ok(reader.unknown)
}

/// Where the reader is: the struct and fields as Go's errors name them, and the path as warnings do.
#[derive(Clone, Default)]
struct Place {
    owner: &'static str,
    fields: String,
    path: String,
    /// Inside `items` and `additionalProperties` unknown fields go unnoticed: those parts decode themselves.
    quiet: bool,
}

impl Place {
    fn field(&self, owner: &'static str, name: &str) -> Self {
        let join = |base: &str| {
            if base.is_empty() {
                name.to_owned()
            } else {
                format!("{base}.{name}")
            }
        };
        Self {
            owner,
            fields: join(&self.fields),
            path: join(&self.path),
            quiet: self.quiet,
        }
    }

    fn at(&self, path: String) -> Self {
        Self { path, ..self.clone() }
    }
}

#[derive(Default)]
struct Reader {
    unknown: Vec<String>,
    /// The first value of a wrong type; as in Go the rest is read all the same.
    error: Option<String>,
}

impl Reader {
    fn wrong(&mut self, value: &Value, type_name: &str, place: &Place) {
        let what = match value {
            Value::Number(number) if matches!(type_name, "int32" | "int64") => format!("number {number}"),
            _ => kubewright_machinery::go::kind(value).to_owned(),
        };
        let Place { owner, fields, .. } = place;
        self.error.get_or_insert_with(|| {
            format!("json: cannot unmarshal {what} into Go struct field {owner}.{fields} of type {type_name}")
        });
    }

    /// `value` in the server's form; errors that end the reading at once are those of types with a decoder of
    /// their own.
    fn value(&mut self, value: Value, kind: Kind, place: &Place) -> Result<Value, String> {
        Ok(match (kind, value) {
            (Kind::Any, value) => value,
            (Kind::SchemaOrBool, value) => return self.schema_or_bool(value, place),
            (Kind::SchemaOrList | Kind::SchemaOrNames, value) => return self.schema_or_array(value, kind, place),
            (Kind::Object(shape), value) => return self.object(value, shape, place),
            (Kind::List(_, item), Value::Array(items)) => return self.list(items, *item, place),
            (Kind::Map(_, item), Value::Object(entries)) => return self.map(entries, *item, place),
            (_, Value::Null) => zero(kind),
            (Kind::Text(_) | Kind::Bytes | Kind::Time, value @ Value::String(_)) => value,
            (Kind::Flag, value @ Value::Bool(_)) => value,
            (Kind::Float, Value::Number(number)) => Value::Number(shortest(number)),
            (Kind::Int64, Value::Number(number)) if number.is_i64() => Value::Number(number),
            (Kind::Int32, Value::Number(number)) if number.as_i64().is_some_and(|it| i32::try_from(it).is_ok()) => {
                Value::Number(number)
            }
            (_, value) => {
                self.wrong(&value, type_name(kind), place);
                zero(kind)
            }
        })
    }

    fn object(&mut self, value: Value, shape: &'static Shape, place: &Place) -> Result<Value, String> {
        let mut entries = match value {
            Value::Object(entries) => entries,
            Value::Null => Map::new(),
            other => {
                self.wrong(&other, &format!("v1.{}", shape.name), place);
                Map::new()
            }
        };
        let mut out = Map::new();
        for (name, value) in std::mem::take(&mut entries) {
            let Some(field) = shape.fields.iter().find(|field| field.name == name) else {
                if !place.quiet {
                    self.unknown
                        .push(format!("unknown field \"{}\"", place.field("", &name).path));
                }
                continue;
            };
            let absent = value.is_null();
            let place = place.field(shape.name, &name);
            let value = self.value(value, field.kind, &place)?;
            if shown(field, absent, &value) {
                out.insert(name, value);
            }
        }
        for field in shape.fields.iter().filter(|field| field.empty == Empty::Shown) {
            if !out.contains_key(field.name) {
                out.insert(field.name.to_owned(), self.value(Value::Null, field.kind, place)?);
            }
        }
        Ok(Value::Object(out))
    }

    fn list(&mut self, items: Vec<Value>, kind: Kind, place: &Place) -> Result<Value, String> {
        let items = items.into_iter().enumerate();
        let items = items.map(|(index, item)| self.value(item, kind, &place.at(format!("{}[{index}]", place.path))));
        items.collect::<Result<Vec<_>, _>>().map(Value::Array)
    }

    fn map(&mut self, entries: Map<String, Value>, kind: Kind, place: &Place) -> Result<Value, String> {
        let mut out = Map::new();
        for (key, value) in entries {
            let value = self.value(value, kind, &place.at(format!("{}.{key}", place.path)))?;
            out.insert(key, value);
        }
        Ok(Value::Object(out))
    }

    fn schema_or_bool(&mut self, value: Value, place: &Place) -> Result<Value, String> {
        match value {
            value @ (Value::Bool(_) | Value::Null) => Ok(value),
            Value::Object(_) => self.apart(value, ONE_SCHEMA, place),
            _ => Err("boolean or JSON schema expected".to_owned()),
        }
    }

    fn schema_or_array(&mut self, value: Value, kind: Kind, place: &Place) -> Result<Value, String> {
        const NAMES: Kind = Kind::List("[]string", &Kind::Text("string"));
        match (&value, kind) {
            (Value::Object(_), _) => self.apart(value, ONE_SCHEMA, place),
            (Value::Array(items), _) if items.is_empty() => Ok(Value::Null),
            (Value::Array(_), Kind::SchemaOrNames) => self.apart(value, NAMES, place),
            (Value::Array(_), _) => self.apart(value, Kind::List("[]v1.JSONSchemaProps", &ONE_SCHEMA), place),
            _ => Ok(Value::Null),
        }
    }

    /// A part that decodes itself: its first error ends everything.
    fn apart(&mut self, value: Value, kind: Kind, place: &Place) -> Result<Value, String> {
        let place = Place {
            quiet: true,
            ..place.clone()
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

fn shown(field: &Field, absent: bool, value: &Value) -> bool {
    match field.empty {
        Empty::Shown => true,
        Empty::Kept => !absent,
        Empty::Dropped => match value {
            Value::Null => false,
            Value::Bool(flag) => *flag,
            Value::Number(number) => number.as_f64() != Some(0.0),
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(entries) => !entries.is_empty(),
        },
    }
}

fn zero(kind: Kind) -> Value {
    match kind {
        Kind::Text(_) => json!(""),
        Kind::Flag => json!(false),
        Kind::Int32 | Kind::Int64 | Kind::Float => json!(0),
        _ => Value::Null,
    }
}

fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Text(name) | Kind::List(name, _) | Kind::Map(name, _) => name,
        Kind::Flag => "bool",
        Kind::Int32 => "int32",
        Kind::Int64 => "int64",
        Kind::Float => "float64",
        Kind::Bytes => "[]uint8",
        Kind::Time => "string",
        _ => "",
    }
}

/// Whole numbers are written without a fraction: `3.0` becomes `3`.
fn shortest(number: Number) -> Number {
    /// Up to here every whole number has a double of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within ±2⁵³")]
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT => Number::from(float as i64),
        _ => number,
    }
}
