//! Compares a schema with its Rust type. An operator sets aside an object that an API server has stored and the type cannot
//! decode: it is never reconciled, and no validator sees it. What the type reads and does not write again is lost with the operator's next
//! write. A schema does not contain the Rust types of its fields, so this module decodes objects at the edges of each field that the schema
//! admits, and encodes them again.
//!
//! Fields of Kubernetes' own types are not probed one by one: [`embedded`](crate::embedded) gives them the constraints of their decoders.

mod close;
mod losses;
mod sample;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use self::losses::Losses;
use self::sample::{Leaf, Sample, Step};
use crate::embedded::Types;
use crate::examples::{Dice, Examples, count};
use crate::finding::Finding;
use crate::rust_formats;
use crate::value::Structural;

/// Rounds in which fields find values that decode. Values of other fields are needed for that, which one round finds and the next one uses.
const ROUNDS: usize = 3;

/// The number of whole objects that are tried, and of the values that they have together.
const OBJECTS: usize = 300;
const VALUES: usize = 30_000;

/// One version of a kind.
pub(crate) struct Version<'a> {
    pub api_version: String,
    pub kind: &'a str,
    /// The schema of the Rust type, in which types are references to `$defs`.
    pub written: &'a Value,
    /// Decodes an object and encodes it again; the error is the reason why it cannot be decoded.
    pub read: &'a dyn Fn(&Value) -> Result<Value, String>,
}

/// A value that the schema admits and the type cannot decode.
struct Gap {
    value: Value,
    error: String,
    /// Another value decodes there, so nothing else in the object is the reason.
    is_certain: bool,
}

/// Objects that decode, and the first gap of each chosen field by the index of the field.
struct Survey<'s> {
    sample: Sample<'s>,
    gaps: BTreeMap<usize, Gap>,
}

