//! The result of validating a value: objections, and the number of checks, by which the best of several alternatives is
//! chosen.

use super::place::ValuePath;
use kubewright_machinery::cause::{Cause, Path};
use serde_json::Value;

/// The result of validating a value, or a part of it.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub objections: Vec<Objection>,
    /// The number of checks. As on the server, these are validators, not keywords, because their number decides which branch of `anyOf` and
    /// `oneOf` is reported.
    pub checks: u64,
}

#[derive(Debug)]
pub(super) struct Objection {
    /// The text by which duplicates for one value are found.
    text: String,
    pub cause: Cause,
}

impl Verdict {
    pub fn is_valid(&self) -> bool {
        self.objections.is_empty()
    }

    /// Adds the objections and checks of `other`.
    pub fn merge(&mut self, other: Self) {
        self.checks += other.checks;
        for objection in other.objections {
            self.add(objection);
        }
    }

    pub fn add(&mut self, objection: Objection) {
        if !self.objections.iter().any(|it| it.text == objection.text) {
            self.objections.push(objection);
        }
    }
}

impl From<Objection> for Verdict {
    fn from(objection: Objection) -> Self {
        Self {
            objections: vec![objection],
            checks: 0,
        }
    }
}

/// The location of objections: the part of the object that is validated, and the value's place in it.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    /// The path of the part: for example `status`, or a default in a schema.
    pub part: &'a Path,
    pub place: ValuePath<'a>,
}

impl At<'_> {
    /// The message that the server has for most objections: `spec.size in body …`.
    pub fn in_body(&self, what: &str) -> String {
        format!("{} in body {what}", self.place)
    }

    pub fn path(&self) -> Path {
        let name = self.place.to_string();
        match name.strip_prefix('.').unwrap_or(&name) {
            "" => self.part.clone(),
            name => self.part.child(name),
        }
    }

    /// The value violates a constraint; `text` names it.
    pub fn invalid(&self, value: Value, text: String) -> Objection {
        let cause = self.path().invalid(value, &text);
        Objection { text, cause }
    }

    /// The value has another type or format. `found` is what the server prints instead of the value.
    pub fn type_invalid(&self, wanted: &str, found: &str) -> Objection {
        let text = self.in_body(&format!(
            "must be of type {wanted}: {}",
            kubewright_machinery::go::quote(found)
        ));
        let cause = self.path().type_invalid(found, &text);
        Objection { text, cause }
    }

    /// An objection that the server makes without a path.
    pub fn general(&self, text: String) -> Objection {
        let cause = self.part.invalid("", &text);
        Objection { text, cause }
    }

    /// An objection of any other form.
    pub fn other(&self, what: &str, cause: impl FnOnce(&Path) -> Cause) -> Objection {
        Objection {
            text: self.in_body(what),
            cause: cause(&self.path()),
        }
    }
}
