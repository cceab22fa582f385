//! Unions in the shape of Kubernetes' APIs: a field, the discriminator, has the name of one member, and each member is an optional field.
//! The markers of Kubernetes' own types become validation rules. A CRD has no keyword for unions.

use kubewright_machinery::rule_names;
use serde_json::{Map, Value, json};

use crate::dropped::{DISCRIMINATOR, MEMBER};
use crate::embedded::Types;
use crate::finding::Finding;

/// A member as the rules of a union have it.
#[derive(Debug, PartialEq)]
pub(crate) struct Member {
    /// The field of the member.
    pub field: String,
    pub discriminator: String,
    /// The value of the discriminator with which the member is set.
    pub value: String,
    /// Whether it is set with each object that has this value.
    pub is_required: bool,
}

/// Adds the rules of all unions to the schema of a CRD's version. `written` is the schema of its Rust type, in which types are references to
/// `$defs`.
pub(crate) fn write(type_name: &str, crd: &mut Value, written: &Value) -> Vec<Finding> {
    let types = Types::of(written);
    let mut walk = UnionWalk {
        types,
        type_name,
        findings: Vec::new(),
    };
    walk.node(crd, written, "");
    walk.findings
}

/// The members that the rules of a schema describe.
pub(crate) fn members(schema: &Value) -> Vec<Member> {
    let rules = || schema["x-kubernetes-validations"].as_array().into_iter().flatten();
    let texts = || rules().filter_map(|rule| rule["rule"].as_str());
    let forbidden = texts().filter_map(|rule| {
        let (field, is_named) = rule.strip_prefix("!has(self.")?.split_once(") || ")?;
        let comparison = is_named.rsplit(" && ").next()?.strip_prefix("self.")?;
        let (discriminator, value) = comparison.split_once(" == ")?;
        let plain = value.strip_prefix('\'')?.strip_suffix('\'')?;
        let required = format!("self.{discriminator} != {value} || has(self.{field})");
        Some(Member {
            field: rule_names::unescape(field)?,
            discriminator: rule_names::unescape(discriminator)?,
            value: plain.to_owned(),
            is_required: texts().any(|rule| rule.ends_with(&required)),
        })
    });
    forbidden.collect()
}

/// Removes the members that no discriminator names, except the field `kept`, and makes the required ones that one names. `None` if
/// one cannot be made.
pub(crate) fn settle(
    members: &[Member],
    object: &mut Map<String, Value>,
    kept: Option<&str>,
    mut make: impl FnMut(&str) -> Option<Value>,
) -> Option<()> {
    for member in members {
        let is_named = object.get(&member.discriminator).is_some_and(|it| *it == member.value);
        if is_named && member.is_required && !object.contains_key(&member.field) {
            object.insert(member.field.clone(), make(&member.field)?);
        } else if !is_named && kept != Some(&member.field) {
            object.remove(&member.field);
        }
    }
    Some(())
}

struct UnionWalk<'w> {
    types: Types<'w>,
    type_name: &'w str,
    findings: Vec<Finding>,
}

impl<'w> UnionWalk<'w> {
    fn node(&mut self, node: &mut Value, written: &'w Value, field: &str) {
        let (name, written) = self.types.resolve(written);
        if name.is_some_and(Types::is_of_kubernetes) {
            return;
        }
        let rules = self.rules(node, written, field);
        if let (Some(node), false) = (node.as_object_mut(), rules.is_empty()) {
            let own = node.entry("x-kubernetes-validations").or_insert_with(|| json!([]));
            own.as_array_mut().into_iter().for_each(|own| own.extend(rules.clone()));
        }
        let properties = node.get_mut("properties").and_then(Value::as_object_mut);
        for (name, property) in properties.into_iter().flatten() {
            if let Some(written) = self.types.property(written, name) {
                let dot = if field.is_empty() { "" } else { "." };
                self.node(property, written, &format!("{field}{dot}{name}"));
            }
        }
        for (key, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
            if let (Some(child), Some(written)) = (node.get_mut(key), written.get(key)) {
                self.node(child, written, &format!("{field}{suffix}"));
            }
        }
        // Maps whose keys are no texts; `normalise` rewrites them.
        let values = node.get_mut("patternProperties").and_then(Value::as_object_mut);
        for (pattern, child) in values.into_iter().flatten() {
            self.node(child, &written["patternProperties"][pattern], &format!("{field}{{}}"));
        }
    }

