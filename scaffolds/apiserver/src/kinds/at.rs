//! A place in an object and what is wrong there: validations walk with [`At`] and note into [`Faults`].

use kubewright_schema::Cause;
use serde_json::Value;

static NULL: Value = Value::Null;

/// A value together with its path.
#[derive(Clone, Debug)]
pub(super) struct At<'a> {
    /// Null where there is nothing.
    pub value: &'a Value,
    pub path: String,
}

impl<'a> At<'a> {
    /// The whole object, whose path is empty.
    pub fn root(value: &'a Value) -> Self {
        let path = String::new();
        Self { value, path }
    }

    /// The field `name`.
    pub fn get(&self, name: &str) -> Self {
        let path = if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        };
        let value = self.value.get(name).unwrap_or(&NULL);
        Self { value, path }
    }

    /// The field that a dotted path leads to.
    pub fn at(&self, path: &str) -> Self {
        path.split('.').fold(self.clone(), |at, name| at.get(name))
    }

    /// The same value under another path.
    pub fn called(&self, path: &str) -> Self {
        Self {
            value: self.value,
            path: path.to_owned(),
        }
    }

    /// The items of a list.
    pub fn items(&self) -> impl Iterator<Item = Self> + use<'a> {
        let path = self.path.clone();
        let items = self.value.as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().enumerate().map(move |(index, value)| Self {
            value,
            path: format!("{path}[{index}]"),
        })
    }

    /// The keys and values of a map; paths end in `[key]`.
    pub fn entries(&self) -> impl Iterator<Item = (&'a str, Self)> + use<'a> {
        let path = self.path.clone();
        let entries = self.value.as_object().into_iter().flatten();
        entries.map(move |(key, value)| {
            (
                key.as_str(),
                Self {
                    value,
                    path: format!("{path}[{key}]"),
                },
            )
        })
    }

    /// How many items or entries there are.
    pub fn len(&self) -> usize {
        self.value
            .as_array()
            .map_or_else(|| self.value.as_object().map_or(0, serde_json::Map::len), Vec::len)
    }

    /// Whether something is set.
    pub fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// Whether both have the same value, to rules to which an empty list is none.
    pub fn is_like(&self, other: &At<'_>) -> bool {
        alike(self.value, other.value)
    }

    /// The text, empty where there is none.
    pub fn str(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    /// The number, 0 where there is none.
    pub fn int(&self) -> i64 {
        self.value.as_i64().unwrap_or_default()
    }

    /// Whether it is true.
    pub fn is_true(&self) -> bool {
        self.value.as_bool().unwrap_or_default()
    }
}

fn alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Null, Value::Array(items)) | (Value::Array(items), Value::Null) => items.is_empty(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| alike(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let mut names = one.keys().chain(other.keys());
            names.all(|name| alike(one.get(name).unwrap_or(&NULL), other.get(name).unwrap_or(&NULL)))
        }
        _ => one == other,
    }
}

/// What is wrong, in the order in which it was found.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<Cause>);

impl Faults {
    /// What was found.
    pub fn into_causes(self) -> Vec<Cause> {
        self.0
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many were found.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Something that has to be there is not.
    pub fn required(&mut self, at: &At<'_>, detail: &str) {
        self.note("FieldValueRequired", at, join("Required value".to_owned(), detail));
    }

    /// A value that may not be.
    pub fn invalid(&mut self, at: &At<'_>, detail: &str) {
        self.invalid_as(at, &shown(at.value), detail);
    }

    /// Like [`Faults::invalid`], where the server shows something else than the value that is there.
    pub fn invalid_as(&mut self, at: &At<'_>, shown: &str, detail: &str) {
        self.note("FieldValueInvalid", at, join(format!("Invalid value: {shown}"), detail));
    }

    /// Like [`Faults::invalid`], where the server shows no value.
    pub fn wrong(&mut self, at: &At<'_>, detail: &str) {
        self.note("FieldValueInvalid", at, join("Invalid value".to_owned(), detail));
    }

    /// Like [`Faults::not_supported`], where the server shows something else than the value that is there.
    pub fn not_supported_as(&mut self, at: &At<'_>, shown: &str, known: &[&str]) {
        let known: Vec<String> = known.iter().map(|value| quoted(value)).collect();
        let detail = format!("supported values: {}", known.join(", "));
        self.note(
            "FieldValueNotSupported",
            at,
            join(format!("Unsupported value: {shown}"), &detail),
        );
    }

    /// A value that is none of those that are known, which are given in the order of the server.
    pub fn not_supported(&mut self, at: &At<'_>, known: &[&str]) {
        let shown = if at.value.is_null() {
            "\"\"".to_owned()
        } else {
            shown(at.value)
        };
        self.not_supported_as(at, &shown, known);
    }

    /// A value that is there twice.
    pub fn duplicate(&mut self, at: &At<'_>) {
        self.note(
            "FieldValueDuplicate",
            at,
            format!("Duplicate value: {}", shown(at.value)),
        );
    }

    /// Like [`Faults::duplicate`], where the server shows something else than the value that is there.
    pub fn duplicate_as(&mut self, at: &At<'_>, shown: &str) {
        self.note("FieldValueDuplicate", at, format!("Duplicate value: {shown}"));
    }

    /// A value that refers to nothing.
    pub fn not_found(&mut self, at: &At<'_>) {
        self.note("FieldValueNotFound", at, format!("Not found: {}", shown(at.value)));
    }

    /// A value that is not allowed here.
    pub fn forbidden(&mut self, at: &At<'_>, detail: &str) {
        self.note("FieldValueForbidden", at, join("Forbidden".to_owned(), detail));
    }

    /// A text of more than `most` bytes.
    pub fn too_long(&mut self, at: &At<'_>, most: usize) {
        self.note(
            "FieldValueTooLong",
            at,
            format!("Too long: may not be more than {most} bytes"),
        );
    }

    /// A list of more than `most` items.
    pub fn too_many(&mut self, at: &At<'_>, most: usize) {
        let message = format!("Too many: {}: must have at most {most} items", at.len());
        self.note("FieldValueTooMany", at, message);
    }

    fn note(&mut self, reason: &'static str, at: &At<'_>, message: String) {
        let field = if at.path.is_empty() {
            "<nil>".to_owned()
        } else {
            at.path.clone()
        };
        self.0.push(Cause { reason, field, message });
    }
}

fn join(head: String, detail: &str) -> String {
    if detail.is_empty() {
        head
    } else {
        format!("{head}: {detail}")
    }
}

/// A value as the server shows it in an error: JSON.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

/// A text as Go's `%q` shows it.
pub(super) fn quoted(text: &str) -> String {
    kubewright_schema::go::quote(text)
}
