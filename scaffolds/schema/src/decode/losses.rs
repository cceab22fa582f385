//! Compares an object with what its Rust type writes after reading it. An operator writes whole objects, so a value that the type does not write
//! again is lost, and one that is left out gets the default of the schema.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::finding::Finding;
use crate::value::Structural;

/// Changes that the type makes to values, by field.
#[derive(Default)]
pub(super) struct Losses(BTreeMap<String, Loss>);

enum Loss {
    /// The value is gone.
    Gone(Value),
    /// Another value is in its place.
    Changed(Value, Value),
    /// The type writes a field that the schema does not have.
    Unknown,
    /// API servers refuse what the type writes.
    Refused(String),
}

impl Losses {
    /// Adds what becomes of an object that API servers accept. `encoded` is what the type writes after reading it, and `read` does the same
    /// with another object.
    pub fn add(
        &mut self,
        schema: &Value,
        compiled: &Structural,
        object: &Value,
        encoded: Value,
        read: &dyn Fn(&Value) -> Result<Value, String>,
    ) {
        let (before, mut stored) = (self.0.len(), encoded);
        for unknown in compiled.prune(&mut stored) {
            self.0.entry(without_indices(&unknown)).or_insert(Loss::Unknown);
        }
        compiled.default(&mut stored);
        self.compare(schema, object, &stored, "");
        // A default of the type that is not one of the schema.
        if let Ok(mut again) = read(&stored) {
            compiled.prune(&mut again);
            compiled.default(&mut again);
            self.compare(schema, object, &again, "");
        }
        if self.0.len() == before
            && let Some(cause) = compiled.validate(&stored).first()
        {
            let at = without_indices(&cause.field);
            self.0.entry(at).or_insert_with(|| Loss::Refused(cause.message.clone()));
        }
    }

    fn compare(&mut self, schema: &Value, was: &Value, is: &Value, at: &str) {
        match (was, is) {
            (Value::Object(was), Value::Object(is)) => self.fields(schema, was, is, at),
            (Value::Array(was), Value::Array(is)) => self.items(schema, at, was, is),
            _ if is_kept(schema, was, is) => {}
            _ => {
                _ = self
                    .0
                    .entry(at.to_owned())
                    .or_insert_with(|| Loss::Changed(was.clone(), is.clone()))
            }
        }
    }

    fn fields(&mut self, schema: &Value, was: &Map<String, Value>, is: &Map<String, Value>, at: &str) {
        for (name, value) in was {
            let (field, below) = match schema["properties"].get(name) {
                Some(below) if at.is_empty() => (name.clone(), below),
                Some(below) => (format!("{at}.{name}"), below),
                None => (format!("{at}{{}}"), &schema["additionalProperties"]),
            };
            match is.get(name) {
                Some(is) => self.compare(below, value, is, &field),
                // For a type that leaves it out, an empty value equals an absent one.
                None if is_blank(value) => {}
                None => _ = self.0.entry(field).or_insert_with(|| Loss::Gone(value.clone())),
            }
        }
    }

    fn items(&mut self, schema: &Value, at: &str, was: &[Value], is: &[Value]) {
        if was.len() != is.len() {
            let lost = Loss::Changed(Value::from(was), Value::from(is));
            self.0.entry(at.to_owned()).or_insert(lost);
        } else if schema["x-kubernetes-list-type"] != "set" {
            let at = format!("{at}[]");
            was.iter()
                .zip(is)
                .for_each(|(was, is)| self.compare(&schema["items"], was, is, &at));
        }
    }

    /// A finding for each field.
    pub fn findings(self, type_name: &str) -> impl Iterator<Item = Finding> {
        self.0.into_iter().map(move |(field, loss)| {
            let (message, remedy) = loss.words();
            Finding {
                type_name: type_name.to_owned(),
                field,
                message,
                remedy: Some(remedy.to_owned()),
            }
        })
    }
}

impl Loss {
    fn words(&self) -> (String, &'static str) {
        match self {
            Self::Gone(value) => (
                format!(
                    "API servers store {value} here, and the type does not write it again: the operator's next write of the object would remove it"
                ),
                "let the type write what it reads: look for `skip_serializing`, `rename(serialize = …)`, an untagged enum or a flattened \
                 option; or let the schema refuse such objects by a rule, `#[x_kube(validation = \"…\")]`",
            ),
            Self::Changed(was, is) => (
                format!(
                    "API servers store {was} here, and after the operator's next write of the object it would be {is}"
                ),
                "a field that the type leaves out gets its default: leave out only the default itself \
                 (`#[serde(skip_serializing_if = …)]`), or use an `Option`; a type of your own has to write what it reads",
            ),
            Self::Unknown => (
                "the type writes this field, and the schema does not have it: API servers would drop it".to_owned(),
                "read and write a field by one name, `#[serde(rename = \"…\")]`, and without `skip_deserializing`; \
                 `#[serde(skip)]` keeps a field out of the API",
            ),
            Self::Refused(cause) => (
                format!("API servers would refuse what the type writes after reading a valid object: {cause}"),
                "let the type write what it reads: look for `skip_serializing`, `rename(serialize = …)` and `with = …`",
            ),
        }
    }
}

/// Whether a value that is neither an object nor a list is kept. Types write texts in a form of their own, such as a duration or a time.
fn is_kept(schema: &Value, was: &Value, is: &Value) -> bool {
    match (was, is) {
        (Value::Number(was), Value::Number(is)) if schema["type"] == "number" || was.is_f64() || is.is_f64() => true,
        (Value::String(was), Value::String(is)) => {
            was == is || (schema["enum"].is_null() && was.is_empty() == is.is_empty())
        }
        // A quantity.
        (Value::Number(was), Value::String(is)) if schema["x-kubernetes-int-or-string"] == true => {
            *is == was.to_string()
        }
        (was, is) => was == is,
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.values().all(is_blank),
    }
}

/// `spec.list[0].x` as findings name it: `spec.list[].x`.
fn without_indices(path: &str) -> String {
    let mut parts = path.split('[');
    let mut short = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (index, rest) = part.split_once(']').unwrap_or((part, ""));
        let is_index = index.bytes().all(|byte| byte.is_ascii_digit());
        short.push_str(if is_index { "[]" } else { "{}" });
        short.push_str(rest);
    }
    short
}
