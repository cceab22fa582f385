//! Verifies a webhook's certificate under a bundle as Go does: by an authority of the bundle, or because the bundle has the
//! certificate itself, as that of envtest and of `openssl req -x509`.

use std::sync::Arc;

use kubewright_machinery::{
    der::{EXPLICIT_3, OID, SEQUENCE, each, read},
    x509::{EXTENDED_KEY_USAGE, SERVER_AUTH},
};
use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
        verify_server_name,
    },
    crypto::CryptoProvider,
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::ParsedCertificate,
};

/// Every purpose (RFC 5280, 4.2.1.12: `anyExtendedKeyUsage`).
const ANY: &[u8] = &[0x55, 0x1d, 0x25, 0x00];

/// Verifies certificates under one bundle.
#[derive(Debug)]
pub(super) struct Verifier {
    authorities: Arc<WebPkiServerVerifier>,
    bundle: Vec<CertificateDer<'static>>,
}

impl Verifier {
    /// The certificates in `bundle` that can be read.
    ///
    /// # Errors
    /// When there is none.
    pub fn new(bundle: Vec<CertificateDer<'static>>, provider: Arc<CryptoProvider>) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(bundle.iter().cloned());
        let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self { authorities, bundle })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.authorities.verify_server_cert(own, others, name, ocsp, now);
        match verified {
            Err(Error::InvalidCertificate(why)) if self.bundle.contains(own) && lacks_only_an_issuer(own, &why) => {
                verify_server_name(&ParsedCertificate::try_from(own)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.authorities.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.authorities.supported_verify_schemes()
    }
}

/// Whether a certificate was refused only for who signed it, or for being an authority's, neither of which matters for one that
/// is trusted itself. webpki checks the time before either, and the purpose between them.
fn lacks_only_an_issuer(certificate: &CertificateDer<'_>, why: &CertificateError) -> bool {
    match why {
        CertificateError::UnknownIssuer => true,
        CertificateError::Other(why) => why.to_string() == "CaUsedAsEndEntity" && is_for_servers(certificate),
        _ => false,
    }
}

/// Whether the certificate's purposes, if it names any, include that of a server.
fn is_for_servers(certificate: &[u8]) -> bool {
    match purposes(certificate) {
        None => true,
        Some(purposes) => each(purposes).any(|(_, purpose)| purpose == SERVER_AUTH || purpose == ANY),
    }
}

/// The identifiers in the extension for purposes. RFC 5280, 4.1: the extensions are the last field of the body.
fn purposes(certificate: &[u8]) -> Option<&[u8]> {
    let body = sequence(sequence(certificate)?)?;
    let (_, extensions) = each(body).find(|(tag, _)| *tag == EXPLICIT_3)?;
    let value = each(sequence(extensions)?).find_map(|(_, extension)| {
        let (OID, EXTENDED_KEY_USAGE, _) = read(extension)? else {
            return None;
        };
        // The value is behind a flag that may be left out.
        each(extension).last().map(|(_, value)| value)
    })?;
    sequence(value)
}

/// The contents of a sequence.
fn sequence(bytes: &[u8]) -> Option<&[u8]> {
    match read(bytes)? {
        (SEQUENCE, contents, _) => Some(contents),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use kubewright_machinery::x509::{
        CLIENT_AUTH, COMMON_NAME, Certificate, alternative_names, authority, name, purpose,
    };
    use ring::{
        rand::SystemRandom,
        signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair},
    };
    use tokio_rustls::rustls::crypto::ring::default_provider;

    const FROM: i64 = 1_000_000_000;
    const TO: i64 = 2_000_000_000;

    /// A certificate for `localhost` with these extensions, by an issuer of this name.
    fn certificate(issuer: &str, extensions: &[Vec<u8>]) -> CertificateDer<'static> {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, pkcs8.as_ref(), &random).unwrap();
        let extensions = [extensions.concat(), alternative_names(&["localhost"], &[])].concat();
        let certificate = Certificate {
            serial: [1; 16],
            issuer: &name(&[(COMMON_NAME, issuer)]),
            subject: &name(&[(COMMON_NAME, "own")]),
            validity: [FROM, TO],
            public_key: pair.public_key().as_ref(),
            extensions: &extensions,
        };
        let signed = certificate.sign(|body| pair.sign(&random, body).map(|signature| signature.as_ref().to_vec()));
        CertificateDer::from(signed.unwrap())
    }

    fn verified(
        bundle: &CertificateDer<'static>,
        own: &CertificateDer<'static>,
        name: &str,
        now: i64,
    ) -> Result<(), CertificateError> {
        let verifier = Verifier::new(vec![bundle.clone()], Arc::new(default_provider())).unwrap();
        let now = UnixTime::since_unix_epoch(std::time::Duration::from_secs(now.unsigned_abs()));
        match verifier.verify_server_cert(own, &[], &ServerName::try_from(name.to_owned()).unwrap(), &[], now) {
            Ok(_) => Ok(()),
            Err(Error::InvalidCertificate(why)) => Err(why),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn a_certificate_in_the_bundle_is_trusted_for_its_names_and_its_time() {
        for own in [
            // As envtest makes it; as `openssl req -x509` does; with every purpose.
            certificate("an authority", &[purpose(SERVER_AUTH)]),
            certificate("own", &[authority()]),
            certificate("own", &[authority(), purpose(ANY)]),
        ] {
            assert_eq!(verified(&own, &own, "localhost", FROM + 1), Ok(()));
            let elsewhere = verified(&own, &own, "example.com", FROM + 1);
            assert!(
                matches!(elsewhere, Err(CertificateError::NotValidForNameContext { .. })),
                "{elsewhere:?}"
            );
            let late = verified(&own, &own, "localhost", TO + 1);
            assert!(matches!(late, Err(CertificateError::ExpiredContext { .. })), "{late:?}");
        }
    }

    #[test]
    fn another_certificate_and_one_of_a_client_are_refused() {
        let trusted = certificate("an authority", &[purpose(SERVER_AUTH)]);
        let other = certificate("an authority", &[purpose(SERVER_AUTH)]);
        assert_eq!(
            verified(&trusted, &other, "localhost", FROM + 1),
            Err(CertificateError::UnknownIssuer)
        );
        for extensions in [vec![purpose(CLIENT_AUTH)], vec![authority(), purpose(CLIENT_AUTH)]] {
            let client = certificate("own", &extensions);
            assert!(verified(&client, &client, "localhost", FROM + 1).is_err());
        }
    }
}
