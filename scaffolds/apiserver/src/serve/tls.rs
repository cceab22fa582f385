//! TLS: the server presents its certificate, and clients may present one of the authorities that it knows.

use std::sync::Arc;

use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        RootCertStore, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer},
        server::WebPkiClientVerifier,
    },
};

use super::{
    certificate::{Authority, Issued},
    given::Certificates,
};

/// Accepts connections with and without client certificates; a certificate of another authority ends the handshake.
pub fn acceptor(authority: &Authority, server: &Issued) -> Result<TlsAcceptor, String> {
    let root = CertificateDer::from(authority.certificate.clone());
    of(Certificates {
        chain: vec![CertificateDer::from(server.certificate.clone()), root.clone()],
        key: PrivateKeyDer::from(PrivatePkcs8KeyDer::from(server.key.clone())),
        authorities: vec![root],
    })
}

/// The same with certificates of others. Without authorities no client certificate is requested.
pub fn of(certificates: Certificates) -> Result<TlsAcceptor, String> {
    let text = |error: tokio_rustls::rustls::Error| error.to_string();
    let provider = Arc::new(ring::default_provider());
    let mut roots = RootCertStore::empty();
    for authority in certificates.authorities {
        roots.add(authority).map_err(text)?;
    }
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(text)?;
    let builder = match roots.is_empty() {
        true => builder.with_no_client_auth(),
        false => {
            let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                .allow_unauthenticated()
                .build()
                .map_err(|error| error.to_string())?;
            builder.with_client_cert_verifier(clients)
        }
    };
    let mut config = builder
        .with_single_cert(certificates.chain, certificates.key)
        .map_err(text)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
