//! Validates the certificates in the status of a request, and those that webhooks are trusted by.

use kubewright_machinery::go;

use crate::pem;
use kubewright_machinery::der::{BIT_STRING, SEQUENCE, each, read};

/// The reason that a chain of PEM certificates is invalid, in Go's words.
pub(super) fn fault(chain: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(chain);
    let mut blocks = pem::blocks(&text).peekable();
    if blocks.peek().is_none() {
        return Some("must contain at least one CERTIFICATE PEM block".to_owned());
    }
    blocks.find_map(|block| {
        if block.label != "CERTIFICATE" {
            let label = go::quote(block.label);
            return Some(format!("only CERTIFICATE PEM blocks are allowed, found {label}"));
        }
        if block.has_headers {
            return Some("no PEM block headers are permitted".to_owned());
        }
        certificates(&block.bytes)
    })
}

/// The reason that no authority can be read from a bundle of PEM certificates, in the words of Go's client; it is enough if one can.
pub(super) fn bundle_fault(bundle: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bundle);
    let faults = pem::blocks(&text)
        .filter(|block| block.label == "CERTIFICATE" && !block.has_headers)
        .map(|block| certificates(&block.bytes));
    let faults: Vec<Option<String>> = faults.collect();
    if faults.iter().any(Option::is_none) {
        return None;
    }
    let why = match faults.into_iter().flatten().next() {
        Some(fault) => format!("failed to parse certificate: {fault}"),
        None if text.trim_end().ends_with("-----") => "no valid certificate authority data seen".to_owned(),
        None => "unable to parse bytes as PEM block".to_owned(),
    };
    Some(format!("unable to load root certificates: {why}"))
}

/// The reason that the certificates of a block are invalid.
fn certificates(mut bytes: &[u8]) -> Option<String> {
    if bytes.is_empty() {
        return Some("found CERTIFICATE PEM block containing 0 certificates".to_owned());
    }
    while !bytes.is_empty() {
        let Some((SEQUENCE, certificate, rest)) = read(bytes) else {
            return Some("x509: malformed certificate".to_owned());
        };
        let tags: Vec<u8> = each(certificate).map(|(tag, _)| tag).collect();
        if tags != [SEQUENCE, SEQUENCE, BIT_STRING] {
            return Some("x509: malformed certificate".to_owned());
        }
        bytes = rest;
    }
    None
}
