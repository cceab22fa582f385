//! Outcomes of values of a schema, and the differences between ours and a server's.

use kubewright_machinery::go;
use kubewright_schema::value::Structural;
use recordings::Exchange;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

/// A schema, and values of it that are sent.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Case {
    pub name: String,
    /// The schema of the field of `spec` with the case's key, or of the whole object.
    pub schema: Value,
    pub place: Place,
    pub tries: Vec<Try>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub enum Place {
    Spec,
    Status,
    Whole,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Try {
    pub value: Value,
    /// The old value, for an update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
}

/// Reason, field and message of each cause.
pub type Causes = BTreeSet<(String, String, String)>;

/// The outcome for a value.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub enum Outcome {
    /// The value as it would be stored, and the paths of the unknown fields that were dropped.
    Stored(Value, BTreeSet<String>),
    /// Reason, field and message of each cause.
    Invalid(Causes),
    /// It could not be decoded.
    Unreadable(String),
    /// The server failed, so there is nothing to compare.
    Broken(String),
}

/// A case, and the name of its field of `spec`.
#[derive(Deserialize, PartialEq, Serialize)]
pub struct Keyed {
    pub key: String,
    pub case: Case,
}

/// The outcomes for a schema and its values.
#[derive(Deserialize)]
pub struct Outcomes {
    /// The causes that refuse the schema.
    pub definition: Causes,
    /// One for each value, if the schema was accepted.
    #[serde(default)]
    pub outcomes: Vec<Outcome>,
}

impl Case {
    /// The schema of the resource.
    pub fn whole(&self, key: &str) -> Value {
        match self.place {
            Place::Whole => self.schema.clone(),
            Place::Spec => {
                json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {key: self.schema}}}})
            }
            Place::Status => json!({"type": "object", "properties": {"status": self.schema}}),
        }
    }

    /// An object with `value` at the case's place.
    fn object(&self, key: &str, value: &Value) -> Value {
        let mut object = json!({"apiVersion": "values.example.com/v2", "kind": "Foo", "metadata": {"name": "foo"}});
        match self.place {
            Place::Spec => object["spec"] = json!({key: value}),
            Place::Status => object["status"] = value.clone(),
            Place::Whole => {
                for (name, value) in value.as_object().into_iter().flatten() {
                    object[name] = value.clone();
                }
            }
        }
        object
    }
}

/// The part of an object that is compared.
fn content(mut object: Value) -> Value {
    for key in ["metadata", "apiVersion", "kind"] {
        object.as_object_mut().unwrap().remove(key);
    }
    object
}

/// Our outcome for a value.
fn ours(case: &Case, key: &str, it: &Try) -> Outcome {
    let schema = Structural::compile(&case.whole(key));
    let mut object = case.object(key, &it.value);
    let mut unknown: BTreeSet<String> = schema.prune(&mut object).into_iter().collect();
    match schema.coerce(&mut object) {
        Ok(paths) => unknown.extend(paths),
        Err(cause) => return Outcome::Unreadable(cause.to_string()),
    }
    schema.default(&mut object);
    let causes = match &it.old {
        None => schema.validate(&object),
        Some(old) => {
            let mut old = case.object(key, &go::stored(old.clone()));
            schema.prune(&mut old);
            // The server drops invalid metadata of embedded objects from stored objects.
            _ = schema.coerce(&mut old);
            if case.place == Place::Status {
                schema.validate_status(&object, &old)
            } else {
                schema.validate_update(&object, &old)
            }
        }
    };
    if causes.is_empty() {
        schema.drop_default_nulls(&mut object);
        return Outcome::Stored(content(object), unknown);
    }
    let causes = causes
        .into_iter()
        .map(|it| (it.reason.to_owned(), it.field, it.message));
    Outcome::Invalid(causes.collect())
}

/// Whether a difference is random, or there is nothing to compare. Handwritten cases have no random differences.
fn is_excused(case: &Case, ours: &Outcome, theirs: &Outcome) -> bool {
    match (ours, theirs) {
        (_, Outcome::Broken(_)) => true,
        _ if !case.name.starts_with("random") => false,
        // If several embedded objects in a map are invalid, Go names a random one.
        (Outcome::Unreadable(_), Outcome::Unreadable(_)) => true,
        // Go compares the fields of two maps in random order, and stops at the first that differs or that it cannot read.
        (Outcome::Invalid(ours), Outcome::Invalid(theirs)) => {
            let places = |one: &Causes, other: &Causes| -> BTreeSet<String> {
                one.difference(other).map(|(_, field, _)| field.clone()).collect()
            };
            let mut differing = ours.symmetric_difference(theirs);
            let unread = |text: &str| text.contains("evaluating rule") || text.contains("no such overload");
            places(ours, theirs) == places(theirs, ours) && differing.any(|(_, _, text)| unread(text))
        }
        _ => false,
    }
}

/// The positions of the values whose outcome on the server is different.
pub fn different(recorded: &Exchange<Keyed, Outcomes>) -> BTreeSet<usize> {
    let Keyed { case, key } = &recorded.asked;
    let tries = case.tries.iter().zip(&recorded.answered.outcomes).enumerate();
    let differs = |it: &Try, theirs: &Outcome| {
        let ours = ours(case, key, it);
        let written = |outcome: &Outcome| go::json(&json!(outcome));
        !is_excused(case, &ours, theirs) && written(&ours) != written(theirs)
    };
    tries
        .filter(|(_, (it, theirs))| differs(it, theirs))
        .map(|(at, _)| at)
        .collect()
}

/// One entry for each of these values.
pub fn report(recorded: &Exchange<Keyed, Outcomes>, positions: &BTreeSet<usize>) -> String {
    let Keyed { case, key } = &recorded.asked;
    let mut report = String::new();
    for at in positions {
        let (it, theirs) = (&case.tries[*at], &recorded.answered.outcomes[*at]);
        _ = writeln!(
            report,
            "{}: {}\n  schema {}\n  server {theirs:?}\n  ours   {:?}",
            case.name,
            json!(it),
            case.schema,
            ours(case, key, it)
        );
    }
    report
}
