//! Reads metadata as Go's decoder reads an ObjectMeta, for kinds whose own decoder leaves it alone: types must fit, what
//! is unknown, null or empty goes.

use serde_json::{Map, Value};

/// What a field holds.
#[derive(Clone, Copy)]
enum Type {
    Text,
    Whole,
    Flag,
    Time,
    Texts,
    Words,
    Any,
    Structs(&'static str, Fields),
}

type Fields = &'static [(&'static str, Type)];

const META: Fields = &[
    ("name", Type::Text),
    ("generateName", Type::Text),
    ("namespace", Type::Text),
    ("selfLink", Type::Text),
    ("uid", Type::Text),
    ("resourceVersion", Type::Text),
    ("generation", Type::Whole),
    ("creationTimestamp", Type::Time),
    ("deletionTimestamp", Type::Time),
    ("deletionGracePeriodSeconds", Type::Whole),
    ("labels", Type::Texts),
    ("annotations", Type::Texts),
    ("ownerReferences", Type::Structs("OwnerReference", OWNER)),
    ("finalizers", Type::Words),
    ("managedFields", Type::Structs("ManagedFieldsEntry", ENTRY)),
];
const OWNER: Fields = &[
    ("apiVersion", Type::Text),
    ("kind", Type::Text),
    ("name", Type::Text),
    ("uid", Type::Text),
    ("controller", Type::Flag),
    ("blockOwnerDeletion", Type::Flag),
];
const ENTRY: Fields = &[
    ("manager", Type::Text),
    ("operation", Type::Text),
    ("apiVersion", Type::Text),
    ("time", Type::Time),
    ("fieldsType", Type::Text),
    ("fieldsV1", Type::Any),
    ("subresource", Type::Text),
];

/// Makes `metadata` an ObjectMeta and returns the paths of what it does not have, `metadata.foo`.
///
/// # Errors
/// The sentence of Go's decoder about the first value that does not fit.
pub fn decode(metadata: &mut Value) -> Result<Vec<String>, String> {
    let mut unknown = Vec::new();
    match metadata {
        Value::Null => *metadata = Value::Object(Map::new()),
        Value::Object(fields) => structure(fields, ("ObjectMeta", META), ("metadata", &mut unknown))?,
        other => {
            let found = name(other);
            return Err(format!(
                "json: cannot unmarshal {found} into Go value of type v1.ObjectMeta"
            ));
        }
    }
    Ok(unknown)
}

fn structure(
    fields: &mut Map<String, Value>,
    (go, known): (&str, Fields),
    (path, unknown): (&str, &mut Vec<String>),
) -> Result<(), String> {
    for (field, value) in std::mem::take(fields) {
        let Some((_, kind)) = known.iter().find(|(it, _)| *it == field) else {
            unknown.push(format!("{path}.{field}"));
            continue;
        };
        if value.is_null() {
            continue;
        }
        let at = Place {
            go: &format!("{go}.{field}"),
            path: &format!("{path}.{field}"),
        };
        let value = at.read(value, *kind, unknown)?;
        if go == "OwnerReference" || !is_left_out(&value, &field) {
            fields.insert(field, value);
        }
    }
    if go == "OwnerReference" {
        for field in ["apiVersion", "kind", "name", "uid"] {
            fields.entry(field).or_insert_with(|| Value::from(""));
        }
    }
    Ok(())
}

/// What Go's encoder leaves out.
fn is_left_out(value: &Value, field: &str) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty() && field != "fieldsV1",
        Value::Number(_) => field == "generation" && value.as_i64() == Some(0),
        _ => false,
    }
}

/// Where the decoder is: `ObjectMeta.labels` for messages about types, `metadata.labels` for unknown fields.
struct Place<'a> {
    go: &'a str,
    path: &'a str,
}

impl Place<'_> {
    fn read(&self, value: Value, kind: Type, unknown: &mut Vec<String>) -> Result<Value, String> {
        match (kind, value) {
            (Type::Any, value)
            | (Type::Text | Type::Time, value @ Value::String(_))
            | (Type::Flag, value @ Value::Bool(_)) => self.time(value, kind),
            (Type::Whole, value) if value.as_i64().is_some() => Ok(value),
            (Type::Texts, Value::Object(entries)) => {
                let entries = entries.into_iter().map(|(key, value)| Ok((key, self.word(value)?)));
                entries.collect::<Result<Map<_, _>, String>>().map(Value::Object)
            }
            (Type::Words, Value::Array(items)) => items
                .into_iter()
                .map(|it| self.word(it))
                .collect::<Result<_, _>>()
                .map(Value::Array),
            (Type::Structs(go, fields), Value::Array(items)) => self.structures(items, (go, fields), unknown),
            (_, value) => Err(self.mismatch(&value, kind)),
        }
    }

    fn structures(
        &self,
        mut items: Vec<Value>,
        shape: (&str, Fields),
        unknown: &mut Vec<String>,
    ) -> Result<Value, String> {
        for (index, item) in items.iter_mut().enumerate() {
            if item.is_null() {
                *item = Value::Object(Map::new());
            }
            let path = format!("{}[{index}]", self.path);
            match item {
                Value::Object(fields) => structure(fields, shape, (&path, unknown))?,
                other => return Err(self.cannot(other, &format!("v1.{}", shape.0))),
            }
        }
        Ok(Value::Array(items))
    }

    fn word(&self, value: Value) -> Result<Value, String> {
        match value {
            Value::Null => Ok(Value::from("")),
            Value::String(_) => Ok(value),
            other => Err(self.cannot(&other, "string")),
        }
    }

    fn time(&self, value: Value, kind: Type) -> Result<Value, String> {
        match (kind, value.as_str()) {
            (Type::Time, Some(text)) if super::time::seconds(text).is_none() => Err(format!(
                "parsing time {shown} as \"2006-01-02T15:04:05Z07:00\": cannot parse {shown} as \"2006\"",
                shown = kubewright_schema::go::quote(text)
            )),
            _ => Ok(value),
        }
    }

    fn mismatch(&self, value: &Value, kind: Type) -> String {
        match kind {
            Type::Time => format!("json: cannot unmarshal {} into Go value of type string", name(value)),
            Type::Text | Type::Any => self.cannot(value, "string"),
            Type::Whole => self.cannot(value, "int64"),
            Type::Flag => self.cannot(value, "bool"),
            Type::Texts => self.cannot(value, "map[string]string"),
            Type::Words => self.cannot(value, "[]string"),
            Type::Structs(go, _) => self.cannot(value, &format!("[]v1.{go}")),
        }
    }

    fn cannot(&self, value: &Value, wanted: &str) -> String {
        format!(
            "json: cannot unmarshal {} into Go struct field {} of type {wanted}",
            name(value),
            self.go
        )
    }
}

/// What Go's decoder calls a value.
fn name(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => format!("number {number}"),
        _ => kubewright_schema::go::kind(value).to_owned(),
    }
}
