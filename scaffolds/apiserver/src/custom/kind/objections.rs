//! The validation errors of a custom object: those of its type, its schema, its scale and its validation rules.

use super::{Custom, scale};
use kubewright_machinery::{
    Cause,
    cause::{Objections, Path},
};
use kubewright_schema::value::Structural;
use serde_json::Value;

impl Custom {
    /// The validation errors of an object: those of its type, or else of its schema and its scale, and, unless these or
    /// those in its metadata are too severe, of its validation rules.
    pub(super) fn objections(&self, object: &Value, old: Option<&Value>, metadata: &[Cause]) -> Objections {
        let Some(schema) = self.structural() else {
            return Objections::default();
        };
        let mut causes = self.type_causes(object);
        if causes.is_empty() {
            causes = schema.check(object, old);
            if let Some(scale) = &self.rules.scale {
                causes.extend(scale::wanted(object, scale));
                causes.extend(scale::counted(object, scale));
            }
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

/// The first errors of `found`, and those of the validation rules after them. The second ones, those in the metadata, only
/// decide whether rules are evaluated.
fn with_rules(schema: &Structural, object: &Value, old: Option<&Value>, found: (Vec<Cause>, &[Cause])) -> Objections {
    let (causes, metadata) = found;
    let mut all = schema.check_rules(object, old, &[metadata, &causes].concat());
    all.causes.splice(0..0, causes);
    all
}
