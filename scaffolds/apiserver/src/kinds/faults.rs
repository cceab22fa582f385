//! The validation errors of an object, in the order in which they were found, with the server's messages.

use std::collections::BTreeSet;

use kubewright_machinery::{
    Cause,
    cause::Path,
    names::{self, Unit},
};
use serde_json::{Map, Value};

use crate::kinds::{
    format::{Format, port_name, port_number},
    located::Located,
};

/// Validation errors, in the order in which they were found.
#[derive(Debug, Default)]
pub(in crate::kinds) struct Faults {
    found: Vec<Cause>,
    /// The errors by rules that upstream's types declare, which follow all others.
    declared: Vec<Cause>,
}

impl Faults {
    /// The errors, each once.
    pub fn into_causes(mut self) -> Vec<Cause> {
        self.found.append(&mut self.declared);
        let mut seen = BTreeSet::new();
        self.found.retain(|cause| seen.insert(cause.clone()));
        self.found
    }

    /// Whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of errors.
    pub fn len(&self) -> usize {
        self.found.len() + self.declared.len()
    }

    /// Checks a rule that upstream's type declares.
    pub fn declared(&mut self, check: impl FnOnce(&mut Self)) {
        let before = self.found.len();
        check(self);
        self.declared.extend(self.found.split_off(before));
    }

    /// A required value is missing.
    pub fn required(&mut self, at: &Located<'_>, detail: &str) {
        self.note("FieldValueRequired", at, join("Required value".to_owned(), detail));
    }

    /// A value is invalid.
    pub fn invalid(&mut self, at: &Located<'_>, detail: &str) {
        self.invalid_as(at, &shown(at.value), detail);
    }

    /// Like [`Faults::invalid`], if the server quotes another value than the one in the object.
    pub fn invalid_as(&mut self, at: &Located<'_>, shown: &str, detail: &str) {
        self.note("FieldValueInvalid", at, join(format!("Invalid value: {shown}"), detail));
    }

    /// Like [`Faults::invalid`], if the server quotes no value.
    pub fn wrong(&mut self, at: &Located<'_>, detail: &str) {
        self.note("FieldValueInvalid", at, join("Invalid value".to_owned(), detail));
    }

    /// Like [`Faults::not_supported`], if the server quotes another value than the one in the object.
    pub fn not_supported_as(&mut self, at: &Located<'_>, shown: &str, known: &[&str]) {
        let known: Vec<String> = known.iter().map(|value| quoted(value)).collect();
        let detail = format!("supported values: {}", known.join(", "));
        self.note(
            "FieldValueNotSupported",
            at,
            join(format!("Unsupported value: {shown}"), &detail),
        );
    }

    /// A value is not one of the supported ones, which are given in the server's order.
    pub fn not_supported(&mut self, at: &Located<'_>, known: &[&str]) {
        let shown = if at.value.is_null() {
            "\"\"".to_owned()
        } else {
            shown(at.value)
        };
        self.not_supported_as(at, &shown, known);
    }

    /// A value is a duplicate.
    pub fn duplicate(&mut self, at: &Located<'_>) {
        self.note(
            "FieldValueDuplicate",
            at,
            format!("Duplicate value: {}", shown(at.value)),
        );
    }

    /// Like [`Faults::duplicate`], if the server quotes another value than the one in the object.
    pub fn duplicate_as(&mut self, at: &Located<'_>, shown: &str) {
        self.note("FieldValueDuplicate", at, format!("Duplicate value: {shown}"));
    }

    /// A value refers to something that does not exist.
    pub fn not_found(&mut self, at: &Located<'_>) {
        self.note("FieldValueNotFound", at, format!("Not found: {}", shown(at.value)));
    }

    /// Like [`Faults::not_found`] about a name, with a detail.
    pub fn not_found_as(&mut self, at: &Located<'_>, name: &str, detail: &str) {
        self.note(
            "FieldValueNotFound",
            at,
            join(format!("Not found: {}", quoted(name)), detail),
        );
    }

    /// A value is forbidden here.
    pub fn forbidden(&mut self, at: &Located<'_>, detail: &str) {
        self.note("FieldValueForbidden", at, join("Forbidden".to_owned(), detail));
    }

    /// The server fails to check a value.
    pub fn internal(&mut self, at: &Located<'_>, why: &str) {
        self.note("InternalError", at, format!("Internal error: {why}"));
    }

