//! A server over HTTPS, and connections to it.
#![cfg(feature = "serve")]

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    time::Duration,
};

use kubewright_apiserver::{
    ApiServer, Options, User,
    serve::{Certificates, Endpoint, Running},
};
use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};

/// The time limit for anything that should happen at once.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// The administrator's token.
pub const TOKEN: &str = "secret";

/// A server, and what its clients need.
pub struct Server {
    pub running: Running,
    roots: RootCertStore,
}

/// A server at an endpoint that is changed first.
pub async fn start_as(change: impl FnOnce(Endpoint) -> Endpoint) -> Server {
    let loopback = IpAddr::from(Ipv4Addr::LOCALHOST);
    let (certificates, [chain, _]) = Certificates::generate(loopback).unwrap();
    let endpoint = change(Endpoint::bind((loopback, 0).into(), certificates).await.unwrap());
    let options = Options {
        tokens: vec![(TOKEN.to_owned(), User::admin())],
        ..Options::default()
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(chain.as_bytes()) {
        roots.add(certificate.unwrap()).unwrap();
    }
    Server {
        running: endpoint.serve(ApiServer::new(options)),
        roots,
    }
}

impl Server {
    /// A connection of a client that names these protocols.
    pub async fn connect(&self, protocols: &[&str]) -> std::io::Result<TlsStream<TcpStream>> {
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(self.roots.clone())
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        let stream = TcpStream::connect(self.running.address()).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }
}
