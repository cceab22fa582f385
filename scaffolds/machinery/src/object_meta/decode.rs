//! Decodes an ObjectMeta from JSON and encodes it again: types must match; unknown, null and empty fields are dropped.

use crate::{go, time::Moment};
use serde_json::{Map, Value};

/// The type of a field (k8s.io/apimachinery, pkg/apis/meta/v1/types.go).
#[derive(Clone, Copy)]
enum Type {
    Text,
    /// A text that is encoded even if it is empty.
    Word,
    /// Dropped if it is zero.
    Count,
    Number,
    Flag,
    Time,
    Texts,
    Words,
    Anything,
    Structs(&'static str, Fields),
}

type Fields = &'static [(&'static str, Type)];

const OBJECT_META: Fields = &[
    ("annotations", Type::Texts),
    ("creationTimestamp", Type::Time),
    ("deletionGracePeriodSeconds", Type::Number),
    ("deletionTimestamp", Type::Time),
    ("finalizers", Type::Words),
    ("generateName", Type::Text),
    ("generation", Type::Count),
    ("labels", Type::Texts),
    ("managedFields", Type::Structs("ManagedFieldsEntry", MANAGED_FIELDS)),
    ("name", Type::Text),
    ("namespace", Type::Text),
    ("ownerReferences", Type::Structs("OwnerReference", OWNER_REFERENCE)),
    ("resourceVersion", Type::Text),
    ("selfLink", Type::Text),
    ("uid", Type::Text),
];

const OWNER_REFERENCE: Fields = &[
    ("apiVersion", Type::Word),
    ("blockOwnerDeletion", Type::Flag),
    ("controller", Type::Flag),
    ("kind", Type::Word),
    ("name", Type::Word),
    ("uid", Type::Word),
];

const MANAGED_FIELDS: Fields = &[
    ("apiVersion", Type::Text),
    ("fieldsType", Type::Text),
    ("fieldsV1", Type::Anything),
    ("manager", Type::Text),
    ("operation", Type::Text),
    ("subresource", Type::Text),
    ("time", Type::Time),
];

/// Go's zero time, which counts as not set.
const ZERO_TIME: &str = "0001-01-01T00:00:00Z";

/// An ObjectMeta.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The metadata as Go encodes it.
    pub metadata: Value,
    /// The paths of fields that an ObjectMeta does not have: `ownerReferences[0].foo`.
    pub unknown: Vec<String>,
}

/// Decodes an ObjectMeta. `within` is the field of the decoded struct that contains it, as error messages name it; empty if the
/// ObjectMeta is decoded alone, as in custom resources.
///
/// # Errors
/// The error of Go's decoder for the first value of a wrong type.
pub fn decode(metadata: &Value, within: &str) -> Result<Decoded, String> {
    let mut unknown = Vec::new();
    let metadata = match metadata {
        Value::Null => Map::new(),
        Value::Object(fields) => {
            let mut decoder = Decoder {
                unknown: &mut unknown,
                type_name: "ObjectMeta",
                path: String::new(),
                names: Vec::from_iter((!within.is_empty()).then(|| within.to_owned())),
            };
            decoder.structure(fields, OBJECT_META)?
        }
        other => {
            return Err(format!(
                "json: cannot unmarshal {} into Go value of type v1.ObjectMeta",
                go::kind(other)
            ));
        }
    };
    let metadata = Value::Object(metadata);
    Ok(Decoded { metadata, unknown })
}

struct Decoder<'a> {
    unknown: &'a mut Vec<String>,
    /// The Go struct that is decoded.
    type_name: &'static str,
    /// The path in the metadata: `ownerReferences[0]`.
    path: String,
    /// The same path without indices.
    names: Vec<String>,
}

