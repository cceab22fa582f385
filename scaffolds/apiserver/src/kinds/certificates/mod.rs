//! Kinds of the group `certificates.k8s.io`, and what they read PEM and DER with.

pub(in crate::kinds) mod certificate_signing_request;
mod chain;
mod pem;
mod request;

/// The organisations that the subject of a PEM request names.
///
/// # Errors
/// The sentence about what is no request.
pub(crate) fn organizations(pem: &[u8]) -> Result<Vec<String>, String> {
    request::Request::read(pem).map(|request| request.organizations())
}
