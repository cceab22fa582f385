//! Finds the rules of a CRD that API servers of older releases refuse.

use super::{formats, remedy};
use kubewright_cel::{ESCAPED, newest_function};
use kubewright_machinery::Cause;
use serde_json::Value;
use std::fmt;

/// The first minor release that limits the estimated size of an int-or-string by its `maxLength`
/// (<https://github.com/kubernetes/kubernetes/pull/132837>).
const LENGTH_SINCE: u16 = 34;

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
    /// The feature that the older releases do not have.
    pub feature: ReleaseFeature,
    /// The first minor release of Kubernetes 1 that accepts the rule.
    pub minor: u16,
}

/// A feature of rules that older releases do not have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReleaseFeature {
    /// A function, or [`ESCAPED`].
    Function(&'static str),
    /// The `maxLength` of an int-or-string in the estimated cost.
    Length,
}

impl ReleaseNeed {
    /// The change that makes older releases accept the rule.
    pub fn remedy(&self) -> &'static str {
        match self.feature {
            ReleaseFeature::Function(_) => "write the rule without it",
            ReleaseFeature::Length => "make the rule cheaper, such as by a lower `maxItems`",
        }
    }
}

impl fmt::Display for ReleaseNeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            version,
            field,
            expression,
            feature,
            minor,
        } = self;
        write!(
            f,
            "`{kind}` {version}, `{field}`: the rule `{expression}` needs Kubernetes 1.{minor}: older API servers "
        )?;
        match feature {
            ReleaseFeature::Function(ESCAPED) => write!(f, "do not know {ESCAPED}")?,
            ReleaseFeature::Function(function) => write!(f, "do not know `{function}`")?,
            ReleaseFeature::Length => {
                write!(
                    f,
                    "ignore the `maxLength` of an IntOrString or Quantity in the estimated cost"
                )?;
            }
        }
        write!(f, ", and refuse the CRD")
    }
}

/// The rules of `crd` that some releases refuse, in the order of the schema.
pub fn release_needs(crd: &Value) -> Vec<ReleaseNeed> {
    let spec = &crd["spec"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut needs = Vec::new();
    for version in spec["versions"].as_array().into_iter().flatten() {
        let schema = &version["schema"]["openAPIV3Schema"];
        let too_expensive = without_lengths(schema);
        formats::walk(schema, "", &mut |schema, field| {
            let rules = schema.get("x-kubernetes-validations").and_then(Value::as_array);
            for (index, rule) in rules.into_iter().flatten().enumerate() {
                for key in ["rule", "messageExpression"] {
                    let expression = text(&rule[key]);
                    let function = newest_function(&expression);
                    let function = function.map(|(function, minor)| (ReleaseFeature::Function(function), minor));
                    let at = format!(".x-kubernetes-validations[{index}].{key}");
                    let is_refused =
                        |cause: &Cause| cause.field.ends_with(&at) && remedy::place(&cause.field).field == field;
                    let is_too_expensive = too_expensive.iter().any(is_refused);
                    let length = is_too_expensive.then_some((ReleaseFeature::Length, LENGTH_SINCE));
                    for (feature, minor) in function.into_iter().chain(length) {
                        needs.push(ReleaseNeed {
                            kind: text(&spec["names"]["kind"]),
                            version: text(&version["name"]),
                            field: field.to_owned(),
                            expression: expression.clone(),
                            feature,
                            minor,
                        });
                    }
                }
            }
        });
    }
    needs
}

/// The causes for which a server that ignores the `maxLength` of each int-or-string refuses the rules, besides those of the schema as it is.
fn without_lengths(schema: &Value) -> Vec<Cause> {
    let mut unlimited = schema.clone();
    remove_lengths(&mut unlimited);
    if unlimited == *schema {
        return Vec::new();
    }
    let causes = |schema: &Value| kubewright_cel::check(schema, "spec.versions[0].schema.openAPIV3Schema", &[]);
    let known = causes(schema);
    let mut found = causes(&unlimited);
    found.retain(|cause| !known.contains(cause));
    found
}

/// Removes the `maxLength` of each int-or-string.
fn remove_lengths(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) {
                fields.remove("maxLength");
            }
            fields.values_mut().for_each(remove_lengths);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_lengths),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_rule_that_only_the_length_of_an_int_or_string_makes_cheap_needs_a_release() {
        let needs = |items: Value| {
            let list = json!({"type": "array", "maxItems": 10, "items": items,
                "x-kubernetes-validations": [{"rule": "true"}, {"rule": "self.all(x, string(x).matches('^[0-9]+([.][0-9]+)?$'))"}]});
            let spec = json!({"type": "object", "properties": {"list": list}});
            let schema = json!({"type": "object", "properties": {"spec": spec}});
            release_needs(&json!({"spec": {"names": {"kind": "FooBar"}, "versions": [
                {"name": "v1", "schema": {"openAPIV3Schema": schema}},
            ]}}))
        };
        let found = needs(json!({"x-kubernetes-int-or-string": true, "maxLength": 10}));
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "`FooBar` v1, `spec.list`: the rule `self.all(x, string(x).matches('^[0-9]+([.][0-9]+)?$'))` needs Kubernetes 1.34: older API servers ignore \
                 the `maxLength` of an IntOrString or Quantity in the estimated cost, and refuse the CRD"
            ]
        );
        assert_eq!(needs(json!({"type": "string", "maxLength": 10})), []);
        assert_eq!(
            needs(json!({"x-kubernetes-int-or-string": true})),
            [],
            "no release accepts it"
        );
    }
}
