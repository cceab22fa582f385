//! ClusterTrustBundles.

use std::collections::BTreeMap;

use super::certificate::Certificate;
use crate::{
    kinds::{
        faults::{Faults, quoted},
        kind::{BuiltInKind, Selectable},
        located::Located,
        row::or,
        signer,
    },
    pem,
    strategy::{NameRule, Passes, Put, Rules},
};

const SELECTABLE: &[Selectable] = &[Selectable::new("spec.signerName", "/spec/signerName")];
/// The most bytes of a bundle.
const MOST: usize = 1024 * 1024;
/// Stands for bundles in errors.
const OMITTED: &str = "\"<value omitted>\"";

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            // The format depends on the signer.
            name: NameRule::PathSegment,
            put: Put::CONDITIONAL,
            passes: Passes::VALIDATE_THEN_UPDATE,
            ..Rules::default()
        },
        validate: |at, faults| {
            check_names(at, faults);
            anchors(&at.at("spec.trustBundle"), faults);
        },
        validate_update: |new, old, faults| {
            check_names(new, faults);
            let bundle = new.at("spec.trustBundle");
            if bundle.str() != old.at("spec.trustBundle").str() {
                anchors(&bundle, faults);
            }
            faults.immutable_text(&new.at("spec.signerName"), &old.at("spec.signerName"));
        },
        selectable: SELECTABLE,
        cells: |row| vec![row.name(), or(row.get("spec.signerName").str(), "<none>")],
        ..BuiltInKind::default()
    }
}

/// The names of the object and of its signer.
fn check_names(at: &Located<'_>, faults: &mut Faults) {
    let signer = at.at("spec.signerName");
    for (field, is_prefix) in [("metadata.generateName", true), ("metadata.name", false)] {
        let name = at.at(field);
        if !name.str().is_empty() {
            for sentence in signer::bundle_name(name.str(), signer.str(), is_prefix) {
                faults.invalid_as(&name, &quoted(name.str()), &sentence);
            }
        }
    }
    if !signer.str().is_empty() {
        signer::name(&signer, faults);
    }
}

/// The certificates of authorities in a bundle, each once.
fn anchors(at: &Located<'_>, faults: &mut Faults) {
    if at.str().len() > MOST {
        return faults.too_long(at, MOST);
    }
    let (before, mut indices) = (faults.len(), BTreeMap::<Vec<u8>, Vec<String>>::new());
    for (index, block) in pem::blocks(at.str()).enumerate() {
        let why = if block.label != "CERTIFICATE" {
            format!("has bad block type: {}", block.label)
        } else if block.has_headers {
            "has PEM block headers".to_owned()
        } else {
            match Certificate::read(&block.bytes).map(|it| it.is_authority) {
                None => "does not parse as X.509".to_owned(),
                Some(false) => "does not have the CA bit set".to_owned(),
                Some(true) => {
                    indices.entry(block.bytes).or_default().push(index.to_string());
                    continue;
                }
            }
        };
        faults.invalid_as(at, OMITTED, &format!("entry {index} {why}"));
    }
    if faults.len() > before {
        return;
    }
    if indices.is_empty() {
        faults.invalid_as(at, OMITTED, "at least one trust anchor must be provided");
    }
    for indices in indices.values().filter(|indices| indices.len() > 1) {
        let detail = format!("duplicate trust anchor (indices [{}])", indices.join(" "));
        faults.invalid_as(at, OMITTED, &detail);
    }
}
