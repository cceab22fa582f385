//! Label and field selectors.

use kubewright_apiserver::testing::{FieldSelector, LabelSelector, Resource, kinds, store::Key};
use serde_json::json;
use std::{collections::BTreeMap, sync::LazyLock};

static PODS: LazyLock<Resource> = LazyLock::new(|| {
    let mut resources = kinds::resources().into_iter();
    resources
        .find(|resource| resource.names.plural == "pods")
        .expect("Pods are built in")
});

/// The texts of selectors are read or refused; and who asks for the same twice asks for the same.
pub fn selectors(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let twice = format!("{text},{text}");
    if let Ok(labels) = LabelSelector::parse(text)
        && !labels.is_empty()
    {
        let again = LabelSelector::parse(&twice).expect("each of two terms is one");
        for found in objects() {
            assert_eq!(again.matches(&found), labels.matches(&found), "`{twice}` on {found:?}");
        }
    }
    if let Ok(fields) = FieldSelector::parse(text) {
        let again = FieldSelector::parse(&twice).expect("each of two terms is one");
        assert_eq!(again.check(&PODS), fields.check(&PODS));
        let key = Key {
            resource: "/pods".into(),
            namespace: "default".into(),
            name: "a".into(),
        };
        let pod = json!({"spec": {"nodeName": "n"}, "status": {"phase": "Running"}});
        let value = |path: &str| PODS.strategy.field(&pod, path).unwrap_or_default();
        assert_eq!(again.matches(&key, value), fields.matches(&key, value), "`{twice}`");
    }
}

fn objects() -> [BTreeMap<String, String>; 4] {
    let labels = |pairs: &[(&str, &str)]| {
        let pairs = pairs
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        pairs.collect()
    };
    [
        labels(&[]),
        labels(&[("a", "b")]),
        labels(&[("a", "1"), ("example.com/c", "")]),
        labels(&[("a", "-3"), ("b", "x")]),
    ]
}
