//! Compares a schema with its Rust type. An operator sets aside an object that an API server has stored and the type cannot
//! decode: it is never reconciled, and no validator sees it. What the type reads and does not write again is lost with the operator's next
//! write. A schema does not contain the Rust types of its fields, so this module decodes objects at the edges of each field that the schema
//! admits, and encodes them again.
//!
//! Fields of Kubernetes' own types are not probed one by one: [`embedded`](crate::embedded) gives them the constraints of their decoders.

mod close;
#[cfg(feature = "lint")]
mod findings;
#[cfg(feature = "lint")]
mod losses;
mod sample;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use self::sample::{Leaf, Sample};
use crate::embedded::Types;
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
    /// Decodes an object and encodes it again; the error is the reason why it cannot be decoded.
    pub read: &'a dyn Fn(&Value) -> Result<Value, String>,
}

/// A value that the schema admits and the type cannot decode.
#[cfg_attr(not(feature = "lint"), expect(dead_code, reason = "findings have the rest"))]
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
        let survey = self.survey(schema, &leaves, &may_close, &mut |_, _, _| {});
        let with_gap: Vec<_> = survey.gaps.into_keys().collect();
        let changes = close::changes(self, schema, &survey.sample);
        for at in with_gap {
            leaves[at].schema_mut(schema).map(rust_formats::close);
        }
        changes.into_iter().for_each(|change| change.apply(schema));
    }

    /// Tries the values at the edges of each field. The gaps belong to the chosen fields. `compare` gets each object that decodes, with what the
    /// type writes after reading it.
    fn survey<'s>(
        &self,
        schema: &'s Value,
        leaves: &[Leaf],
        is_chosen: &dyn Fn(&Leaf) -> bool,
        compare: &mut dyn FnMut(&Structural, &Value, Value),
    ) -> Survey<'s> {
        let compiled = Structural::compile(schema);
        let mut sample = Sample::new(schema);
        let mut gaps = BTreeMap::new();
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
                            compare(&compiled, &object, encoded);
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
            compare(&compiled, &object, encoded);
        }
        Survey { sample, gaps }
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
