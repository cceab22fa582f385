//! Kinds of the group `certificates.k8s.io`, and the parsers of PEM and DER that they need.

pub(in crate::kinds) mod certificate_signing_request;
mod chain;
mod pem;
mod request;

/// The organisations in the subject of a PEM request.
///
/// # Errors
/// Go's error if the request cannot be parsed.
pub(crate) fn organizations(pem: &[u8]) -> Result<Vec<String>, String> {
    request::Request::read(pem).map(|request| request.organizations())
}
