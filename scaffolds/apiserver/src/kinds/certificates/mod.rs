//! Kinds of the group `certificates.k8s.io`, and the parsers of PEM and DER that they need.

mod certificate;
pub(in crate::kinds) mod certificate_signing_request;
mod chain;
pub(in crate::kinds) mod cluster_trust_bundle;
pub(in crate::kinds) mod pod_certificate_request;
mod request;

/// The reason that no authority can be read from a bundle of PEM certificates (`caBundle`), in the words of Go's client.
pub(crate) fn bundle_fault(bundle: &[u8]) -> Option<String> {
    chain::bundle_fault(bundle)
}

/// The organisations in the subject of a PEM request.
///
/// # Errors
/// Go's error if the request cannot be parsed.
pub(crate) fn organizations(pem: &[u8]) -> Result<Vec<String>, String> {
    request::Request::read(pem).map(|request| request.organizations())
}
