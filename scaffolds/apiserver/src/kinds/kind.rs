//! The rules of one built-in kind. The kind's file exports them; for fields that it omits, the defaults are those of
//! most kinds.

use serde_json::Value;

use super::{edit::Fields, faults::Faults, located::Located, row::Row};
use crate::strategy::Rules;

/// The warnings about one object, in order.
pub(super) type Warnings = Vec<String>;

/// The default function of a struct, with the short name of its definition: `core.v1.PodSpec`.
pub(super) type StructDefault = (&'static str, fn(&mut Fields));

/// A written object, and for an update the object before it.
#[derive(Clone, Copy)]
pub(super) struct Change<'c, 'v> {
    pub new: &'c Located<'v>,
    pub old: Option<&'c Located<'v>>,
}

/// A built-in kind.
pub(super) struct BuiltInKind {
    /// The rules for the registry.
    pub rules: Rules,
    /// Whether a new object begins with an empty status, if status is a subresource.
    pub clears_status: bool,
    /// The fields in which, and below which, empty lists and maps are distinguished from absent ones.
    pub distinguishes_empty: &'static [&'static str],
    /// The error for an object that Go can decode, but cannot convert to the internal type.
    pub unreadable: fn(&Value) -> Option<String>,
    /// Runs right after decoding, before managedFields are computed.
    pub decoded: fn(&mut Value),
    /// The default functions of the kind's structs, including the kind itself.
    pub defaults: &'static [StructDefault],
    /// The warnings about a new object before it is prepared. A client gets them even if the object is refused.
    pub early_warnings: fn(&Value) -> Warnings,
    /// Prepares a create, after `status` was cleared if it is a subresource.
    pub prepare_create: fn(&mut Value),
    /// Prepares an update of the object, after `status` was copied from the old object.
    pub prepare_update: fn(&mut Value, &Value),
    /// Prepares an update of the status, after all but metadata and status was copied from the old object.
    pub prepare_status: fn(&mut Value, &Value),
    /// Whether a write of the status removes the fields of disabled features, too.
    pub drops_disabled_from_status: bool,
    /// Validates a new object, except its metadata.
    pub validate: fn(&Located<'_>, &mut Faults),
    /// Validates an update, given the new and the old object.
    pub validate_update: fn(&Located<'_>, &Located<'_>, &mut Faults),
    /// Validates an update of the status, given the new and the old object.
    pub validate_status: fn(&Located<'_>, &Located<'_>, &mut Faults),
    /// Further subresources that write a part of the object.
    pub parts: &'static [Part],
    /// For kinds whose first deletion only marks an object: sets the marks, given the time.
    pub begin_deletion: Option<fn(&mut Value, &str)>,
    /// The warnings about an accepted object.
    pub warnings: fn(Change<'_, '_>) -> Warnings,
    /// The warnings about an accepted status.
    pub status_warnings: fn(&Located<'_>) -> Warnings,
    /// Converts from the stored form, if that is another kind's.
    pub from_stored: fn(&mut Value),
    /// Converts to the stored form.
    pub to_stored: fn(&mut Value),
    /// The selectable fields, besides name and namespace.
    pub selectable: &'static [Selectable],
    /// The cells, one for each recorded column.
    pub cells: fn(&Row<'_>) -> Vec<Value>,
}

impl Default for BuiltInKind {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            clears_status: true,
            distinguishes_empty: &[],
            unreadable: |_| None,
            decoded: |_| {},
            defaults: &[],
            early_warnings: |_| Warnings::new(),
            prepare_create: |_| {},
            prepare_update: |_, _| {},
            prepare_status: |_, _| {},
            drops_disabled_from_status: false,
            validate: |_, _| {},
            validate_update: |_, _, _| {},
            validate_status: |_, _, _| {},
            parts: &[],
            begin_deletion: None,
            warnings: |_| Warnings::new(),
            status_warnings: |_| Warnings::new(),
            from_stored: |_| {},
            to_stored: |_| {},
            selectable: &[],
            cells: |row| vec![row.name(), row.age()],
        }
    }
}

/// A subresource that writes a part of the object.
pub(super) struct Part {
    /// Its name in paths.
    pub name: &'static str,
    /// The fields that a write through it does not own. Those of Pods have none: upstream their filters are not used.
    pub reset: &'static [&'static str],
    /// Prepares a write: copies from the old object what the subresource does not write.
    pub prepare: fn(&mut Value, &Value),
    /// Validates a write, given the new and the old object.
    pub validate: fn(&Located<'_>, &Located<'_>, &mut Faults),
}

/// A selectable field.
pub(super) struct Selectable {
    name: &'static str,
    pointer: &'static str,
    otherwise: Otherwise,
}

/// The value of an absent field.
enum Otherwise {
    Text(&'static str),
    Pointer(&'static str),
}

impl Selectable {
    /// A field with the selector path `name` and the JSON pointer `pointer`; an absent value is empty.
    pub const fn new(name: &'static str, pointer: &'static str) -> Self {
        let otherwise = Otherwise::Text("");
        Self {
            name,
            pointer,
            otherwise,
        }
    }

    /// An absent value is `text`.
    pub const fn or(self, text: &'static str) -> Self {
        let otherwise = Otherwise::Text(text);
        Self { otherwise, ..self }
    }

    /// An absent value is that of another field.
    pub const fn or_at(self, pointer: &'static str) -> Self {
        let otherwise = Otherwise::Pointer(pointer);
        Self { otherwise, ..self }
    }

    /// Whether this is its selector path.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name
    }

    /// Its value in an object.
    pub fn value(&self, object: &Value) -> String {
        let found = |pointer: &str| match object.pointer(pointer) {
            Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
            Some(Value::Null | Value::String(_)) | None => None,
            Some(other) => Some(other.to_string()),
        };
        found(self.pointer).unwrap_or_else(|| match self.otherwise {
            Otherwise::Text(text) => text.to_owned(),
            Otherwise::Pointer(pointer) => found(pointer).unwrap_or_default(),
        })
    }
}
