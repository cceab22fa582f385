//! Schemas of CRDs and objects under them.

use kubewright_apiserver::testing::apply;
use kubewright_schema::{compat::breaking, lint, value::Structural, yaml};
use serde_json::{Value, json};

use crate::parts;

/// A schema, an object and what it was before. Nothing panics, be the schema ever so wrong; under one that a server
/// accepts, what was dropped and filled in once is not dropped or filled in again, and who changes nothing is not refused.
pub fn schema(bytes: &[u8]) {
    let Some(mut values) = parts::values(bytes, 3) else {
        return;
    };
    let schema = values.remove(0);
    let crd = definition(&schema);
    let is_accepted = lint::causes(&crd).is_empty();
    _ = lint::warnings(&crd);
    assert!(
        breaking(std::slice::from_ref(&crd), std::slice::from_ref(&crd)).is_empty(),
        "what does not change breaks nobody"
    );
    _ = yaml::to_string(&crd);
    _ = apply::Schema::custom(&schema);
    let compiled = Structural::compile(&schema);
    let mut decoded = values.into_iter().map(|value| decode(&compiled, value, is_accepted));
    let Some(object) = decoded.next() else { return };
    _ = compiled.validate(&object);
    let unchanged = compiled.validate_update(&object, &object);
    // Rules may look at both, what is a resource is always one, and an item without its keys is new each time.
    let text = schema.to_string();
    let is_strict = [
        "x-kubernetes-validations",
        "x-kubernetes-embedded-resource",
        "x-kubernetes-list-map-keys",
    ]
    .map(|it| text.contains(it));
    if is_accepted && is_strict == [false; 3] {
        assert!(unchanged.is_empty(), "what does not change is refused: {unchanged:?}");
    }
    if let Some(old) = decoded.next() {
        _ = compiled.validate_update(&object, &old);
        _ = compiled.validate_status(&object, &old);
    }
}

/// The object as a server decodes it before it checks rules.
fn decode(schema: &Structural, mut object: Value, is_accepted: bool) -> Value {
    schema.prune(&mut object);
    _ = schema.coerce(&mut object);
    schema.default(&mut object);
    if is_accepted {
        let mut again = object.clone();
        schema.default(&mut again);
        assert_eq!(again, object, "defaults are filled in once");
        let dropped = schema.prune(&mut again);
        assert!(dropped.is_empty(), "dropped after the first time: {dropped:?}");
        assert_eq!(again, object, "nulls are dropped once");
    }
    object
}

fn definition(schema: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "foobars.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "preserveUnknownFields": false,
            "names": {"kind": "FooBar", "listKind": "FooBarList", "plural": "foobars", "singular": "foobar"},
            "conversion": {"strategy": "None"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}],
        },
        "status": {"storedVersions": ["v1"]},
    })
}