impl Version<'_> {
    /// Makes the schema admit what the type holds, where the difference is known. Other fields stay.
    pub fn close(&self, schema: &mut Value) {
        let leaves = sample::leaves(schema, Types::of(self.written));
        let may_close = |leaf: &Leaf| leaf.schema(schema).is_some_and(rust_formats::may_close);
        let survey = self.survey(schema, &leaves, &may_close, None);
        let with_gap: Vec<_> = survey.gaps.into_keys().collect();
        let changes = close::changes(self, schema, &survey.sample);
        for at in with_gap {
            leaves[at].schema_mut(schema).map(rust_formats::close);
        }
        changes.into_iter().for_each(|change| change.apply(schema));
    }

    /// The fields of which the schema admits values that the type cannot decode, or does not write again. If API servers would refuse
    /// the schema of some fields, only what is certain in the others.
    pub fn findings(&self, type_name: &str, schema: &Value, refused: &[String]) -> Vec<Finding> {
        let leaves = sample::leaves(schema, Types::of(self.written));
        let mut losses = Losses::default();
        let survey = self.survey(schema, &leaves, &|_| true, Some(&mut losses));
        let finding = |(at, gap): (usize, Gap)| Finding {
            type_name: type_name.to_owned(),
            field: leaves[at].field(),
            message: format!(
                "API servers accept {} here, and the type cannot decode it: {}. Such an object would never be reconciled",
                gap.value, gap.error
            ),
            remedy: Some(remedy(&leaves[at], schema)),
        };
        let gaps = survey.gaps.into_iter();
        let mut findings: Vec<_> = gaps
            .filter(|(_, gap)| refused.is_empty() || gap.is_certain)
            .map(finding)
            .collect();
        let fields: Vec<_> = findings.iter().map(|it| it.field.clone()).collect();
        findings.extend(losses.findings(type_name).filter(|it| !fields.contains(&it.field)));
        findings.retain(|it| !refused.iter().any(|field| overlap(field, &it.field)));
        if findings.is_empty() && refused.is_empty() {
            findings.extend(self.together(type_name, schema));
        }
        findings
    }

    /// Tries the values at the edges of each field. The gaps belong to the chosen fields.
    fn survey<'s>(
        &self,
        schema: &'s Value,
        leaves: &[Leaf],
        is_chosen: &dyn Fn(&Leaf) -> bool,
        mut losses: Option<&mut Losses>,
    ) -> Survey<'s> {
        let compiled = Structural::compile(schema);
        let mut sample = Sample::new(schema);
        let mut gaps = BTreeMap::new();
        let mut compare = |object: &Value, encoded: Value| {
            if let Some(losses) = &mut losses {
                losses.add(schema, &compiled, object, encoded, self.read);
            }
        };
        let mut undecided: Vec<usize> = (0..leaves.len()).collect();
        for round in 1..=ROUNDS {
            for at in std::mem::take(&mut undecided) {
                let leaf = &leaves[at];
                let (mut decoded, mut failed) = (None, None);
                for value in leaf.values(schema) {
                    let around = sample.around(leaf, &value);
                    let Some(object) = around.and_then(|it| self.stored(&compiled, it)) else {
                        continue;
                    };
                    match (self.read)(&object) {
                        Ok(encoded) => {
                            compare(&object, encoded);
                            decoded = decoded.or(Some(value));
                        }
                        Err(error) => {
                            failed = failed.or(Some(Gap {
                                value,
                                error,
                                is_certain: false,
                            }));
                        }
                    }
                    if decoded.is_some() && (failed.is_some() || !is_chosen(leaf)) {
                        break;
                    }
                }
                match (decoded, failed) {
                    (None, None) => {}
                    // Perhaps a value of another field does not decode.
                    (None, Some(_)) if round < ROUNDS => undecided.push(at),
                    (decoded, mut failed) => {
                        if let Some(gap) = &mut failed {
                            gap.is_certain = decoded.is_some();
                        }
                        decoded.into_iter().for_each(|value| sample.choose(leaf, value));
                        gaps.extend(failed.filter(|_| is_chosen(leaf)).map(|gap| (at, gap)));
                    }
                }
            }
        }
        // Values of several fields at a time, of which an untagged enum keeps some.
        let whole = sample.clone().with_all(leaves);
        if let Some(object) = whole.and_then(|it| self.stored(&compiled, it))
            && let Ok(encoded) = (self.read)(&object)
        {
            compare(&object, encoded);
        }
        Survey { sample, gaps }
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

    /// The object as API servers store it; `None` if the schema does not admit it.
    fn stored(&self, compiled: &Structural, mut object: Value) -> Option<Value> {
        self.name(&mut object);
        compiled.prune(&mut object);
        compiled.default(&mut object);
        compiled.validate(&object).is_empty().then_some(object)
    }

    fn name(&self, object: &mut Value) {
        object["apiVersion"] = json!(self.api_version);
        object["kind"] = json!(self.kind);
        object["metadata"] = json!({"name": "a", "namespace": "default", "uid": "u"});
    }
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

fn remedy(leaf: &Leaf, schema: &Value) -> String {
    if leaf.steps.last() == Some(&Step::Key) {
        return "for API servers the keys of a map are text: refuse the others by a rule, such as \
                `#[x_kube(validation = \"self.all(key, key.matches('^[0-9]+$'))\")]`, or use `BTreeMap<String, _>` and parse the keys in the \
                reconciler"
            .to_owned();
    }
    let kind = leaf.schema(schema).and_then(|it| it["type"].as_str());
    let bound = match kind {
        Some("integer" | "number") => "#[schemars(range(min = …, max = …))]",
        _ => "#[schemars(regex(pattern = \"…\"))]",
    };
    format!(
        "let the schema admit what decodes, by `{bound}` or a rule, `#[x_kube(validation = \"…\")]`; or use a type that decodes every such \
         value, such as `String`, and parse it in the reconciler"
    )
}
