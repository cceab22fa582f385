//! One objection, in the form and words of the API server: a reason, a field, and a message.

use serde_json::Value;
use std::fmt;

/// Why the API server would refuse a CustomResourceDefinition; the counterpart of an entry in `details.causes` of the
/// Status that it answers with.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Cause {
    /// `FieldValueRequired`, `FieldValueInvalid`, `FieldValueForbidden`, `FieldValueNotSupported`,
    /// `FieldValueDuplicate`, `FieldValueTooMany` or `FieldValueTooLong`.
    pub reason: &'static str,
    /// The path as the server writes it. Fields that all versions have alike stand at the top there:
    /// `spec.validation.openAPIV3Schema.properties[spec]`, not `spec.versions[0].schema…`.
    pub field: String,
    /// What the server says; starts with the reason in words.
    pub message: String,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// A path in a CustomResourceDefinition, as the server writes it.
#[derive(Clone, Debug)]
pub(super) struct Path(String);

impl Path {
    pub(super) fn new(name: &str) -> Self {
        Self(name.to_owned())
    }

    pub(super) fn child(&self, name: &str) -> Self {
        Self(format!("{}.{name}", self.0))
    }

    pub(super) fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    pub(super) fn key(&self, key: &str) -> Self {
        Self(format!("{}[{key}]", self.0))
    }

    /// `properties[name]` of a schema.
    pub(super) fn property(&self, name: &str) -> Self {
        self.child("properties").key(name)
    }

    pub(super) fn required(&self, detail: &str) -> Cause {
        self.cause("FieldValueRequired", "Required value".to_owned(), detail)
    }

    pub(super) fn forbidden(&self, detail: &str) -> Cause {
        self.cause("FieldValueForbidden", "Forbidden".to_owned(), detail)
    }

    pub(super) fn invalid(&self, value: impl Into<Value>, detail: &str) -> Cause {
        self.cause(
            "FieldValueInvalid",
            format!("Invalid value: {}", show(&value.into())),
            detail,
        )
    }

    pub(super) fn duplicate(&self, value: &str) -> Cause {
        self.cause(
            "FieldValueDuplicate",
            format!("Duplicate value: {}", show(&value.into())),
            "",
        )
    }

    pub(super) fn too_many(&self, count: usize, most: usize) -> Cause {
        let detail = format!("must have at most {most} items");
        self.cause("FieldValueTooMany", format!("Too many: {count}"), &detail)
    }

    pub(super) fn too_long(&self, most: usize) -> Cause {
        self.cause(
            "FieldValueTooLong",
            "Too long".to_owned(),
            &format!("may not be more than {most} bytes"),
        )
    }

    pub(super) fn unsupported(&self, value: &str, supported: &[&str]) -> Cause {
        let list = supported
            .iter()
            .map(|it| format!("\"{it}\""))
            .collect::<Vec<_>>()
            .join(", ");
        let what = format!("Unsupported value: {}", show(&value.into()));
        self.cause("FieldValueNotSupported", what, &format!("supported values: {list}"))
    }

    fn cause(&self, reason: &'static str, what: String, detail: &str) -> Cause {
        let message = if detail.is_empty() {
            what
        } else {
            format!("{what}: {detail}")
        };
        Cause {
            reason,
            field: self.0.clone(),
            message,
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A value as Go prints it in such a message.
fn show(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        other => other.to_string(),
    }
}

/// Go's `%q`, for the characters that occur in names and patterns.
pub(super) fn quote(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
