//! Finds the rules of a CRD that API servers of older releases refuse.

use super::formats;
use kubewright_cel::{ESCAPED, newest_function};
use serde_json::Value;
use std::fmt;

/// A rule that not every API server compiles in a new CRD, of those on which generated operators are tested.
///
/// Displays as the kind, its version and the field, the rule, and the release.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReleaseNeed {
    /// The kind.
    pub kind: String,
    /// The version of the kind.
    pub version: String,
    /// The field with the rule, such as `spec.items[]`.
    pub field: String,
    /// The rule or its message expression.
    pub expression: String,
    /// The function that the older releases do not have, or [`ESCAPED`].
    pub function: &'static str,
    /// The first minor release of Kubernetes 1 that accepts the rule.
    pub minor: u16,
}

impl fmt::Display for ReleaseNeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            version,
            field,
            expression,
            function,
            minor,
        } = self;
        let tick = if *function == ESCAPED { "" } else { "`" };
        write!(
            f,
            "`{kind}` {version}, `{field}`: the rule `{expression}` needs Kubernetes 1.{minor}: older API servers do not know \
             {tick}{function}{tick}, and refuse the CRD"
        )
    }
}

/// The rules of `crd` that some releases refuse, in the order of the schema.
pub fn release_needs(crd: &Value) -> Vec<ReleaseNeed> {
    let spec = &crd["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut needs = Vec::new();
    for version in spec["versions"].as_array().into_iter().flatten() {
        formats::walk(&version["schema"]["openAPIV3Schema"], "", &mut |schema, field| {
            let rules = schema.get("x-kubernetes-validations").and_then(Value::as_array);
            for rule in rules.into_iter().flatten() {
                for expression in [&rule["rule"], &rule["messageExpression"]].map(text) {
                    if let Some((function, minor)) = newest_function(&expression) {
                        needs.push(ReleaseNeed {
                            kind: text(&spec["names"]["kind"]),
                            version: text(&version["name"]),
                            field: field.to_owned(),
                            expression,
                            function,
                            minor,
                        });
                    }
                }
            }
        });
    }
    needs
}
