//! The values of mutations: apply configurations and JSON patches, as the server turns values of expressions into JSON.

use super::operators;
use super::value::built::TEXTS;
use super::value::{Built, Fault, Key, List, Map, Val};
use crate::types::{JSON_PATCH, OBJECT};
use kubewright_machinery::base64::{self, Encoding};
use kubewright_machinery::go;
use serde_json::{Map as Json, Value, json};

/// Integers of at least this size are texts in JSON, because floats cannot represent them.
const UNSAFE: i64 = 1 << 53;

/// The value of an apply configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// The object, without `apiVersion` and `kind` unless the expression sets them.
    pub object: Value,
    /// Values that no object can have, such as null. The object has their texts in their places.
    pub unfit: Vec<Unfit>,
}

/// A value of the expression language that no object can have.
#[derive(Clone, Debug, PartialEq)]
pub struct Unfit {
    /// Its path: `.spec.ports[0]`.
    pub path: String,
    /// Its type in Go.
    pub go_type: &'static str,
    /// As Go's `%v` prints it.
    pub text: String,
    /// As Go's `%#v` prints it.
    pub source: String,
}

/// The object of an apply configuration.
///
/// # Errors
/// If names of types do not match the fields where they are.
pub(super) fn configuration(built: &Built<'_>) -> Result<Configuration, String> {
    check_names(built, OBJECT)?;
    let mut native = Native::default();
    let object = native.object(built, "");
    if native.0.iter().any(|unfit| unfit.path.is_empty()) {
        return Err("invalid return type: *dynamic.ObjectVal".to_owned());
    }
    let Native(unfit) = native;
    Ok(Configuration { object, unfit })
}

/// The operations of a JSON patch.
///
/// # Errors
/// If names of types do not match the fields where they are, or a value cannot be JSON.
pub(super) fn operations(list: &List<'_>) -> Result<Vec<Json<String, Value>>, String> {
    let items = list.all().map_err(|fault| fault.told().to_owned())?;
    items.iter().map(operation).collect()
}

fn operation(item: &Val<'_>) -> Result<Json<String, Value>, String> {
    let Val::Built(built) = item else {
        let found = item.go_type();
        return Err(format!(
            "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch, got element of {found}"
        ));
    };
    let mut operation = Json::new();
    for field in TEXTS {
        let text = built.text(field);
        if field != "from" || !text.is_empty() {
            operation.insert(field.to_owned(), json!(text));
        }
    }
    if let Some(value) = built.fields.get("value") {
        if let Val::Built(object) = value {
            check_names(object, object.name)?;
        }
        let value = as_json(value).map_err(|why| {
            format!("JSONPath valueExpression evaluated to a type that could not marshal to JSON: {why}")
        })?;
        operation.insert("value".to_owned(), value);
    }
    Ok(operation)
}

/// Whether the type of each object is called after the field in which it is, below `root`.
fn check_names(object: &Built<'_>, root: &str) -> Result<(), String> {
    let mut wrong = Vec::new();
    misnamed(object, root, &mut wrong);
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("type mismatch: {}", wrong.join("\n"))),
    }
}

fn misnamed(object: &Built<'_>, expected: &str, wrong: &mut Vec<String>) {
    if object.name != expected {
        let (found, expected) = (go::quote(object.name), go::quote(expected));
        wrong.push(format!(
            "unexpected type name {found}, expected {expected}, which matches field name path from root Object type"
        ));
    }
    for (field, value) in &object.fields {
        misnamed_within(value, &format!("{expected}.{field}"), wrong);
    }
}

/// The server looks into objects, and into lists and maps that the expression has made.
fn misnamed_within(value: &Val<'_>, expected: &str, wrong: &mut Vec<String>) {
    match value {
        Val::Built(object) => misnamed(object, expected, wrong),
        Val::List(list) if list.is_made() => {
            for item in list.iter().flatten() {
                misnamed_within(&item, expected, wrong);
            }
        }
        Val::Map(Map::Own(entries)) => {
            for value in entries.values() {
                misnamed_within(value, expected, wrong);
            }
        }
        _ => {}
    }
}

