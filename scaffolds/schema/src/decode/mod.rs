//! Compares a schema with its Rust type. An operator sets aside an object that an API server has stored and the type cannot
//! decode: it is never reconciled, and no validator sees it. What the type reads and does not write again is lost with the operator's next
//! write. A schema does not contain the Rust types of its fields, so this module decodes objects at the edges of each field that the schema
//! admits, and encodes them again.
//!
//! Fields of Kubernetes' own types are not probed one by one: [`embedded`](crate::embedded) gives them the constraints of their decoders.

mod close;
mod defaults;
#[cfg(feature = "lint")]
mod findings;
#[cfg(feature = "lint")]
mod losses;
mod sample;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use self::sample::{Leaf, Sample};
use crate::embedded::Types;
use crate::examples::{Dice, Examples};
use crate::rust_formats;
use crate::value::Structural;

/// Rounds in which fields find values that decode. Values of other fields are needed for that, which one round finds and the next one uses.
const ROUNDS: usize = 3;

/// The number of objects that are made up for fields around which the sample has none, and of those that are used.
const TRIES: usize = 100;
const BASES: usize = 8;

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
    /// The fields that no object had that the schema admits.
    #[cfg_attr(not(feature = "lint"), expect(dead_code, reason = "findings name them"))]
    unseen: Vec<usize>,
}

/// A value of a field that decodes, and one that does not.
type Tried = (Option<Value>, Option<Gap>);

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
        defaults::sort(schema, Types::of(self.written), self.written);
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
        let (mut sample, mut bases) = (Sample::new(schema), None);
        let mut gaps = BTreeMap::new();
        let mut undecided: Vec<usize> = (0..leaves.len()).collect();
        for round in 1..=ROUNDS {
            for at in std::mem::take(&mut undecided) {
                let leaf = &leaves[at];
                let (values, both) = (leaf.values(schema), is_chosen(leaf));
                let mut compare = |object: &Value, encoded| compare(&compiled, object, encoded);
                let around = |value: &Value| self.stored(&compiled, sample.around(leaf, value)?);
                let mut tried = self.attempt(&values, both, &around, &mut compare);
                if round > 1 && matches!(tried, (None, None)) {
                    let bases = bases.get_or_insert_with(|| self.bases(schema, &compiled));
                    let within = |value: &Value| {
                        let mut bases = bases.iter();
                        bases.find_map(|base| self.stored(&compiled, sample.within(base, leaf, value)?))
                    };
                    tried = self.attempt(&values, both, &within, &mut compare);
                }
                match tried {
                    // Perhaps a value of another field does not decode, or is not admitted beside this one.
                    (None, failed) if failed.is_none() || round < ROUNDS => undecided.push(at),
                    (decoded, mut failed) => {
                        if let Some(gap) = &mut failed {
                            gap.is_certain = decoded.is_some();
                        }
                        decoded.into_iter().for_each(|value| sample.choose(leaf, value));
                        gaps.extend(failed.filter(|_| both).map(|gap| (at, gap)));
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
        Survey {
            sample,
            gaps,
            unseen: undecided,
        }
    }

    /// Tries values until one decodes and, if `both` are wanted, another one does not. `object` makes an object with a value; `None` if the schema
    /// does not admit it.
    fn attempt(
        &self,
        values: &[Value],
        both: bool,
        object: &dyn Fn(&Value) -> Option<Value>,
        compare: &mut dyn FnMut(&Value, Value),
    ) -> Tried {
        let (mut decoded, mut failed) = (None, None);
        for value in values {
            let Some(object) = object(value) else { continue };
            match (self.read)(&object) {
                Ok(encoded) => {
                    compare(&object, encoded);
                    decoded = decoded.or(Some(value.clone()));
                }
                Err(error) => {
                    failed = failed.or(Some(Gap {
                        value: value.clone(),
                        error,
                        is_certain: false,
                    }));
                }
            }
            if decoded.is_some() && (failed.is_some() || !both) {
                break;
            }
        }
        (decoded, failed)
    }

    /// Whole objects that decode, where the sample alone makes none, such as for a rule about several fields.
    fn bases(&self, schema: &Value, compiled: &Structural) -> Vec<Value> {
        let (examples, mut dice) = (Examples::typical(schema), Dice::default());
        let made = (0..TRIES).filter_map(|_| self.stored(compiled, examples.object(&mut dice)?));
        made.filter(|it| (self.read)(it).is_ok()).take(BASES).collect()
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