    /// The rules of an object with members.
    fn rules(&mut self, node: &Value, written: &'w Value, field: &str) -> Vec<Value> {
        let properties = node["properties"].as_object();
        let names = || properties.into_iter().flat_map(Map::keys);
        let marker = |name: &String, key| self.types.property(written, name).and_then(|it| it.get(key));
        let discriminators: Vec<_> = names()
            .filter(|name| marker(name, DISCRIMINATOR) == Some(&Value::Bool(true)))
            .collect();
        let members: Vec<_> = names()
            .filter_map(|name| Some((name, marker(name, MEMBER)?)))
            .filter(|(_, marker)| **marker != Value::Bool(false))
            .collect();
        let mut rules = Vec::new();
        for (name, marker) in members {
            let made = match discriminators.as_slice() {
                [discriminator] => member(node, discriminator, name, marker),
                all => Err(many(all)),
            };
            match made {
                Ok(made) => rules.extend(made),
                Err((message, remedy)) => self.findings.push(Finding {
                    type_name: self.type_name.to_owned(),
                    field: [field, name].join(if field.is_empty() { "" } else { "." }),
                    message,
                    remedy: Some(remedy),
                }),
            }
        }
        rules
    }
}

/// A message and its remedy.
type Refusal = (String, String);

/// The rules of one member, or why it cannot be a member.
fn member(node: &Value, discriminator: &str, name: &str, marker: &Value) -> Result<Vec<Value>, Refusal> {
    let is_set = |field: &str| {
        let required = node["required"].as_array().into_iter().flatten();
        required.into_iter().any(|it| it == field) || !node["properties"][field]["default"].is_null()
    };
    if is_set(name) {
        return Err((
            format!("`{name}` is a member of a union, and each object has it"),
            "make it an `Option` without a default".to_owned(),
        ));
    }
    let value = marker["memberName"]
        .as_str()
        .map_or_else(|| capitalized(name), str::to_owned);
    if let Some(values) = node["properties"][discriminator]["enum"].as_array()
        && !values.iter().any(|it| *it == value)
    {
        let values: Vec<_> = values.iter().map(Value::to_string).collect();
        return Err((
            format!("`{discriminator}` has no value `{value}` for this member of the union"),
            format!(
                "name one of {} with `extend(\"{MEMBER}\" = {{\"memberName\": \"…\"}})`",
                values.join(", ")
            ),
        ));
    }
    let (Some(field), Some(own)) = (rule_names::escape(name), rule_names::escape(discriminator)) else {
        return Err((
            "rules cannot access a field of this name".to_owned(),
            "rename the field".to_owned(),
        ));
    };
    let text = value.replace('\\', "\\\\").replace('\'', "\\'");
    let (is, is_not) = (format!("self.{own} == '{text}'"), format!("self.{own} != '{text}'"));
    let (is, is_not) = if is_set(discriminator) {
        (is, is_not)
    } else {
        (
            format!("has(self.{own}) && {is}"),
            format!("!has(self.{own}) || {is_not}"),
        )
    };
    let path = match name == field && !name.contains("__") {
        true => format!(".{name}"),
        false => format!("['{name}']"),
    };
    let rule = |rule: String, reason: &str, message: String| json!({"rule": rule, "reason": reason, "message": message, "fieldPath": path});
    let mut rules = vec![rule(
        format!("!has(self.{field}) || {is}"),
        "FieldValueForbidden",
        format!("may only be set if {discriminator} is {value}"),
    )];
    if marker["optional"] != true {
        rules.push(rule(
            format!("{is_not} || has(self.{field})"),
            "FieldValueRequired",
            format!("must be set if {discriminator} is {value}"),
        ));
    }
    Ok(rules)
}

fn many(discriminators: &[&String]) -> Refusal {
    let message = match discriminators {
        [] => "a member of a union without a discriminator".to_owned(),
        several => format!("a member of a union with {} discriminators", several.len()),
    };
    let remedy = format!(
        "put `#[schemars(extend(\"{DISCRIMINATOR}\" = true))]` on one field beside it, which has the name of the member"
    );
    (message, remedy)
}

/// The name of a member, which is by default that of its field in Go.
fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
