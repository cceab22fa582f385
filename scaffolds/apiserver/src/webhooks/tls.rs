//! Verifies the certificates of webhooks, and words what is wrong with them as Go does.

use std::{io, sync::Arc};

use kubewright_machinery::time;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, Error, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};

use super::verifier::Verifier;

/// The authorities that may sign a webhook's certificate: its `caBundle` alone, because the server has no authorities of the system.
#[derive(Clone, Debug)]
pub(super) struct Trust(pub Arc<ClientConfig>);

impl Trust {
    /// Reads a bundle of certificates in PEM; it may be empty.
    ///
    /// # Errors
    /// When there is no certificate in it.
    pub fn read(bundle: &[u8]) -> Result<Self, String> {
        const UNREADABLE: &str = "unable to load root certificates: unable to parse bytes as PEM block";
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let config = match bundle.is_empty() {
            true => config.with_root_certificates(RootCertStore::empty()),
            false => {
                // A certificate that cannot be read is left out, as in Go.
                let certificates = CertificateDer::pem_slice_iter(bundle).flatten().collect();
                let verifier = Verifier::new(certificates, provider).map_err(|_| UNREADABLE)?;
                // The danger is to trust more than webpki does; `Verifier` describes the difference.
                config.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
            }
        };
        let mut config = config.with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(Arc::new(config)))
    }
}

/// The reason that a handshake failed.
pub(super) fn words(error: &io::Error, host: &str) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    match inner {
        Some(Error::InvalidCertificate(why)) => {
            format!("tls: failed to verify certificate: x509: {}", certificate(why, host))
        }
        Some(Error::InvalidMessage(_)) => "http: server gave HTTP response to HTTPS client".to_owned(),
        Some(Error::AlertReceived(alert)) => format!("remote error: tls: {alert:?}"),
        Some(other) => format!("tls: {other}"),
        None if error.kind() == io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
        None => error.to_string(),
    }
}

fn certificate(why: &CertificateError, host: &str) -> String {
    match why {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "certificate signed by unknown authority".to_owned()
        }
        CertificateError::NotValidForNameContext { presented, .. } => name(presented, host),
        CertificateError::NotValidForName => name(&[], host),
        CertificateError::ExpiredContext { time, not_after } => expired(*time, "after", *not_after),
        CertificateError::NotValidYetContext { time, not_before } => expired(*time, "before", *not_before),
        other => other.to_string(),
    }
}

fn expired(now: UnixTime, side: &str, limit: UnixTime) -> String {
    let text = |at: UnixTime| time::text(i64::try_from(at.as_secs()).unwrap_or(i64::MAX));
    let (now, limit) = (text(now), text(limit));
    format!("certificate has expired or is not yet valid: current time {now} is {side} {limit}")
}

/// `presented` are names such as `DnsName("a")` and `IpAddress(127.0.0.1)`.
fn name(presented: &[String], host: &str) -> String {
    let inner = |text: &str| {
        let text = text.split_once('(').map_or(text, |(_, rest)| rest);
        text.trim_end_matches(')').trim_matches('"').to_owned()
    };
    let of = |kind: &str| -> Vec<String> {
        let named = presented.iter().filter(|name| name.starts_with(kind));
        named.map(|name| inner(name)).collect()
    };
    let is_address = matches!(ServerName::try_from(host), Ok(ServerName::IpAddress(_)));
    let valid = if is_address { of("IpAddress") } else { of("DnsName") };
    match (valid.is_empty(), is_address) {
        (true, true) => format!("cannot validate certificate for {host} because it doesn't contain any IP SANs"),
        (true, false) => format!("certificate is not valid for any names, but wanted to match {host}"),
        (false, _) => format!("certificate is valid for {}, not {host}", valid.join(", ")),
    }
}