/// Turns values into Go values (`Value()`), and keeps those that no object can have.
#[derive(Default)]
struct Native(Vec<Unfit>);

impl Native {
    /// The fields of an object. Lists and maps that an expression has made become lists and maps of an object there, and nowhere else.
    fn object(&mut self, object: &Built<'_>, path: &str) -> Value {
        let mut out = Json::new();
        for (field, value) in &object.fields {
            let inner = format!("{path}.{field}");
            let value = match value {
                Val::List(list) => self.list(list, &inner),
                Val::Map(Map::Own(entries)) => {
                    let mut members = Json::new();
                    for (key, value) in &**entries {
                        let Key::String(key) = key else {
                            let why = format!("fail to convert field {}: {}", go::quote(field), no_text(key));
                            return self.unfit(path, "*types.Err", why);
                        };
                        members.insert(key.clone(), self.value(value, &format!("{inner}.{key}")));
                    }
                    Value::Object(members)
                }
                value => self.value(value, &inner),
            };
            out.insert((*field).to_owned(), value);
        }
        Value::Object(out)
    }

    fn list(&mut self, list: &List<'_>, path: &str) -> Value {
        let items = list.iter().enumerate();
        let items = items.map(|(index, item)| self.value(&item.unwrap_or(Val::Null), &format!("{path}[{index}]")));
        items.collect()
    }

    fn value(&mut self, value: &Val<'_>, path: &str) -> Value {
        match value {
            Val::Bool(flag) => json!(flag),
            Val::Int(number) => json!(number),
            Val::Double(number) => json!(number),
            Val::String(text) => json!(text),
            Val::Built(object) if object.name != JSON_PATCH => self.object(object, path),
            Val::Unknown(value) => (*value).clone(),
            Val::Map(Map::Json(map, _)) => Value::Object((*map).clone()),
            Val::List(list) if !list.is_made() => self.list(list, path),
            Val::Optional(None) => Value::Null,
            Val::Optional(Some(value)) => self.value(value, path),
            Val::Bytes(bytes) => {
                let text = self.unfit(path, value.go_type(), format!("{bytes:?}").replace(',', ""));
                if let Some(unfit) = self.0.last_mut() {
                    let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:#x}")).collect();
                    unfit.source = format!("[]uint8{{{}}}", bytes.join(", "));
                }
                text
            }
            other => self.unfit(path, other.go_type(), in_go(other)),
        }
    }

    fn unfit(&mut self, path: &str, go_type: &'static str, text: String) -> Value {
        let source = match go_type {
            "structpb.NullValue" => "0".to_owned(),
            "uint64" => text.parse().map_or_else(|_| text.clone(), |it: u64| format!("{it:#x}")),
            _ => text.clone(),
        };
        self.0.push(Unfit {
            path: path.to_owned(),
            go_type,
            text: text.clone(),
            source,
        });
        json!(text)
    }
}

