//! Compares a schema with the decoder of its Rust type. An operator sets aside an object that an API server has stored and the type cannot
//! decode: it is never reconciled, and no validator sees it. A schema does not contain the Rust types of its fields, so this module decodes
//! objects at the edges of each field that the schema admits.
//!
//! Kubernetes' own types are not probed: [`embedded`](crate::embedded) gives them the constraints of their decoders.

mod edges;
mod sample;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use self::sample::{Leaf, Sample, Step};
use crate::embedded::Types;
use crate::finding::Finding;
use crate::rust_formats;
use crate::value::Structural;

/// Rounds in which fields find values that decode. Values of other fields are needed for that, which one round finds and the next one uses.
const ROUNDS: usize = 3;

/// One version of a kind.
pub(crate) struct Version<'a> {
    pub api_version: String,
    pub kind: &'a str,
    /// The schema of the Rust type, in which types are references to `$defs`.
    pub written: &'a Value,
    /// Decodes an object; the error is the reason why it cannot be decoded.
    pub decode: &'a dyn Fn(&Value) -> Result<(), String>,
}

/// A value that the schema admits and the type cannot decode.
struct Gap {
    value: Value,
    error: String,
}

impl Version<'_> {
    /// Adds patterns to fields with a format of which the type decodes a part. Other fields stay.
    pub fn close(&self, schema: &mut Value) {
        let leaves = sample::leaves(schema, Types::of(self.written));
        let may_close = |leaf: &&Leaf| leaf.schema(schema).is_some_and(rust_formats::may_close);
        if leaves.iter().any(|leaf| may_close(&leaf)) {
            let gaps = self.gaps(schema, &leaves, &|leaf| may_close(&leaf));
            for (at, _) in gaps {
                leaves[at].schema_mut(schema).map(rust_formats::close);
            }
        }
    }

    /// The fields of which the schema admits values that the type cannot decode.
    pub fn findings(&self, type_name: &str, schema: &Value) -> Vec<Finding> {
        let leaves = sample::leaves(schema, Types::of(self.written));
        let gaps = self.gaps(schema, &leaves, &|_| true);
        let finding = |(at, gap): (usize, Gap)| Finding {
            type_name: type_name.to_owned(),
            field: leaves[at].field(),
            message: format!(
                "API servers accept {} here, and the type cannot decode it: {}. Such an object would never be reconciled",
                gap.value, gap.error
            ),
            remedy: Some(remedy(&leaves[at], schema)),
        };
        gaps.into_iter().map(finding).collect()
    }

    /// The first gap of each chosen field, by the index of the field.
    fn gaps(&self, schema: &Value, leaves: &[Leaf], is_chosen: &dyn Fn(&Leaf) -> bool) -> BTreeMap<usize, Gap> {
        let compiled = Structural::compile(schema);
        let mut sample = Sample::new(schema);
        let mut gaps = BTreeMap::new();
        let mut undecided: Vec<usize> = (0..leaves.len()).collect();
        for round in 1..=ROUNDS {
            for at in std::mem::take(&mut undecided) {
                let leaf = &leaves[at];
                let (mut decoded, mut failed) = (None, None);
                for value in edges::of(leaf, schema) {
                    let object = self.object(&compiled, &sample, leaf, &value);
                    match object.map(|object| (self.decode)(&object)) {
                        None => {}
                        Some(Ok(())) => decoded = decoded.or(Some(value)),
                        Some(Err(error)) => failed = failed.or(Some(Gap { value, error })),
                    }
                    if decoded.is_some() && (failed.is_some() || !is_chosen(leaf)) {
                        break;
                    }
                }
                match (decoded, failed) {
                    (None, None) => {}
                    // Perhaps a value of another field does not decode.
                    (None, Some(_)) if round < ROUNDS => undecided.push(at),
                    (decoded, failed) => {
                        decoded.into_iter().for_each(|value| sample.choose(leaf, value));
                        gaps.extend(failed.filter(|_| is_chosen(leaf)).map(|gap| (at, gap)));
                    }
                }
            }
        }
        gaps
    }

    /// An object with this value in the field; `None` if the schema does not admit it.
    fn object(&self, compiled: &Structural, sample: &Sample<'_>, leaf: &Leaf, value: &Value) -> Option<Value> {
        let mut object = sample.around(leaf, value)?;
        object["apiVersion"] = json!(self.api_version);
        object["kind"] = json!(self.kind);
        object["metadata"] = json!({"name": "a", "namespace": "default", "uid": "u"});
        compiled.default(&mut object);
        compiled.validate(&object).is_empty().then_some(object)
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
