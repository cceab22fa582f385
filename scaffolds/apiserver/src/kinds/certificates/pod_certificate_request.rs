//! PodCertificateRequests.

use kubewright_machinery::{
    base64::{self, Encoding},
    time,
};
use serde_json::{Value, json};

use super::{certificate::Certificate, request::Request};
use crate::{
    kinds::{
        conditions::conditions,
        edit::{Fields, made, set},
        faults::{Faults, quoted},
        format::subdomain,
        kind::{BuiltInKind, Selectable},
        labels::user_annotations,
        located::Located,
        row::Row,
        semantic::equal,
        signer,
    },
    pem,
    strategy::{Put, Rules},
};

const SELECTABLE: &[Selectable] = &[
    Selectable::new("spec.signerName", "/spec/signerName"),
    Selectable::new("spec.podName", "/spec/podName"),
    Selectable::new("spec.nodeName", "/spec/nodeName"),
];
/// The conditions, of which a request has at most one; it is final.
const STATES: [&str; 3] = ["Issued", "Denied", "Failed"];
const MOST_OF_STUB: usize = 10 * 1024;
const MOST_OF_CHAIN: usize = 100 * 1024;
/// The seconds after the beginning of a certificate's validity, and before its end, in which it is not renewed.
const MARGIN: i64 = 600;

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            put: Put::CONDITIONAL,
            ..Rules::default()
        },
        defaults: &[("certificates.v1.PodCertificateRequest", default)],
        validate,
        validate_update: |new, old, faults| faults.immutable(&new.get("spec"), &old.get("spec")),
        validate_status,
        selectable: SELECTABLE,
        cells,
        ..BuiltInKind::default()
    }
    .with_separate_status()
}

