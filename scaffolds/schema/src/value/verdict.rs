//! What a schema says of a value: objections, and how many checks were made, by which the best of several alternatives is
//! chosen.

use super::place::Place;
use crate::cause::{Cause, Path};
use serde_json::Value;

/// The outcome of checking a value, or a part of it.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub objections: Vec<Objection>,
    /// The server counts its validators rather than the keywords, and so must we: it shows through `anyOf` and `oneOf`.
    pub checks: u64,
}

#[derive(Debug)]
pub(super) struct Objection {
    /// What is said only once of a value.
    text: String,
    pub cause: Cause,
}

impl Verdict {
    pub fn is_valid(&self) -> bool {
        self.objections.is_empty()
    }

    /// Adds what `other` found and did.
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

/// Where objections are made: the part of the object that is checked, and the value's place in it.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    /// The path of the part: that of `status`, or of a default in a schema.
    pub part: &'a Path,
    pub place: Place<'a>,
}

impl At<'_> {
    /// As the server words most objections: `spec.size in body …`.
    pub fn says(&self, what: &str) -> String {
        format!("{} in body {what}", self.place)
    }

    pub fn path(&self) -> Path {
        let name = self.place.to_string();
        match name.strip_prefix('.').unwrap_or(&name) {
            "" => self.part.clone(),
            name => self.part.child(name),
        }
    }

    /// The value breaks a rule: `text` says which.
    pub fn invalid(&self, value: Value, text: String) -> Objection {
        let cause = self.path().invalid(value, &text);
        Objection { text, cause }
    }

    /// The value is of another type or format. `found` is what the server shows in its place.
    pub fn type_invalid(&self, wanted: &str, found: &str) -> Objection {
        let text = self.says(&format!("must be of type {wanted}: {}", crate::go::quote(found)));
        let cause = self.path().type_invalid(found, &text);
        Objection { text, cause }
    }

    /// An objection that the server makes without a path.
    pub fn general(&self, text: String) -> Objection {
        let cause = self.part.invalid("", &text);
        Objection { text, cause }
    }

    /// An objection with a form of its own.
    pub fn other(&self, what: &str, cause: impl FnOnce(&Path) -> Cause) -> Objection {
        Objection {
            text: self.says(what),
            cause: cause(&self.path()),
        }
    }
}
