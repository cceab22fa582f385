//! The values that mutations of policies build: `Object{…}`, and operations of JSON patches.

use super::{Fault, Outcome, Val};
use crate::types::JSON_PATCH;
use std::collections::BTreeMap;

/// The fields of an operation that are texts.
pub(in crate::language) const TEXTS: [&str; 3] = ["op", "path", "from"];

/// An object, or an operation of a JSON patch.
#[derive(Clone, Debug)]
pub(in crate::language) struct Built<'a> {
    /// The name of its type: `Object`, `Object.spec`, `JSONPatch`.
    pub(in crate::language) name: &'a str,
    pub(in crate::language) fields: BTreeMap<&'a str, Val<'a>>,
}

impl<'a> Built<'a> {
    /// # Errors
    /// If an operation of a JSON patch has an invalid field. The compiler finds invalid fields only in values of known types.
    pub(in crate::language) fn new(name: &'a str, fields: BTreeMap<&'a str, Val<'a>>) -> Outcome<Self> {
        for (field, value) in fields.iter().filter(|_| name == JSON_PATCH) {
            match (*field, value) {
                ("value", _) => {}
                (field, Val::String(_)) if TEXTS.contains(&field) => {}
                (field, value) if TEXTS.contains(&field) => {
                    let found = value.go_type();
                    return Err(Fault::new(format!(
                        "unexpected type {found} for JSONPatchType '{field}' field"
                    )));
                }
                (field, _) => return Err(Fault::new(format!("unexpected JSONPatchType field: {field}"))),
            }
        }
        Ok(Self { name, fields })
    }

    /// A text of an operation; empty if it is not given.
    pub(in crate::language) fn text(&self, field: &str) -> &str {
        match self.fields.get(field) {
            Some(Val::String(text)) => text,
            _ => "",
        }
    }

    /// `built.field`, which is null or empty if it is not set; with `test`, whether it is set.
    pub(in crate::language) fn select(&self, field: &str, test: bool) -> Outcome<Val<'a>> {
        let is_text = self.name == JSON_PATCH && TEXTS.contains(&field);
        let value = self.fields.get(field);
        Ok(match value {
            _ if test && is_text => Val::Bool(!self.text(field).is_empty()),
            value if test => Val::Bool(value.is_some()),
            Some(value) => value.clone(),
            None if is_text => Val::text(""),
            None => Val::Null,
        })
    }

    /// Whether types and fields are the same.
    pub(super) fn equals(&self, other: &Self) -> Outcome<bool> {
        if self.name != other.name || !self.fields.keys().eq(other.fields.keys()) {
            return Ok(false);
        }
        for (one, other) in self.fields.values().zip(other.fields.values()) {
            if one.type_name() != other.type_name() || !one.equal(other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