fn default(request: &mut Fields) {
    if let Some(spec) = made(request, "spec") {
        set(spec, "maxExpirationSeconds", 86_400);
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    let name = spec.get("signerName");
    signer::name(&name, faults);
    user_annotations(&spec.get("unverifiedUserAnnotations"), faults);
    for owner in ["pod", "serviceAccount", "node"] {
        let (name, uid) = (spec.get(&format!("{owner}Name")), spec.get(&format!("{owner}UID")));
        faults.format(&name, subdomain);
        if uid.str().is_empty() {
            faults.invalid_as(&uid, "\"\"", "must not be empty");
        }
        if uid.str().len() > 128 {
            faults.too_long(&uid, 128);
        }
    }
    let (least, most) = (signer::SHORTEST_LIFETIME, signer::longest_lifetime(name.str()));
    let expiration = spec.get("maxExpirationSeconds");
    if !(least..=most).contains(&expiration.int()) {
        faults.invalid(&expiration, &format!("must be in the range [{least}, {most}]"));
    }
    stub(&spec, faults);
}

/// The request for a certificate, of which only the key and its proof count.
fn stub(spec: &Located<'_>, faults: &mut Faults) {
    let at = spec.get("stubPKCS10Request");
    let bytes = base64::decode(at.str(), Encoding::Standard).unwrap_or_default();
    if bytes.is_empty() {
        let detail = "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set";
        return faults.wrong(spec, detail);
    }
    if bytes.len() > MOST_OF_STUB {
        return faults.too_long(&at, MOST_OF_STUB);
    }
    let Ok(request) = Request::parse(bytes) else {
        return faults.wrong(&at, "must be a valid PKCS#10 CSR");
    };
    match request.key_fault() {
        Some((Some(shown), detail)) => faults.invalid_as(&at, &quoted(&shown), detail),
        Some((None, detail)) => faults.wrong(&at, detail),
        None if request.verify().is_err() => faults.wrong(&at, "invalid signature"),
        None => {}
    }
}

fn validate_status(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let (now, was) = (new.get("status"), old.get("status"));
    let list = now.get("conditions");
    let before = faults.len();
    known_conditions(&list, faults);
    conditions(&list, faults);
    if faults.len() > before {
        return;
    }
    let is_same = |other: &Value| equal("certificates.v1.PodCertificateRequestStatus", now.value, other);
    if state(&was.get("conditions")).is_some() {
        if !is_same(was.value) {
            faults.wrong(
                &now,
                "immutable after PodCertificateRequest is issued, denied, or failed",
            );
        }
        return;
    }
    match state(&list) {
        Some("Issued") => issued(&now, &old.get("spec"), faults),
        Some(_) if !is_same(&json!({"conditions": list.value})) => {
            let detail = "non-condition status fields must be empty when denying or failing the PodCertificateRequest";
            faults.wrong(&now, detail);
        }
        None if !is_same(was.value) => {
            let detail = "status is immutable unless transitioning to \"Issued\", \"Denied\", or \"Failed\"";
            faults.wrong(&now, detail);
        }
        _ => {}
    }
}

/// The condition of a request that has one.
fn state(conditions: &Located<'_>) -> Option<&'static str> {
    let is_true = |name: &&&str| {
        let mut all = conditions.items();
        all.any(|it| it.get("type").str() == **name && it.get("status").str() == "True")
    };
    STATES.iter().find(is_true).copied()
}

fn known_conditions(list: &Located<'_>, faults: &mut Faults) {
    let mut known = 0;
    for (index, condition) in list.items().enumerate() {
        // Upstream's paths have a dot here.
        let field = |name: &str| {
            let field = condition.get(name);
            field.called(&format!("{}.[{index}].{name}", list.path))
        };
        let (name, status) = (field("type"), field("status"));
        if !STATES.contains(&name.str()) {
            faults.not_supported(&name, &STATES);
            continue;
        }
        known += 1;
        if known > 1 {
            let detail = "There may be at most one condition with type \"Issued\", \"Denied\", or \"Failed\"";
            faults.invalid(&name, detail);
        }
        faults.one_of(&status, &["True"]);
    }
}

/// A certificate, the authorities that vouch for it, and its times.
fn issued(status: &Located<'_>, spec: &Located<'_>, faults: &mut Faults) {
    let chain = status.get("certificateChain");
    if chain.str().len() > MOST_OF_CHAIN {
        return faults.too_long(&chain, MOST_OF_CHAIN);
    }
    // Go's text is empty if the field is absent.
    let shown = quoted(chain.str());
    let mut blocks = pem::blocks(chain.str());
    let Some(leaf) = blocks.next() else {
        return faults.invalid_as(
            &chain,
            &shown,
            "issued certificate chain must contain at least one certificate",
        );
    };
    if leaf.label != "CERTIFICATE" {
        let detail = "issued certificate chain must consist entirely of CERTIFICATE PEM blocks";
        return faults.invalid_as(&chain, &shown, detail);
    }
    let Some(leaf) = Certificate::read(&leaf.bytes) else {
        return faults.invalid_as(&chain, &shown, "leaf certificate does not parse as valid X.509");
    };
    let stub = base64::decode(spec.get("stubPKCS10Request").str(), Encoding::Standard);
    let request = Request::parse(stub.unwrap_or_default());
    if !request.is_ok_and(|request| request.key() == leaf.key) {
        return faults.invalid_as(
            &chain,
            &shown,
            "leaf certificate was not issued to the requested public key",
        );
    }
    let before = faults.len();
    times(status, spec.get("maxExpirationSeconds").int(), &leaf, faults);
    if faults.len() > before {
        return;
    }
    for block in blocks {
        if block.label != "CERTIFICATE" {
            // The misspelling is upstream's.
            let detail = "issued certificate chain must consist entirely of CERTFICATE PEM blocks";
            return faults.invalid_as(&chain, &shown, detail);
        }
        if Certificate::read(&block.bytes).is_none() {
            return faults.invalid_as(&chain, &shown, "intermediate certificate does not parse as valid X.509");
        }
    }
}

/// The times in the status and the length of the certificate's validity. Admission compares its beginning with the present.
fn times(status: &Located<'_>, most: i64, leaf: &Certificate<'_>, faults: &mut Faults) {
    let consistent = "must be present and consistent with the issued certificate";
    let within = "must be present and in the range [notbefore+10min, notafter-10min]";
    let mut seconds = Vec::new();
    for (name, detail) in [
        ("notBefore", consistent),
        ("notAfter", consistent),
        ("beginRefreshAt", within),
    ] {
        let at = status.get(name);
        match time::seconds(at.str()) {
            Some(time) => seconds.push((at, time)),
            None => faults.required(&at, detail),
        }
    }
    let [(begin, from), (end, to), (refresh, renewed)] = &seconds[..] else {
        return;
    };
    let ([first, last], chain) = (leaf.validity, status.get("certificateChain"));
    let lifetime = last - first;
    // Go shows a duration in nanoseconds.
    let shown = (i128::from(lifetime) * 1_000_000_000).to_string();
    if *from != first {
        faults.invalid(
            begin,
            "must be set to the NotBefore time encoded in the leaf certificate",
        );
    } else if *to != last {
        faults.invalid(end, "must be set to the NotAfter time encoded in the leaf certificate");
    } else if lifetime < 3_600 {
        faults.invalid_as(&chain, &shown, "leaf certificate lifetime must be >= 1 hour");
    } else if lifetime > most {
        let detail = format!("leaf certificate lifetime must be <= spec.maxExpirationSeconds ({most})");
        faults.invalid_as(&chain, &shown, &detail);
    } else if *renewed < first + MARGIN {
        faults.invalid(refresh, "must be at least 10 minutes after status.notBefore");
    } else if *renewed > last - MARGIN {
        faults.invalid(refresh, "must be at least 10 minutes before status.notAfter");
    }
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let known = row.get("status.conditions").items();
    let state = known.filter_map(|it| STATES.into_iter().find(|name| it.get("type").str() == *name));
    let annotations = row.get("spec.unverifiedUserAnnotations");
    let annotations: Vec<String> = annotations
        .entries()
        .map(|(key, value)| format!("{key}={}", value.str()))
        .collect();
    let texts = ["podName", "serviceAccountName", "nodeName", "signerName"].map(|it| row.text(&format!("spec.{it}")));
    let mut cells = vec![row.name()];
    cells.extend(texts);
    cells.push(json!(state.last().unwrap_or("Pending")));
    cells.push(match annotations.is_empty() {
        true => json!("<none>"),
        false => json!(annotations.join(",")),
    });
    cells
}
