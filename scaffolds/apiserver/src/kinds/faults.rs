//! What is wrong with an object, in the order in which it was found, with the sentences of the server.

use kubewright_schema::Cause;
use serde_json::Value;

use crate::kinds::{
    format::{Format, port_name, port_number},
    located::Located,
};

/// What is wrong, in the order in which it was found.
#[derive(Debug, Default)]
pub(in crate::kinds) struct Faults(Vec<Cause>);

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
    pub fn required(&mut self, at: &Located<'_>, detail: &str) {
        self.note("FieldValueRequired", at, join("Required value".to_owned(), detail));
    }

    /// A value that may not be.
    pub fn invalid(&mut self, at: &Located<'_>, detail: &str) {
        self.invalid_as(at, &shown(at.value), detail);
    }

    /// Like [`Faults::invalid`], where the server shows something else than the value that is there.
    pub fn invalid_as(&mut self, at: &Located<'_>, shown: &str, detail: &str) {
        self.note("FieldValueInvalid", at, join(format!("Invalid value: {shown}"), detail));
    }

    /// Like [`Faults::invalid`], where the server shows no value.
    pub fn wrong(&mut self, at: &Located<'_>, detail: &str) {
        self.note("FieldValueInvalid", at, join("Invalid value".to_owned(), detail));
    }

    /// Like [`Faults::not_supported`], where the server shows something else than the value that is there.
    pub fn not_supported_as(&mut self, at: &Located<'_>, shown: &str, known: &[&str]) {
        let known: Vec<String> = known.iter().map(|value| quoted(value)).collect();
        let detail = format!("supported values: {}", known.join(", "));
        self.note(
            "FieldValueNotSupported",
            at,
            join(format!("Unsupported value: {shown}"), &detail),
        );
    }

    /// A value that is none of those that are known, which are given in the order of the server.
    pub fn not_supported(&mut self, at: &Located<'_>, known: &[&str]) {
        let shown = if at.value.is_null() {
            "\"\"".to_owned()
        } else {
            shown(at.value)
        };
        self.not_supported_as(at, &shown, known);
    }

    /// A value that is there twice.
    pub fn duplicate(&mut self, at: &Located<'_>) {
        self.note(
            "FieldValueDuplicate",
            at,
            format!("Duplicate value: {}", shown(at.value)),
        );
    }

    /// Like [`Faults::duplicate`], where the server shows something else than the value that is there.
    pub fn duplicate_as(&mut self, at: &Located<'_>, shown: &str) {
        self.note("FieldValueDuplicate", at, format!("Duplicate value: {shown}"));
    }

    /// A value that refers to nothing.
    pub fn not_found(&mut self, at: &Located<'_>) {
        self.note("FieldValueNotFound", at, format!("Not found: {}", shown(at.value)));
    }

    /// A value that is not allowed here.
    pub fn forbidden(&mut self, at: &Located<'_>, detail: &str) {
        self.note("FieldValueForbidden", at, join("Forbidden".to_owned(), detail));
    }

    /// A text of more than `most` bytes.
    pub fn too_long(&mut self, at: &Located<'_>, most: usize) {
        self.note(
            "FieldValueTooLong",
            at,
            format!("Too long: may not be more than {most} bytes"),
        );
    }

    /// A list of more than `most` items.
    pub fn too_many(&mut self, at: &Located<'_>, most: usize) {
        let message = format!("Too many: {}: must have at most {most} items", at.len());
        self.note("FieldValueTooMany", at, message);
    }

    fn note(&mut self, reason: &'static str, at: &Located<'_>, message: String) {
        let field = if at.path.is_empty() {
            "<nil>".to_owned()
        } else {
            at.path.clone()
        };
        self.0.push(Cause { reason, field, message });
    }
}

impl Faults {
    /// Checks the text at `at`.
    pub fn format(&mut self, at: &Located<'_>, format: Format) {
        for sentence in format(at.str()) {
            self.invalid_as(at, &quoted(at.str()), &sentence);
        }
    }

    /// Checks the text at `at`, which must be there.
    pub fn required_format(&mut self, at: &Located<'_>, format: Format) {
        if at.str().is_empty() {
            self.required(at, "");
        } else {
            self.format(at, format);
        }
    }

    /// A text that must be one of `known`, in the server's order.
    pub fn one_of(&mut self, at: &Located<'_>, known: &[&str]) {
        if !known.contains(&at.str()) {
            self.not_supported(at, known);
        }
    }

    /// A number that may not be negative; nothing counts as 0.
    pub fn not_negative(&mut self, at: &Located<'_>) {
        if at.int() < 0 {
            self.invalid(at, "must be greater than or equal to 0");
        }
    }

    /// A port's number.
    pub fn port(&mut self, at: &Located<'_>) {
        if let Some(sentence) = port_number(at.int()) {
            self.invalid(at, sentence);
        }
    }

    /// A port's number or name.
    pub fn port_or_name(&mut self, at: &Located<'_>) {
        match at.value.is_string() {
            true => self.format(at, port_name),
            false => self.port(at),
        }
    }

    /// A field that may not change.
    pub fn immutable(&mut self, new: &Located<'_>, old: &Located<'_>) {
        if !new.is_like(old) {
            self.invalid(new, "field is immutable");
        }
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
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

/// A text as Go's `%q` shows it.
pub(in crate::kinds) fn quoted(text: &str) -> String {
    kubewright_schema::go::quote(text)
}