/// Go's error about a key that is not a text.
fn no_text(key: &Key) -> String {
    let rune = |code: i64| {
        let rune = u32::try_from(code).ok().and_then(char::from_u32).unwrap_or('\u{fffd}');
        go::quote(&rune.to_string()).replace('"', "'")
    };
    let (shown, r#type) = match key {
        Key::Bool(flag) => (format!("%!q(types.Bool={flag})"), "types.Bool"),
        Key::Int(number) => (rune(*number), "types.Int"),
        Key::Uint(number) => (rune(i64::try_from(*number).unwrap_or(-1)), "types.Uint"),
        Key::String(text) => (go::quote(text), "types.String"),
    };
    format!("map key {shown} is of type {type}, not string", type = r#type)
}

/// A value as Go's `%v` prints it.
fn in_go(value: &Val<'_>) -> String {
    match value {
        Val::Null => "NULL_VALUE".to_owned(),
        Val::List(list) => {
            let items: Vec<String> = list.iter().flatten().map(|item| in_go(&item)).collect();
            format!("[{}]", items.join(" "))
        }
        Val::Map(Map::Own(entries)) => {
            let entries = entries.iter();
            let entries = entries.map(|(key, value)| format!("{}:{}", key.value().shown(), in_go(value)));
            format!("map[{}]", entries.collect::<Vec<_>>().join(" "))
        }
        value => value.shown(),
    }
}

/// The value as JSON (`structpb.Value`).
fn as_json(value: &Val<'_>) -> Result<Value, String> {
    let told = |fault: Fault| fault.told().to_owned();
    Ok(match value {
        Val::Null => Value::Null,
        Val::Bool(flag) => json!(flag),
        Val::Int(number) if number.abs_diff(0) >= UNSAFE.unsigned_abs() => json!(number.to_string()),
        Val::Int(number) => json!(number),
        Val::Uint(number) if *number >= UNSAFE.unsigned_abs() => json!(number.to_string()),
        Val::Uint(number) => json!(number),
        Val::Double(number) => float(*number)?,
        Val::String(text) => json!(text),
        Val::Bytes(bytes) => json!(base64::encode(bytes, Encoding::Standard)),
        Val::Duration(_) | Val::Timestamp(_) => match operators::convert("string", value).map_err(told)? {
            Val::String(text) => json!(text),
            _ => Value::Null,
        },
        Val::List(list) => {
            let items = list.all().map_err(told)?;
            items.iter().map(as_json).collect::<Result<_, _>>()?
        }
        Val::Map(map) => members(map)?,
        Val::Built(object) if object.name == JSON_PATCH => {
            return Err("cannot convert to native type: *structpb.Value".to_owned());
        }
        Val::Built(object) => {
            let mut native = Native::default();
            let value = native.object(object, "");
            if let Some(Unfit { go_type, .. }) = native.0.first() {
                return Err(format!("proto: invalid type: {go_type}"));
            }
            floats(value)?
        }
        Val::Unknown(value) => (*value).clone(),
        Val::Optional(Some(value)) => as_json(value)?,
        Val::Optional(None) => return Err("optional.none() dereference".to_owned()),
        Val::Type(_) => return Err("type conversion not supported for 'type'".to_owned()),
        Val::Foreign(_) => {
            let name = value.type_name();
            let name = name.rsplit('.').next().unwrap_or(name);
            return Err(format!("type conversion error from '{name}' to '*structpb.Value'"));
        }
    })
}

fn members(map: &Map<'_>) -> Result<Value, String> {
    let mut out = Json::new();
    for key in map.keys() {
        let Val::String(name) = &key else {
            return Err(match &key {
                Val::Bool(_) => "type conversion error from bool to 'string'".to_owned(),
                key => format!("unsupported type conversion from '{}' to string", key.type_name()),
            });
        };
        let value = map.find(&key).map_err(|fault| fault.told().to_owned())?;
        out.insert(name.clone().into_owned(), as_json(&value.unwrap_or(Val::Null))?);
    }
    Ok(Value::Object(out))
}

/// All numbers within objects go through floats.
fn floats(value: Value) -> Result<Value, String> {
    Ok(match value {
        Value::Number(number) => float(number.as_f64().unwrap_or(f64::NAN))?,
        Value::Array(items) => items.into_iter().map(floats).collect::<Result<_, _>>()?,
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| Ok((name, floats(value)?)));
            Value::Object(members.collect::<Result<_, String>>()?)
        }
        other => other,
    })
}

/// A float as it is written: whole numbers without a fraction.
fn float(number: f64) -> Result<Value, String> {
    if !number.is_finite() {
        return Err(format!("google.protobuf.Value cannot have {}", go::decimal(number)));
    }
    Ok(go::stored(json!(number)))
}
