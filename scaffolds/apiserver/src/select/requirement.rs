//! One requirement of a label selector: a key, an operator and values.

use std::collections::{BTreeMap, BTreeSet};

use kubewright_machinery::{go, labels};

/// A requirement for a label.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Requirement {
    /// The label's key.
    pub key: String,
    /// The operator, with its values.
    pub operator: Operator,
}

/// Operators.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Operator {
    /// The value is one of these: `=`, `==`, `in`.
    In(BTreeSet<String>),
    /// The value is none of these, or the label does not exist: `!=`, `notin`.
    NotIn(BTreeSet<String>),
    /// The label exists.
    Exists,
    /// The label does not exist.
    DoesNotExist,
    /// The value is an integer greater than this.
    GreaterThan(i64),
    /// The value is an integer less than this.
    LessThan(i64),
}

impl Requirement {
    /// Whether labels match the requirement.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.key);
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match &self.operator {
            Operator::In(values) => value.is_some_and(|value| values.contains(value)),
            Operator::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::GreaterThan(than) => number().is_some_and(|number| number > *than),
            Operator::LessThan(than) => number().is_some_and(|number| number < *than),
        }
    }
}

/// # Errors
/// An invalid label key, in the server's message, which has no name for the field.
pub(super) fn check_key(key: &str) -> Result<(), String> {
    match labels::key(key).join("; ") {
        fine if fine.is_empty() => Ok(()),
        faults => Err(format!("<nil>: Invalid value: {}: {faults}", go::quote(key))),
    }
}

/// The errors of the values for a label with this key.
pub(super) fn faults(key: &str, values: &BTreeSet<String>) -> Vec<String> {
    let faults = values.iter().enumerate().filter_map(|(index, value)| {
        let faults = labels::value(value).join("; ");
        let place = format!("values[{index}][{key}]: Invalid value: {}", go::quote(value));
        (!faults.is_empty()).then(|| format!("{place}: {faults}"))
    });
    faults.collect()
}

/// # Errors
/// A text that is not an integer, for the operators `>` and `<`.
pub(super) fn number(text: &str) -> Result<i64, String> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let parsed = if digits.bytes().all(|digit| digit.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    };
    let rule = "for 'Gt', 'Lt' operators, the value must be an integer";
    parsed.ok_or_else(|| format!("values[0]: Invalid value: {}: {rule}", go::quote(text)))
}