impl Decoder<'_> {
    fn structure(&mut self, from: &Map<String, Value>, fields: Fields) -> Result<Map<String, Value>, String> {
        let mut read = Map::new();
        for (name, value) in from {
            let dot = if self.path.is_empty() { "" } else { "." };
            let path = format!("{}{dot}{name}", self.path);
            let Some((_, kind)) = fields.iter().find(|(field, _)| field == name) else {
                self.unknown.push(path);
                continue;
            };
            self.names.push(name.clone());
            let value = match (value, kind) {
                (Value::Null, _) => None,
                (value, Type::Structs(type_name, fields)) => self.structures(value, &path, type_name, fields)?,
                (value, kind) => self.plain(value, *kind)?,
            };
            self.names.pop();
            read.extend(value.map(|value| (name.clone(), value)));
        }
        for (name, _) in fields.iter().filter(|(_, kind)| matches!(kind, Type::Word)) {
            read.entry(*name).or_insert_with(|| "".into());
        }
        Ok(read)
    }

    fn structures(
        &mut self,
        value: &Value,
        path: &str,
        type_name: &'static str,
        fields: Fields,
    ) -> Result<Option<Value>, String> {
        let Value::Array(list) = value else {
            return Err(self.mismatch(value, &format!("[]v1.{type_name}")));
        };
        let mut read = Vec::new();
        for (index, item) in list.iter().enumerate() {
            let empty = Map::new();
            let item = match item {
                Value::Object(item) => item,
                Value::Null => &empty,
                other => return Err(self.mismatch(other, &format!("v1.{type_name}"))),
            };
            let mut inner = Decoder {
                unknown: &mut *self.unknown,
                type_name,
                path: format!("{path}[{index}]"),
                names: self.names.clone(),
            };
            read.push(Value::Object(inner.structure(item, fields)?));
        }
        Ok((!read.is_empty()).then(|| read.into()))
    }

    /// The encoded value, unless it is dropped.
    fn plain(&self, value: &Value, wanted: Type) -> Result<Option<Value>, String> {
        match (wanted, value) {
            (Type::Text, Value::String(text)) if text.is_empty() => Ok(None),
            (Type::Text | Type::Word, Value::String(_)) | (Type::Flag, Value::Bool(_)) | (Type::Anything, _) => {
                Ok(Some(value.clone()))
            }
            (Type::Count | Type::Number, Value::Number(number)) => match go::stored_number(number.clone()).as_i64() {
                Some(0) if matches!(wanted, Type::Count) => Ok(None),
                Some(integer) => Ok(Some(integer.into())),
                None => Err(self.mismatch(value, "int64")),
            },
            (Type::Time, Value::String(text)) => {
                let time = Moment::parse(text)?.utc();
                Ok((time != ZERO_TIME).then_some(Value::String(time)))
            }
            (Type::Texts, Value::Object(texts)) => {
                let texts: Result<Map<_, _>, _> = texts
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), self.text(value)?)))
                    .collect();
                texts.map(|texts| (!texts.is_empty()).then(|| texts.into()))
            }
            (Type::Words, Value::Array(words)) => {
                let words: Result<Vec<_>, _> = words.iter().map(|word| self.text(word)).collect();
                words.map(|words| (!words.is_empty()).then(|| words.into()))
            }
            (wanted, _) => Err(self.mismatch(value, go_type(wanted))),
        }
    }

    fn text(&self, value: &Value) -> Result<Value, String> {
        match value {
            Value::Null => Ok("".into()),
            Value::String(_) => Ok(value.clone()),
            other => Err(self.mismatch(other, "string")),
        }
    }

    fn mismatch(&self, value: &Value, wanted: &str) -> String {
        let kind = match value {
            Value::Number(number) if wanted == "int64" => {
                format!("number {}", go::json(&Value::Number(number.clone())))
            }
            other => go::kind(other).to_owned(),
        };
        let field = self.names.join(".");
        format!(
            "json: cannot unmarshal {kind} into Go struct field {}.{field} of type {wanted}",
            self.type_name
        )
    }
}

fn go_type(kind: Type) -> &'static str {
    match kind {
        Type::Count | Type::Number => "int64",
        Type::Flag => "bool",
        Type::Texts => "map[string]string",
        Type::Words => "[]string",
        Type::Text | Type::Word | Type::Time | Type::Anything | Type::Structs(..) => "string",
    }
}
