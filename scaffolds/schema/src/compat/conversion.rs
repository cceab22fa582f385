//! Checks that the versions of one kind need no conversion webhook, or have one. Without one, the API server stores an object in the storage version,
//! changes only `apiVersion` for requests in another version, and prunes the fields that the other version's schema lacks.

use super::consequence::{DROPPED, INCOMPLETE, MERGES, REFUSED, UNIQUE};
use super::schema::{self, Change};
use super::{by_name, root};
use crate::finding::Finding;
use serde_json::Value;
use std::collections::BTreeMap;

/// The annotation by which a type says that the operator converts its kind. It is not `spec.conversion`, which the operator
/// itself writes once it answers.
const CONVERSION: &str = "kubewright.dev/conversion";

/// The differences between the served versions of this CRD that need a conversion webhook.
///
/// # Guarantees
/// Limits, patterns, rules and defaults may differ: each version validates what is written through it. The fields may not differ, not
/// even optional ones: measured on kube-apiserver 1.37, any write through a version that lacks a field, even a patch of the
/// status, removes that field from the stored object.
pub(crate) fn findings(crd: &Value, types: &BTreeMap<String, String>) -> Vec<Finding> {
    if is_converted(crd) {
        return Vec::new();
    }
    let versions = by_name(crd);
    let Some((stored, kept)) = versions.iter().find(|(_, version)| version["storage"] == true) else {
        return Vec::new();
    };
    let others = versions
        .iter()
        .filter(|(name, version)| *name != stored && version["served"] == true);
    let mut found = Vec::new();
    for (other, written) in others {
        let lost = schema::changes(root(written), root(kept));
        found.extend(
            lost.into_iter()
                .filter(matters)
                .map(|change| (other, other, stored, change)),
        );
        let missed = schema::changes(root(kept), root(written));
        found.extend(
            missed
                .into_iter()
                .filter(matters)
                .map(|change| (other, stored, other, change)),
        );
    }
    let kind = crd["spec"]["names"]["kind"].as_str().unwrap_or("KIND");
    let mut findings: Vec<Finding> = Vec::new();
    for (other, from, to, Change { field, change, .. }) in found {
        // A difference in both directions is one finding.
        let known = |it: &Finding| it.field == field && it.type_name == name(types, other);
        if !findings.iter().any(known) {
            findings.push(Finding {
                type_name: name(types, other),
                field,
                message: format!("from version `{from}` to `{to}`, {change}"),
                remedy: Some(format!(
                    "`{stored}` is the storage version, and the kind has no conversion webhook, so `{other}` needs the same \
                     fields: add the field to both, as an optional field where it is new; or run `kubewright create \
                     webhook --kind {kind} --conversion`, which writes functions that convert `{other}`; if they are \
                     there already, say so with `#[kube(annotation(\"{CONVERSION}\", \"Webhook\"))]`"
                )),
            });
        }
    }
    findings
}

/// Whether a webhook converts the objects of this CRD.
pub(crate) fn is_converted(crd: &Value) -> bool {
    crd["spec"]["conversion"]["strategy"] == "Webhook" || crd["metadata"]["annotations"][CONVERSION] == "Webhook"
}

/// Whether stored objects lose data, or cannot be read.
fn matters(change: &Change) -> bool {
    [REFUSED, DROPPED, INCOMPLETE, MERGES, UNIQUE].contains(&change.consequence)
}

fn name(types: &BTreeMap<String, String>, version: &str) -> String {
    types.get(version).cloned().unwrap_or_else(|| version.to_owned())
}
