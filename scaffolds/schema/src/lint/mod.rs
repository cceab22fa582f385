//! Validates a CustomResourceDefinition by the API server's own rules and with its messages, without an API server.
//!
//! Measured against kube-apiserver v1.37: the same verdict and the same causes for every CRD of the recorded set
//! (`tests/recorded/server/`), which has at least one CRD for each rule.
//!
//! Without the feature `cel`, expressions of `x-kubernetes-validations` are not compiled.

mod columns;
mod conversion;
mod fields;
mod fit;
mod formats;
mod lists;
mod metadata;
#[cfg(feature = "cel")]
mod releases;
mod remedy;
mod rules;
mod schema;
mod spec;
pub(crate) mod structural;

pub use kubewright_machinery::Cause;
#[cfg(feature = "cel")]
pub use releases::{ReleaseFeature, ReleaseNeed, release_needs};
pub use remedy::OF_RECURSION;

use crate::finding::Finding;
use serde_json::Value;
use std::collections::BTreeMap;

/// The causes for which a v1 API server would refuse to create `crd`; empty if it would accept it. Sorted, without
/// duplicates.
///
/// # Errors
/// None: a value that is not a CustomResourceDefinition at all also gets causes. A server refuses wrong JSON types (`maximum: "3"`)
/// earlier, when it decodes the object; here such values are ignored.
pub fn causes(crd: &Value) -> Vec<Cause> {
    let mut causes = spec::check(crd);
    causes.sort();
    causes.dedup();
    causes
}

/// The warnings of a v1 API server for `crd`: formats that it does not support and therefore ignores, and sets of what is not a scalar.
pub fn warnings(crd: &Value) -> Vec<String> {
    let formats = formats::unknown(crd).into_iter();
    let formats = formats.map(|(_, format)| format!("unrecognized format \"{format}\""));
    let mut sets: Vec<_> = lists::odd_sets(crd).into_iter().map(|(_, warning)| warning).collect();
    sets.sort();
    sets.dedup();
    formats.chain(sets).collect()
}

/// The findings for the author of the Rust types: everything for which an API server would refuse `crd` or warn about it, and keywords that
/// would not have the effect that the Rust type suggests. `types` has the name of the Rust type of each version.
pub fn findings(crd: &Value, types: &BTreeMap<String, String>) -> Vec<Finding> {
    let all = types.values().cloned().collect::<Vec<_>>().join("`, `");
    let versions: Vec<&str> = crd["spec"]["versions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|version| version["name"].as_str())
        .collect();
    let type_of = |index: Option<usize>| {
        index
            .and_then(|index| versions.get(index))
            .and_then(|name| types.get(*name))
            .cloned()
            .unwrap_or(all.clone())
    };
    let mut findings = Vec::new();
    // `spec.version` is the server's copy of the first version's name, which has the same causes.
    for cause in causes(crd).into_iter().filter(|cause| cause.field != "spec.version") {
        let place = remedy::place(&cause.field);
        findings.push(Finding {
            type_name: type_of(place.version),
            remedy: remedy::of(&cause),
            field: place.field,
            message: remedy::short(cause.message),
        });
    }
    for (index, _) in versions.iter().enumerate() {
        let schema = &crd["spec"]["versions"][index]["schema"]["openAPIV3Schema"];
        let more = fit::findings(schema).into_iter().chain(remedy::lost(schema));
        let sets = lists::odd_sets(schema).into_iter();
        let sets = sets.map(|(field, warning)| (field, warning, lists::NO_SET.to_owned()));
        for (field, message, hint) in formats::findings(schema).into_iter().chain(more).chain(sets) {
            findings.push(Finding {
                type_name: type_of(Some(index)),
                field,
                message,
                remedy: Some(hint),
            });
        }
    }
    findings.dedup();
    findings
}
