//! How values are compared: strings by their amounts, maps with all their keys.

use serde_json::Value;

/// Fields of built-in kinds whose values, and all below, are quantities.
const QUANTITIES: [&str; 8] = [
    "averageValue",
    "capacity",
    "divisor",
    "hard",
    "limits",
    "overhead",
    "requests",
    "sizeLimit",
];

/// The comparison of strings.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum StringComparison {
    /// Byte by byte.
    Plain,
    /// As `Plain`, except for the [`QUANTITIES`] below.
    Spec,
    /// By their amounts.
    Quantity,
}

impl StringComparison {
    pub(super) fn below(self, field: &str) -> Self {
        match self {
            Self::Plain if field == "spec" => Self::Spec,
            Self::Spec if QUANTITIES.contains(&field) => Self::Quantity,
            form => form,
        }
    }
}

/// The comparison of values.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Comparison {
    pub(super) strings: StringComparison,
    /// Whether a map that is one value for field managers has no keys beyond the intent's.
    pub(super) exact_maps: bool,
}

impl Comparison {
    pub(super) fn of(intent: &Value) -> Self {
        // Admission, such as Kueue's, adds keys to the node selectors of Pods and Jobs, which are immutable.
        let kind = (intent["apiVersion"].as_str(), intent["kind"].as_str());
        Self {
            strings: StringComparison::Plain,
            exact_maps: ![(Some("v1"), Some("Pod")), (Some("batch/v1"), Some("Job"))].contains(&kind),
        }
    }

    pub(super) fn below(self, field: &str) -> Self {
        Self {
            strings: self.strings.below(field),
            ..self
        }
    }
}
