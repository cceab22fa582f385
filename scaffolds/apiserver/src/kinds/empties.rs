//! Empty lists and maps. Until an object is stored, Go distinguishes them from absent ones, and so do managedFields,
//! some messages and a few rules; a stored object has none. Converts objects to each of these forms, by their shapes.

use serde_json::{Map, Value};

use super::{
    decode::is_raw,
    shapes::{self, Shape, ShapeField, Type},
};
use crate::strategy::Empties;

/// Paths, without indices, at whose ends every kind distinguishes empty lists and maps from absent ones.
const DISTINGUISHED: [&[&str]; 11] = [
    &["capabilities", "add"],
    &["capabilities", "drop"],
    &["securityContext", "supplementalGroups"],
    &["spec", "overhead"],
    &["spec", "capacity"],
    &["template", "metadata", "labels"],
    &["volumeClaimTemplate", "metadata", "ownerReferences"],
    &["volumeClaimTemplate", "metadata", "finalizers"],
    &["volumeClaimTemplate", "metadata", "managedFields"],
    &["scaleUp", "policies"],
    &["scaleDown", "policies"],
];

/// Converts `object`, of the definition `name`, to a form, and returns whether it had an empty list or map. This kind
/// distinguishes empty values from absent ones in the fields `kept` and below them.
pub(super) fn bring(name: &str, object: &mut Value, form: Empties, kept: &[&str]) -> bool {
    if !has_empty(object) {
        return false;
    }
    let mut walk = EmptiesWalk {
        form,
        kept,
        path: Vec::new(),
        atomic: 0,
        found: false,
    };
    if let (Some(shape), Value::Object(fields)) = (shapes::shape(name), object) {
        walk.object(shape, fields);
    }
    walk.found
}

/// Whether an object contains empty values, which few do. The leaves of managedFields are meaningful empty maps, so
/// they do not count.
fn has_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty() || items.iter().any(has_empty),
        Value::Object(fields) => {
            fields.is_empty()
                || fields
                    .iter()
                    .any(|(name, value)| name != "fieldsV1" && has_empty(value))
        }
        _ => false,
    }
}

struct EmptiesWalk<'w> {
    form: Empties,
    kept: &'w [&'w str],
    path: Vec<&'static str>,
    /// The number of atomic lists around a value.
    atomic: usize,
    found: bool,
}

impl EmptiesWalk<'_> {
    fn object(&mut self, shape: &'static Shape, fields: &mut Map<String, Value>) {
        fields.retain(|name, value| {
            let Some(field) = shape.field(name) else { return true };
            self.path.push(field.name);
            let stays = if is_none(&field.kind, value) {
                self.empty(field, value)
            } else {
                let is_atomic = field.is_atomic_list();
                self.atomic += usize::from(is_atomic);
                self.value(&field.kind, value);
                self.atomic -= usize::from(is_atomic);
                true
            };
            self.path.pop();
            stays
        });
    }

    fn value(&mut self, kind: &'static Type, value: &mut Value) {
        match (kind, value) {
            (Type::Ref(name, _), Value::Object(fields)) if !is_raw(name) => {
                if let Some(shape) = shapes::shape(name) {
                    self.object(shape, fields);
                }
            }
            (Type::List(item), Value::Array(items)) => items.iter_mut().for_each(|value| self.value(item, value)),
            (Type::Map(item), Value::Object(entries)) => {
                entries.iter_mut().for_each(|(_, value)| self.value(item, value));
            }
            _ => {}
        }
    }

    /// Handles an empty list or map, and returns whether it is kept.
    fn empty(&mut self, field: &ShapeField, value: &mut Value) -> bool {
        self.found = true;
        if field.omit_empty {
            return match self.form {
                Empties::Meaningful => self.is_distinguished() || self.atomic > 0,
                Empties::Encoded => self.atomic > 0,
                Empties::Stored => false,
            };
        }
        if self.form == Empties::Stored {
            *value = Value::Null;
        }
        true
    }

    fn is_distinguished(&self) -> bool {
        let by_kind = self.path.first().is_some_and(|first| self.kept.contains(first));
        by_kind || DISTINGUISHED.iter().any(|end| self.path.ends_with(end))
    }
}

fn is_none(kind: &Type, value: &Value) -> bool {
    match (kind, value) {
        (Type::List(_), Value::Array(items)) => items.is_empty(),
        (Type::Map(_), Value::Object(entries)) => entries.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_encoding_omits_its_own_empty_lists_and_maps() {
        let object = json!({"metadata": {"labels": {}, "managedFields": [{"fieldsV1": {"f:rules": {}}}]}, "rules": []});
        let in_form = |form| {
            let mut object = object.clone();
            assert!(bring("rbac.v1.Role", &mut object, form, &[]));
            object
        };
        let metadata = json!({"managedFields": [{"fieldsV1": {"f:rules": {}}}]});
        assert_eq!(in_form(Empties::Meaningful), json!({"metadata": metadata, "rules": []}));
        assert_eq!(in_form(Empties::Encoded), json!({"metadata": metadata, "rules": []}));
        assert_eq!(in_form(Empties::Stored), json!({"metadata": metadata, "rules": null}));
    }

    #[test]
    fn meaningful_empty_values_are_kept_until_encoding() {
        let object = json!({"spec": {"podSelector": {"matchLabels": {}}, "ingress": []}, "metadata": {"labels": {}}});
        let in_form = |form| {
            let mut object = object.clone();
            bring("networking.v1.NetworkPolicy", &mut object, form, &["spec"]);
            object
        };
        let kept = json!({"spec": {"podSelector": {"matchLabels": {}}, "ingress": []}, "metadata": {}});
        assert_eq!(in_form(Empties::Meaningful), kept);
        assert_eq!(
            in_form(Empties::Encoded),
            json!({"spec": {"podSelector": {}}, "metadata": {}})
        );
    }
}
