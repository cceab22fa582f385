//! Whether the versions of one kind can do without a conversion: the API server then keeps an object in the stored version,
//! changes `apiVersion` for those who ask for another, and drops what the other's schema does not know.

use super::schema::{self, Change};
use super::{by_name, root};
use crate::finding::Finding;
use serde_json::Value;
use std::collections::BTreeMap;

/// What the versions of this CRD disagree about, though nothing converts between them.
///
/// # Guarantees
/// Limits, patterns, rules and defaults may differ: each version checks what is written through it. The fields may not, not
/// even optional ones: measured on kube-apiserver 1.36, any write through a version that lacks a field, a patch of the
/// status too, takes that field out of the stored object.
pub(crate) fn findings(crd: &Value, types: &BTreeMap<String, String>) -> Vec<Finding> {
    if crd["spec"]["conversion"]["strategy"] == "Webhook" {
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
    let mut findings: Vec<Finding> = Vec::new();
    for (other, from, to, Change { field, change, .. }) in found {
        // What is so in both directions is said once.
        let known = |it: &Finding| it.field == field && it.type_name == name(types, other);
        if !findings.iter().any(known) {
            findings.push(Finding {
                type_name: name(types, other),
                field,
                message: format!("from version `{from}` to `{to}`, {change}"),
                remedy: Some(format!(
                    "`{stored}` is stored, and without a conversion webhook, which is not built yet, `{other}` needs the same \
                     shape: give both the same field, optional where it is new"
                )),
            });
        }
    }
    findings
}

/// Whether stored objects lose something, or cannot be read.
fn matters(change: &Change) -> bool {
    [schema::REFUSED, schema::DROPPED, schema::INCOMPLETE, schema::MERGES].contains(&change.consequence)
}

fn name(types: &BTreeMap<String, String>, version: &str) -> String {
    types.get(version).cloned().unwrap_or_else(|| version.to_owned())
}
