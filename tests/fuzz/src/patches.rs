//! The three patches that are no apply: a document and a patch, each of a kind of its own.

use kubewright_apiserver::testing::{apply::Schema, json, kinds, patch};
use serde_json::Value;
use std::sync::LazyLock;

use crate::parts;

static DEPLOYMENT: LazyLock<Schema> = LazyLock::new(|| {
    let schema = kinds::openapi_schema("io.k8s.api.apps.v1.Deployment").expect("Deployments are built in");
    Schema::compile(&schema, &kinds::openapi_schema)
});

/// No patch brings the engines down, and those that say what shall be, and not what shall be done, do nothing the second
/// time.
pub fn patches(bytes: &[u8]) {
    let [document, patch] = parts::split(bytes, 2)[..] else {
        return;
    };
    let Ok((document, _)) = json::read(document) else {
        return;
    };
    for checked in [false, true] {
        _ = patch::json(&document, patch, checked);
    }
    if let Some(once) = merged(&document, patch) {
        assert_eq!(
            merged(&once, patch).as_ref(),
            Some(&once),
            "a merge patch is applied once"
        );
    }
    if document.is_object() {
        strategic(&document, patch);
    }
}

fn merged(document: &Value, patch: &[u8]) -> Option<Value> {
    patch::merge(document, patch, true).ok().map(|patched| patched.object)
}

fn strategic(document: &Value, patch: &[u8]) {
    let merged = |document: &Value| {
        let patched = patch::strategic(document, patch, &DEPLOYMENT, true);
        patched.ok().map(|patched| patched.object)
    };
    let Some(once) = merged(document) else { return };
    // Keys that stand twice in a list of the document are merged into the first; and below a field that the kind does not
    // have nothing can be merged.
    let is_directive = String::from_utf8_lossy(patch).contains('$');
    if let (false, true, Some(twice)) = (is_directive, is_empty(document), merged(&once)) {
        assert_eq!(twice, once, "a strategic patch is applied once");
    }
}

fn is_empty(document: &Value) -> bool {
    document.as_object().is_some_and(serde_json::Map::is_empty)
}
