//! The validation errors of a custom object: in its type, by its schema, in its scale, and by its validation rules.

use super::{Custom, scale};
use crate::strategy::Validation;
use kubewright_machinery::{
    Cause,
    cause::{Objections, Path},
};
use kubewright_schema::value::Structural;
use serde_json::Value;

impl Custom {
    /// The errors in the type of an object. If the type is right, the errors by its schema and in its scale. The validation
    /// rules run last, unless an error so far prevents it; `metadata` has the errors in the metadata.
    pub(super) fn objections(&self, object: &Value, old: Option<&Value>, metadata: &[Cause]) -> Objections {
        let Some(schema) = self.structural() else {
            return Objections::default();
        };
        let mut causes;
        if self.is_of_type(object) {
            causes = schema.check(object, old);
            if let Some(scale) = &self.rules.scale {
                causes.extend(scale::wanted(object, scale));
                causes.extend(scale::counted(object, scale));
            }
        } else {
            causes = self.type_causes(object);
        }
        with_rules(schema, object, old, (causes, metadata))
    }

    fn type_causes(&self, object: &Value) -> Vec<Cause> {
        let wanted = [
            ("kind", self.family.kind.clone()),
            ("apiVersion", self.family.api_version(&self.version)),
        ];
        let wrong = wanted.into_iter().filter(|(field, wanted)| object[*field] != **wanted);
        wrong
            .map(|(field, wanted)| Path::new(field).invalid(object[field].clone(), &format!("must be {wanted}")))
            .collect()
    }

    pub(super) fn objections_to_status(&self, new: &Value, old: &Value, metadata: &[Cause]) -> Objections {
        let Some(schema) = self.structural() else {
            return Objections::default();
        };
        let mut causes = schema.check_status(new, old);
        if let Some(scale) = &self.rules.scale {
            causes.extend(scale::counted(new, scale));
        }
        with_rules(schema, new, Some(old), (causes, metadata))
    }
}

/// The errors of the first list in `found`, followed by the errors of the validation rules. The second list has the errors in
/// the metadata, which only decide whether the rules run.
fn with_rules(schema: &Structural, object: &Value, old: Option<&Value>, found: (Vec<Cause>, &[Cause])) -> Objections {
    let (causes, metadata) = found;
    let mut all = schema.check_rules(object, old, &[metadata, &causes].concat());
    all.causes.splice(0..0, causes);
    all
}
