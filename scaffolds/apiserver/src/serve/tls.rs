//! TLS: the server presents its certificate, clients may present one of the authorities that it knows, and both agree on a
//! protocol.

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

#[cfg(feature = "http2")]
use super::http2;
use super::{
    certificate::{Authority, Issued},
    given::Certificates,
};

/// The name of HTTP/1.1 in handshakes (RFC 7301, 6). Clients that name no protocol speak it, too.
const HTTP1: &[u8] = b"http/1.1";

/// The handshakes of new connections.
#[derive(Clone)]
pub struct Handshakes {
    pub acceptor: TlsAcceptor,
    /// The maximum of requests in progress on a connection of HTTP/2; `None` if HTTP/2 is not offered.
    #[cfg(feature = "http2")]
    pub streams: Option<u32>,
}

impl Handshakes {
    /// With and without client certificates; a certificate of another authority ends the handshake.
    pub fn new(authority: &Authority, server: &Issued) -> Result<Self, String> {
        let root = CertificateDer::from(authority.certificate.clone());
        Self::with(Certificates {
            chain: vec![CertificateDer::from(server.certificate.clone()), root.clone()],
            key: PrivateKeyDer::from(PrivatePkcs8KeyDer::from(server.key.clone())),
            authorities: vec![root],
        })
    }

    /// The same with certificates of others. Without authorities no client certificate is requested.
    pub fn with(certificates: Certificates) -> Result<Self, String> {
        let mut config = config(certificates)?;
        config.alpn_protocols = vec![HTTP1.to_vec()];
        let handshakes = Self {
            acceptor: TlsAcceptor::from(Arc::new(config)),
            #[cfg(feature = "http2")]
            streams: None,
        };
        #[cfg(feature = "http2")]
        let handshakes = handshakes.offering_http2(Some(http2::STREAMS));
        Ok(handshakes)
    }

    /// The same with HTTP/2, which is preferred to HTTP/1.1, and this many requests in progress on a connection; `None`
    /// without HTTP/2.
    #[cfg(feature = "http2")]
    pub fn offering_http2(self, streams: Option<u32>) -> Self {
        let mut config = self.acceptor.config().as_ref().clone();
        let preferred = streams.map(|_| http2::NAME);
        config.alpn_protocols = preferred.into_iter().chain([HTTP1]).map(<[u8]>::to_vec).collect();
        Self {
            acceptor: TlsAcceptor::from(Arc::new(config)),
            streams,
        }
    }
}

fn config(certificates: Certificates) -> Result<ServerConfig, String> {
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
    builder
        .with_single_cert(certificates.chain, certificates.key)
        .map_err(text)
}
