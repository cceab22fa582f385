//! Digests in the forms that the API uses.

#[cfg(feature = "serve")]
use ring::digest::SHA1_FOR_LEGACY_USE_ONLY;
use ring::digest::{SHA256, SHA512, digest};

/// SHA-512 in upper-case hexadecimal: entity tags and the hashes of OpenAPI documents.
pub(crate) fn sha512_hex(bytes: &[u8]) -> String {
    digest(&SHA512, bytes)
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect()
}

/// SHA-256 in hexadecimal: the fingerprints of certificates in credential IDs.
#[cfg(feature = "serve")]
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    digest(&SHA256, bytes)
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// SHA-1: the answer to a WebSocket's key, which proves nothing.
#[cfg(feature = "serve")]
pub(crate) fn sha1(text: &str) -> Vec<u8> {
    digest(&SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes()).as_ref().to_vec()
}

/// The first eight bytes of the SHA-256: storage version hashes, before base64.
pub(crate) fn sha256_start(text: &str) -> Vec<u8> {
    digest(&SHA256, text.as_bytes())
        .as_ref()
        .iter()
        .take(8)
        .copied()
        .collect()
}
