//! The differences between a schema and its Rust type that only the author of the type can remove.

use serde_json::Value;

use super::losses::Losses;
use super::sample::{self, Leaf, Step};
use super::{Gap, Version};
use crate::embedded::Types;
use crate::examples::{Dice, Examples, count, edges};
use crate::finding::Finding;
use crate::value::Structural;

/// The number of whole objects that are tried, and of the values that they have together.
const OBJECTS: usize = 300;
const VALUES: usize = 30_000;

impl Version<'_> {
    /// The fields of which the schema admits values that the type cannot decode, or does not write again. If API servers would refuse
    /// the schema of some fields, only what is certain in the others.
    pub fn findings(&self, type_name: &str, schema: &Value, refused: &[String]) -> Vec<Finding> {
        let leaves = sample::leaves(schema, Types::of(self.written));
        let mut losses = Losses::default();
        let survey = self.survey(schema, &leaves, &|_| true, &mut |compiled, object, encoded| {
            losses.add(schema, compiled, object, encoded, self.read);
        });
        let unseen = match refused.is_empty() {
            true => unseen(type_name, schema, &leaves, &survey.unseen),
            false => Vec::new(),
        };
        let finding = |(at, gap): (usize, Gap)| Finding {
            type_name: type_name.to_owned(),
            field: leaves[at].field(),
            message: format!(
                "API servers accept {} here, and the type cannot decode it: {}. Such an object would never be reconciled",
                shown(&gap.value),
                gap.error
            ),
            remedy: Some(remedy(&leaves[at], schema, &gap.value)),
        };
        let gaps = survey.gaps.into_iter();
        let mut findings: Vec<_> = gaps
            .filter(|(_, gap)| refused.is_empty() || gap.is_certain)
            .map(finding)
            .collect();
        let fields: Vec<_> = findings.iter().map(|it| it.field.clone()).collect();
        findings.extend(losses.findings(type_name).filter(|it| !fields.contains(&it.field)));
        findings.extend(unseen);
        findings.retain(|it| !refused.iter().any(|field| overlap(field, &it.field)));
        if findings.is_empty() && refused.is_empty() {
            findings.extend(self.together(type_name, schema));
        }
        findings
    }

    /// The fields of which other served versions admit values that the type cannot decode. Their objects are not converted. Defaults may differ.
    pub fn foreign(
        &self,
        type_name: &str,
        schema: &Value,
        served: &[(String, Value)],
        refused: &[String],
    ) -> Vec<Finding> {
        let is_own = |name: &str| self.api_version.rsplit('/').next() == Some(name);
        if !served.iter().any(|(name, _)| is_own(name)) {
            return Vec::new();
        }
        let own = Structural::compile(schema);
        let read = |object: &Value| {
            let mut object = object.clone();
            own.default(&mut object);
            (self.read)(&object)
        };
        let reader = Version {
            read: &read,
            api_version: self.api_version.clone(),
            kind: self.kind,
            written: self.written,
        };
        let mut findings = Vec::new();
        for (name, other) in served.iter().filter(|(_, other)| other != schema) {
            let leaves = sample::leaves(other, Types::of(self.written));
            let survey = reader.survey(other, &leaves, &|_| true, &mut |_, _, _| {});
            let gaps = survey.gaps.into_iter().map(|(at, gap)| (leaves[at].field(), gap));
            let gaps = gaps.filter(|(field, gap)| {
                (refused.is_empty() || gap.is_certain) && !refused.iter().any(|it| overlap(it, field))
            });
            findings.extend(gaps.map(|(field, Gap { value, error, .. })| Finding {
                type_name: type_name.to_owned(),
                field,
                message: format!(
                    "version `{name}` admits {} here, and this type cannot decode it: {error}. A controller of this version could not read such an object",
                    shown(&value)
                ),
                remedy: Some(format!(
                    "the kind has no conversion webhook: let the type of this version hold such values, or give `{name}` the type or the limits of this version; or run `kubewright \
                     create webhook --kind {} --conversion`, which writes functions that convert objects",
                    self.kind
                )),
            }));
        }
        findings
    }

    /// Decodes whole objects with values at the edges of many fields at a time, including fields of Kubernetes' types.
    fn together(&self, type_name: &str, schema: &Value) -> Option<Finding> {
        let compiled = Structural::compile(schema);
        let (examples, mut dice, mut values) = (Examples::at_edges(schema), Dice::default(), 0);
        let failure = |object: Value| {
            let stored = self.stored(&compiled, object)?;
            (self.read)(&stored).err().map(|error| (stored, error))
        };
        for _ in 0..OBJECTS {
            let Some(object) = examples.object(&mut dice) else {
                continue;
            };
            values += count(&object);
            if values > VALUES {
                break;
            }
            let Some((mut object, error)) = failure(object) else {
                continue;
            };
            // Without the values that the failure does not need.
            let mut at = 0;
            while at < count(&object["spec"]) {
                let mut less = object.clone();
                remove(&mut less["spec"], &mut at.clone());
                match failure(less).filter(|(less, _)| count(less) < count(&object)) {
                    Some((less, _)) => object = less,
                    None => at += 1,
                }
            }
            return Some(Finding {
                type_name: type_name.to_owned(),
                field: String::new(),
                message: format!(
                    "API servers accept an object that the type cannot decode: {error}. It would never be reconciled: {object}"
                ),
                remedy: Some(
                    "let a rule refuse such objects, `#[x_kube(validation = \"…\")]`, or let the type decode them"
                        .to_owned(),
                ),
            });
        }
        None
    }
}

