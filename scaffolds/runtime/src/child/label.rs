//! The label of all children: an operator's caches select its children by it.

use kube::api::ObjectMeta;
use serde_json::{Value, json};

use super::name::fnv1a;

/// The key of the label. Its value is derived from the operator's name.
const KEY: &str = "kubewright.dev/operator";

/// The longest value that Kubernetes accepts for a label.
const MAX_VALUE: usize = 63;

/// The label of one operator's children.
///
/// It only decides which objects are cached. Anybody may set or remove it, so the owner of an object is decided by its
/// owner reference alone.
#[derive(Clone, Debug)]
pub(crate) struct ChildLabel {
    value: String,
}

impl ChildLabel {
    /// The label of the operator of this name. In a name that is no valid label value, invalid characters are replaced
    /// and a hash of the whole name is appended.
    pub(crate) fn new(operator: &str) -> Self {
        let value = if is_value(operator) {
            operator.to_owned()
        } else {
            let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
            let text: String = operator.chars().map(plain).take(MAX_VALUE - 18).collect();
            format!("o{text}-{:016x}", fnv1a(operator.as_bytes()))
        };
        Self { value }
    }

    /// Key and value.
    pub(crate) fn pair(&self) -> (&'static str, &str) {
        (KEY, &self.value)
    }

    /// A merge patch that sets the label of the object with this uid.
    pub(crate) fn patch(&self, uid: Option<&str>) -> Value {
        json!({"metadata": {"uid": uid, "labels": {KEY: self.value}}})
    }

    /// Selects the objects with the label.
    pub(crate) fn selector(&self) -> String {
        format!("{KEY}={}", self.value)
    }

    /// Selects the objects without the label, and those with the label of another operator.
    pub(crate) fn selector_of_others(&self) -> String {
        format!("{KEY}!={}", self.value)
    }

    /// Sets the label.
    pub(crate) fn set(&self, metadata: &mut ObjectMeta) {
        let labels = metadata.labels.get_or_insert_default();
        labels.insert(KEY.to_owned(), self.value.clone());
    }

    /// Whether the label is set.
    pub(crate) fn is_on(&self, metadata: &ObjectMeta) -> bool {
        metadata
            .labels
            .iter()
            .flatten()
            .any(|(key, value)| key == KEY && *value == self.value)
    }
}

fn is_value(text: &str) -> bool {
    let bytes = text.as_bytes();
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    let ends = [bytes.first(), bytes.last()];
    bytes.len() <= MAX_VALUE
        && bytes.iter().all(inner)
        && ends.iter().all(|end| end.is_some_and(u8::is_ascii_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valid_label_value_is_kept() {
        for name in ["operator", "foobar-operator", "a_b.C", &"x".repeat(63)] {
            assert_eq!(ChildLabel::new(name).pair().1, name);
        }
    }

    #[test]
    fn an_invalid_name_becomes_a_unique_valid_value() {
        let long = "x".repeat(64);
        let names = ["", "-a", "a-", "a/b", "a b", "ä", &long, &format!("{long}y")];
        let values: std::collections::BTreeSet<_> = names.iter().map(|name| ChildLabel::new(name).value).collect();
        assert_eq!(values.len(), names.len(), "{values:?}");
        assert!(values.iter().all(|value| is_value(value)), "{values:?}");
    }

    #[test]
    fn the_label_is_added_to_existing_labels() {
        let mut metadata = ObjectMeta {
            labels: Some([("app".to_owned(), "web".to_owned())].into()),
            ..ObjectMeta::default()
        };
        let label = ChildLabel::new("operator");
        assert!(!label.is_on(&metadata));
        label.set(&mut metadata);
        assert!(label.is_on(&metadata) && !ChildLabel::new("other").is_on(&metadata));
        assert_eq!(metadata.labels.map_or(0, |labels| labels.len()), 2);
    }
}