    /// A text has more than `most` bytes.
    pub fn too_long(&mut self, at: &Located<'_>, most: usize) {
        self.note(
            "FieldValueTooLong",
            at,
            format!("Too long: may not be more than {most} bytes"),
        );
    }

    /// A list has more than `most` items.
    pub fn too_many(&mut self, at: &Located<'_>, most: usize) {
        let message = format!("Too many: {}: must have at most {most} items", at.len());
        self.note("FieldValueTooMany", at, message);
    }

    /// The faults that `rule` finds in the map at `at`.
    pub fn extend_of_map(&mut self, at: &Located<'_>, rule: fn(&Map<String, Value>, &Path) -> Vec<Cause>) {
        if let Value::Object(map) = at.value {
            self.found.extend(rule(map, &Path::new(&at.path)));
        }
    }

    fn note(&mut self, reason: &'static str, at: &Located<'_>, message: String) {
        let field = if at.path.is_empty() {
            "<nil>".to_owned()
        } else {
            at.path.clone()
        };
        self.found.push(Cause { reason, field, message });
    }
}

impl Faults {
    /// Checks the format of the text at `at`.
    pub fn format(&mut self, at: &Located<'_>, format: Format) {
        for sentence in format(at.str()) {
            self.invalid_as(at, &quoted(at.str()), &sentence);
        }
    }

    /// Checks the format of the text at `at`, which is required.
    pub fn required_format(&mut self, at: &Located<'_>, format: Format) {
        if at.str().is_empty() {
            self.required(at, "");
        } else {
            self.format(at, format);
        }
    }

    /// Checks that a text is one of `known`, which are in the server's order.
    pub fn one_of(&mut self, at: &Located<'_>, known: &[&str]) {
        if !known.contains(&at.str()) {
            self.not_supported(at, known);
        }
    }

    /// Checks the name of a controller: a domain and a path.
    pub fn domain_prefixed_path(&mut self, at: &Located<'_>) {
        const PATH: &str = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
        if at.str().is_empty() {
            return self.required(at, "");
        }
        let parts = at.str().split_once('/');
        let Some((host, path)) = parts.filter(|(host, path)| !host.is_empty() && !path.is_empty()) else {
            return self.invalid(at, "must be a domain-prefixed path (such as \"acme.io/foo\")");
        };
        for sentence in names::subdomain(host, Unit::Characters) {
            self.invalid_as(at, &quoted(host), &sentence);
        }
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&byte);
        if !path.bytes().all(fits) {
            self.invalid_as(at, &quoted(path), PATH);
        }
    }

    /// Checks that a number is not negative; an absent one counts as 0.
    pub fn not_negative(&mut self, at: &Located<'_>) {
        if at.int() < 0 {
            self.invalid(at, "must be greater than or equal to 0");
        }
    }

    /// Checks a port number.
    pub fn port(&mut self, at: &Located<'_>) {
        if let Some(sentence) = port_number(at.int()) {
            self.invalid(at, sentence);
        }
    }

    /// Checks a port number or name.
    pub fn port_or_name(&mut self, at: &Located<'_>) {
        match at.value.is_string() {
            true => self.format(at, port_name),
            false => self.port(at),
        }
    }

    /// Checks that a field has not changed.
    pub fn immutable(&mut self, new: &Located<'_>, old: &Located<'_>) {
        if !new.is_like(old) {
            self.invalid(new, "field is immutable");
        }
    }

    /// Like [`Faults::immutable`], for a text that Go does not point to: an absent one is shown as empty.
    pub fn immutable_text(&mut self, new: &Located<'_>, old: &Located<'_>) {
        if new.str() != old.str() {
            self.invalid_as(new, &quoted(new.str()), "field is immutable");
        }
    }

    /// Like [`Faults::immutable`], by a rule that upstream's type declares: the server shows no value.
    pub fn declared_immutable(&mut self, new: &Located<'_>, old: &Located<'_>) {
        if !new.is_like(old) {
            self.declared(|faults| faults.invalid_as(new, "null", "field is immutable"));
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

/// A value in the notation of the server's errors: JSON.
pub(in crate::kinds) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

/// A string in the notation of Go's `%q`.
pub(in crate::kinds) fn quoted(text: &str) -> String {
    kubewright_machinery::go::quote(text)
}
