//! Causes of a Status, in the form and words of the API server: a reason, a field, and a message.

use crate::go;
use serde_json::Value;
use std::fmt;

/// One reason why an API server refuses an object: an entry in `details.causes` of the Status in its response.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Cause {
    /// The type of the error, as `k8s.io/apimachinery/pkg/util/validation/field` names it: `FieldValueRequired`,
    /// `FieldValueInvalid`, `FieldValueTypeInvalid`, `FieldValueForbidden`, `FieldValueNotSupported`, …
    pub reason: &'static str,
    /// The path as the server writes it. In a CustomResourceDefinition, the path of a field that is equal in all versions
    /// begins at the top: `spec.validation.openAPIV3Schema.properties[spec]`, not `spec.versions[0].schema…`.
    pub field: String,
    /// The message; starts with the reason in words.
    pub message: String,
}

/// The causes and warnings for a changed object.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Objections {
    /// The reasons for the refusal.
    pub causes: Vec<Cause>,
    /// The texts of `Warning` headers: failed rules on values that the change did not touch.
    pub warnings: Vec<String>,
}

impl From<Vec<Cause>> for Objections {
    fn from(causes: Vec<Cause>) -> Self {
        let warnings = Vec::new();
        Self { causes, warnings }
    }
}

/// As the message of a Status lists it.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// A path into an object, as the server writes it: `spec.list[0].name`. There is a method for each kind of cause.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Path(String);

impl Path {
    /// The path to a field of the object.
    pub fn new(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// The path to the object as a whole, which the server shows as `<nil>`.
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// A field of the value at this path. The name is not parsed: it may be a path itself.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        if self.0.is_empty() {
            Self::new(name)
        } else {
            Self(format!("{}.{name}", self.0))
        }
    }

    /// An item of the list at this path.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    /// An entry of the map at this path.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        Self(format!("{}[{key}]", self.0))
    }

    /// `properties[name]` of a schema.
    pub fn property(&self, name: &str) -> Self {
        self.child("properties").key(name)
    }

    /// A required value is missing.
    pub fn required(&self, detail: &str) -> Cause {
        self.cause("FieldValueRequired", "Required value".to_owned(), detail)
    }

    /// A value is not allowed here.
    pub fn forbidden(&self, detail: &str) -> Cause {
        self.cause("FieldValueForbidden", "Forbidden".to_owned(), detail)
    }

    /// The value is invalid.
    pub fn invalid(&self, value: impl Into<Value>, detail: &str) -> Cause {
        self.shown("FieldValueInvalid", "Invalid value", &value.into(), detail)
    }

    /// [`invalid`](Self::invalid), with the value as the server shows it.
    pub fn invalid_shown(&self, value: &str, detail: &str) -> Cause {
        self.cause("FieldValueInvalid", format!("Invalid value: {value}"), detail)
    }

    /// The value has the wrong JSON type.
    pub fn type_invalid(&self, value: impl Into<Value>, detail: &str) -> Cause {
        self.shown("FieldValueTypeInvalid", "Invalid value", &value.into(), detail)
    }

    /// The value is a duplicate.
    pub fn duplicate(&self, value: impl Into<Value>) -> Cause {
        self.shown("FieldValueDuplicate", "Duplicate value", &value.into(), "")
    }

    /// The value refers to something that does not exist.
    pub fn not_found(&self, value: impl Into<Value>) -> Cause {
        self.shown("FieldValueNotFound", "Not found", &value.into(), "")
    }

    /// The value is not one of the `supported` values.
    pub fn unsupported<S: AsRef<str>>(&self, value: impl Into<Value>, supported: &[S]) -> Cause {
        let list: Vec<String> = supported.iter().map(|it| go::quote(it.as_ref())).collect();
        let detail = if list.is_empty() {
            String::new()
        } else {
            format!("supported values: {}", list.join(", "))
        };
        self.shown("FieldValueNotSupported", "Unsupported value", &value.into(), &detail)
    }

    /// The list or map has more entries than allowed. The message contains the limit, if it is known.
    pub fn too_many(&self, count: usize, most: impl Into<Option<usize>>) -> Cause {
        let detail = match most.into() {
            Some(1) => "must have at most 1 item".to_owned(),
            Some(most) => format!("must have at most {most} items"),
            None => "has too many items".to_owned(),
        };
        self.cause("FieldValueTooMany", format!("Too many: {count}"), &detail)
    }

    /// The text is longer than allowed. The message speaks of bytes, even if the server counts characters.
    pub fn too_long(&self, most: impl Into<Option<usize>>) -> Cause {
        let detail = match most.into() {
            Some(1) => "may not be more than 1 byte".to_owned(),
            Some(most) => format!("may not be more than {most} bytes"),
            None => "value is too long".to_owned(),
        };
        self.cause("FieldValueTooLong", "Too long".to_owned(), &detail)
    }

    fn shown(&self, reason: &'static str, what: &str, value: &Value, detail: &str) -> Cause {
        self.cause(reason, format!("{what}: {}", go::show(value)), detail)
    }

    fn cause(&self, reason: &'static str, what: String, detail: &str) -> Cause {
        let message = if detail.is_empty() {
            what
        } else {
            format!("{what}: {detail}")
        };
        Cause {
            reason,
            field: self.to_string(),
            message,
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "<nil>" } else { &self.0 })
    }
}
