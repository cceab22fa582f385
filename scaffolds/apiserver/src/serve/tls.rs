//! TLS: the server presents its certificate, and clients may present one of the same authority.

use std::sync::Arc;

use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        RootCertStore, ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivatePkcs8KeyDer},
        server::WebPkiClientVerifier,
    },
};

use super::certificate::{Authority, Issued};

/// Accepts connections with and without client certificates; a certificate of another authority ends the handshake.
pub fn acceptor(authority: &Authority, server: &Issued) -> Result<TlsAcceptor, String> {
    let root = CertificateDer::from(authority.certificate.clone());
    let mut roots = RootCertStore::empty();
    roots.add(root.clone()).map_err(|error| error.to_string())?;
    let provider = Arc::new(ring::default_provider());
    let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
        .allow_unauthenticated()
        .build()
        .map_err(|error| error.to_string())?;
    let chain = vec![CertificateDer::from(server.certificate.clone()), root];
    let key = PrivatePkcs8KeyDer::from(server.key.clone());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_client_cert_verifier(clients)
        .with_single_cert(chain, key.into())
        .map_err(|error| error.to_string())?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
