//! Whether clients that trust a bundle accept a certificate.

use std::{sync::Arc, time::Duration};

use tokio_rustls::rustls::{
    RootCertStore,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
    crypto::ring::default_provider,
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};

/// Verifies a certificate for a DNS name as clients do that trust the authorities of a PEM bundle.
///
/// # Errors
///
/// The reason, if they do not accept it.
pub(super) fn verify(certificate: &[u8], name: &str, bundle: &[u8], now: i64) -> Result<(), String> {
    let mut roots = RootCertStore::empty();
    for authority in CertificateDer::pem_slice_iter(bundle) {
        let authority = authority.map_err(|error| error.to_string())?;
        roots.add(authority).map_err(|error| error.to_string())?;
    }
    if roots.is_empty() {
        return Err("the bundle is empty".to_owned());
    }
    let verifier = WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::new(default_provider()));
    let verifier = verifier.build().map_err(|error| error.to_string())?;
    let name = ServerName::try_from(name).map_err(|error| error.to_string())?;
    let now = UnixTime::since_unix_epoch(Duration::from_secs(u64::try_from(now).unwrap_or_default()));
    let certificate = CertificateDer::from(certificate);
    let verified = verifier.verify_server_cert(&certificate, &[], &name, &[], now);
    verified.map(|_| ()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::{super::issue, *};

    #[test]
    fn a_certificate_is_accepted_for_its_names_while_it_lives_by_those_who_trust_its_authority() {
        let (now, name) = (1_800_000_000, "a.b.svc".to_owned());
        let authority = issue::authority("CA", [now, now + 1_000]).unwrap();
        let other = issue::authority("CA", [now, now + 1_000]).unwrap();
        let leaf = issue::leaf(
            &authority,
            "CA",
            &[name.clone(), "127.0.0.1".to_owned()],
            [now, now + 100],
        )
        .unwrap();
        let (shown, both) = (&leaf.certificate.0, authority.pem() + &other.pem());
        for accepted in [&name, "127.0.0.1"] {
            verify(shown, accepted, both.as_bytes(), now).unwrap();
        }
        assert!(verify(shown, "x.b.svc", both.as_bytes(), now).is_err());
        assert!(verify(shown, &name, other.pem().as_bytes(), now).is_err());
        assert!(verify(shown, &name, both.as_bytes(), now + 101).is_err());
        assert_eq!(verify(shown, &name, b"", now), Err("the bundle is empty".to_owned()));
    }
}