impl Leaf {
    /// Whether each object that has the other field has this one too.
    fn hides(&self, other: &Self, root: &Value) -> bool {
        let mut needed = (0..self.steps.len()).rev().take_while(|end| {
            let Some(above) = Self::from(self.steps[..*end].to_vec()).schema(root) else {
                return false;
            };
            match &self.steps[*end] {
                Step::Field(name) if *end == 0 => name == "spec",
                Step::Field(name) => above["required"]
                    .as_array()
                    .is_some_and(|it| it.iter().any(|it| it == name)),
                Step::Item => above["minItems"].as_u64() > Some(0),
                Step::Value => above["minProperties"].as_u64() > Some(0),
                Step::Key => false,
            }
        });
        needed.any(|end| other.steps.starts_with(&self.steps[..end]))
    }

    /// As findings name it: `spec.items[].name`.
    fn field(&self) -> String {
        let mut field = String::new();
        for step in &self.steps {
            match step {
                Step::Field(name) if field.is_empty() => field.push_str(name),
                Step::Field(name) => {
                    field.push('.');
                    field.push_str(name);
                }
                Step::Item => field.push_str("[]"),
                Step::Value => field.push_str("{}"),
                Step::Key => field.push_str(" (its keys)"),
            }
        }
        field
    }
}

const WITH_EXAMPLE: &str = "give the field, or each field of the rule, a value that the schema admits: `#[schemars(example = …)]`, \
                            for a text `#[schemars(example = &\"…\")]`";

/// The fields of which no value is known, and without which no object has some of the others. If a rule admits no object that is known, nothing
/// is found: no example of a field would help.
fn unseen(type_name: &str, schema: &Value, leaves: &[Leaf], unseen: &[usize]) -> Vec<Finding> {
    let fields = unseen.iter().map(|at| &leaves[*at]);
    let (hidden, unknown): (Vec<_>, Vec<_>) = fields.partition(|leaf| !leaf.values(schema).is_empty());
    let finding = |field: String, message: String| Finding {
        type_name: type_name.to_owned(),
        field,
        message,
        remedy: Some(WITH_EXAMPLE.to_owned()),
    };
    let named = unknown.iter().filter_map(|leaf| {
        let hidden = hidden.iter().find(|it| leaf.hides(it, schema))?.field();
        let message = format!(
            "no value is known that the schema admits here, so nothing checks that the type decodes `{hidden}`"
        );
        Some(finding(leaf.field(), message))
    });
    named.collect()
}

/// Whether one of two fields is the other one, or is inside it.
fn overlap(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let rest = long.strip_prefix(short);
    rest.is_some_and(|rest| short.is_empty() || rest.is_empty() || rest.starts_with(['.', '[', '{', ' ']))
}

/// Removes the value with this number, in the order of the text. Returns whether there is one.
fn remove(value: &mut Value, number: &mut usize) -> bool {
    match value {
        Value::Object(fields) => {
            let names: Vec<_> = fields.keys().cloned().collect();
            names.into_iter().any(|name| match *number {
                0 => fields.remove(&name).is_some(),
                _ => {
                    *number -= 1;
                    remove(&mut fields[&name], number)
                }
            })
        }
        Value::Array(items) => (0..items.len()).any(|index| match *number {
            0 => {
                items.remove(index);
                true
            }
            _ => {
                *number -= 1;
                remove(&mut items[index], number)
            }
        }),
        _ => false,
    }
}

/// A value as findings name it.
fn shown(value: &Value) -> String {
    match edges::long(value) {
        Some(length) => format!("a text of {length} characters"),
        None => value.to_string(),
    }
}

fn remedy(leaf: &Leaf, schema: &Value, value: &Value) -> String {
    if leaf.steps.last() == Some(&Step::Key) {
        return "for API servers the keys of a map are text: refuse the others by a rule, such as \
                `#[x_kube(validation = \"self.all(key, key.matches('^[0-9]+$'))\")]`, or use `BTreeMap<String, _>` and parse the keys in the \
                reconciler"
            .to_owned();
    }
    let kind = leaf.schema(schema).and_then(|it| it["type"].as_str());
    let bound = match kind {
        Some("integer" | "number") => "#[schemars(range(min = …, max = …))]",
        _ if edges::long(value).is_some() => "#[schemars(length(max = …))]",
        _ => "#[schemars(regex(pattern = \"…\"))]",
    };
    format!(
        "let the schema admit what decodes, by `{bound}` or a rule, `#[x_kube(validation = \"…\")]`; or use a type that decodes every such \
         value, such as `String`, and parse it in the reconciler"
    )
}
