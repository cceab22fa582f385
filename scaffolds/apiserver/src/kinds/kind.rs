//! What is peculiar to a built-in kind. Its file exports one of these; what it does not mention is as in most kinds.

use serde_json::Value;

use super::{edit::Fields, faults::Faults, located::Located, row::Row};
use crate::strategy::Rules;

/// The sentences of warnings about one object, in order.
pub(super) type Warnings = Vec<String>;

/// The default of a struct, by the short name of its definition: `core.v1.PodSpec`.
pub(super) type StructDefault = (&'static str, fn(&mut Fields));

/// An object that is written, and what it was before an update.
#[derive(Clone, Copy)]
pub(super) struct Change<'c, 'v> {
    pub new: &'c Located<'v>,
    pub old: Option<&'c Located<'v>>,
}

/// A built-in kind.
pub(super) struct Kind {
    /// What the registry does for this kind.
    pub rules: Rules,
    /// Whether a new object begins with an empty status, where that is a subresource.
    pub clears_status: bool,
    /// The fields whose empty lists and maps mean something else than none, those inside of them included.
    pub distinguishes_empty: &'static [&'static str],
    /// Right after decoding, before anybody asks who owns which field.
    pub decoded: fn(&mut Value),
    /// The defaults of the kind's structs, the kind itself among them.
    pub defaults: &'static [StructDefault],
    /// Before a create, after `status` was cleared where it is a subresource.
    pub prepare_create: fn(&mut Value),
    /// Before an update of the object, after `status` was taken over.
    pub prepare_update: fn(&mut Value, &Value),
    /// Before an update of the status, after all but metadata and status was taken over.
    pub prepare_status: fn(&mut Value, &Value),
    /// Checks a new object, but for its metadata.
    pub validate: fn(&Located<'_>, &mut Faults),
    /// Checks an update: new and old.
    pub validate_update: fn(&Located<'_>, &Located<'_>, &mut Faults),
    /// Checks an update of the status: new and old.
    pub validate_status: fn(&Located<'_>, &Located<'_>, &mut Faults),
    /// For kinds that the server cleans up behind: marks an object when its deletion begins, given the time.
    pub begin_deletion: Option<fn(&mut Value, &str)>,
    /// Warns of an object that is accepted.
    pub warnings: fn(Change<'_, '_>) -> Warnings,
    /// Warns of a status that is accepted.
    pub status_warnings: fn(&Located<'_>) -> Warnings,
    /// From the form that is stored, where that is another kind's.
    pub from_stored: fn(&mut Value),
    /// To the form that is stored.
    pub to_stored: fn(&mut Value),
    /// What field selectors may select by, besides name and namespace.
    pub selectable: &'static [Selectable],
    /// One value for each recorded column.
    pub cells: fn(&Row<'_>) -> Vec<Value>,
}

impl Default for Kind {
    fn default() -> Self {
        Self {
            rules: Rules::default(),
            clears_status: true,
            distinguishes_empty: &[],
            decoded: |_| {},
            defaults: &[],
            prepare_create: |_| {},
            prepare_update: |_, _| {},
            prepare_status: |_, _| {},
            validate: |_, _| {},
            validate_update: |_, _, _| {},
            validate_status: |_, _, _| {},
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

/// A field that selectors may select by.
pub(super) struct Selectable {
    name: &'static str,
    pointer: &'static str,
    otherwise: Otherwise,
}

/// The value of a field that is not there.
enum Otherwise {
    Text(&'static str),
    Pointer(&'static str),
}

impl Selectable {
    /// The field `name` of selectors is where `pointer` leads in the object; empty where there is nothing.
    pub const fn new(name: &'static str, pointer: &'static str) -> Self {
        let otherwise = Otherwise::Text("");
        Self {
            name,
            pointer,
            otherwise,
        }
    }

    /// Where there is nothing the value is `text`.
    pub const fn or(self, text: &'static str) -> Self {
        let otherwise = Otherwise::Text(text);
        Self { otherwise, ..self }
    }

    /// Where there is nothing the value is that of another field.
    pub const fn or_at(self, pointer: &'static str) -> Self {
        let otherwise = Otherwise::Pointer(pointer);
        Self { otherwise, ..self }
    }

    /// Whether selectors call it so.
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
