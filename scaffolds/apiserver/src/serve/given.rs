//! Serves in the place of kube-apiserver, at the caller's address and with the caller's certificates.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use tokio::net::TcpListener;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

use super::{Running, ServeError, certificate::Authority, listen, start, tls::Handshakes};
use crate::{pem, server::ApiServer};

/// The certificate of a server with its key, and the authorities whose client certificates it accepts.
pub struct Certificates {
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) key: PrivateKeyDer<'static>,
    pub(super) authorities: Vec<CertificateDer<'static>>,
}

/// The reason that a text in PEM is of no use.
#[derive(Debug, thiserror::Error)]
pub enum PemError {
    /// There is no certificate, or a damaged one.
    #[error("it has no certificate in PEM")]
    Certificate,
    /// There is no private key, or a damaged one.
    #[error("it has no private key in PEM")]
    Key,
}

impl Certificates {
    /// From two texts in PEM: the server's certificate, with those of its issuers behind it, and its private key.
    ///
    /// # Errors
    /// [`PemError`] for a text without them. Whether they belong together is checked by [`Endpoint::bind`].
    pub fn from_pem(chain: &str, key: &str) -> Result<Self, PemError> {
        Ok(Self {
            chain: certificates(chain)?,
            key: PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|_| PemError::Key)?,
            authorities: Vec::new(),
        })
    }

    /// A new certificate, valid for a year for `localhost`, 127.0.0.1 and this address (if it is one of IPv4), and its
    /// key, with both as text in PEM. The key of its authority is forgotten.
    ///
    /// # Errors
    /// [`ServeError::Certificates`]
    pub fn generate(address: IpAddr) -> Result<(Self, [String; 2]), ServeError> {
        let own = match address {
            IpAddr::V4(address) if !address.is_unspecified() => address,
            _ => Ipv4Addr::LOCALHOST,
        };
        let authority = Authority::new().map_err(ServeError::Certificates)?;
        let issued = authority
            .server(&[Ipv4Addr::LOCALHOST, own])
            .map_err(ServeError::Certificates)?;
        let chain = pem::text("CERTIFICATE", &issued.certificate) + &pem::text("CERTIFICATE", &authority.certificate);
        let key = pem::text("PRIVATE KEY", &issued.key);
        let made = Self::from_pem(&chain, &key).map_err(|error| ServeError::Certificates(error.to_string()))?;
        Ok((made, [chain, key]))
    }

    /// The last certificate of the server's chain, in PEM: a client that trusts it can verify the server.
    pub fn authority(&self) -> String {
        let last = self.chain.last();
        last.map_or_else(String::new, |it| pem::text("CERTIFICATE", it))
    }

    /// Accepts client certificates of the authorities in this text, too.
    ///
    /// # Errors
    /// [`PemError::Certificate`]
    pub fn with_clients_of(mut self, authorities: &str) -> Result<Self, PemError> {
        self.authorities.extend(certificates(authorities)?);
        Ok(self)
    }
}

/// All certificates of a text; at least one.
fn certificates(text: &str) -> Result<Vec<CertificateDer<'static>>, PemError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    let found = found.map_err(|_| PemError::Certificate)?;
    match found.is_empty() {
        true => Err(PemError::Certificate),
        false => Ok(found),
    }
}

/// A socket that already listens. Clients that connect wait until [`Endpoint::serve`].
pub struct Endpoint {
    socket: TcpListener,
    address: SocketAddr,
    handshakes: Handshakes,
}

impl Endpoint {
    /// Listens on this address; port 0 takes a free one. A client without credentials is `system:anonymous`, whatever
    /// the address is.
    ///
    /// # Errors
    /// [`ServeError`]
    pub async fn bind(address: SocketAddr, certificates: Certificates) -> Result<Self, ServeError> {
        let handshakes = Handshakes::with(certificates).map_err(ServeError::Certificates)?;
        let (socket, address) = listen(address).await?;
        Ok(Self {
            socket,
            address,
            handshakes,
        })
    }

    /// The maximum of a client's requests in progress on one connection of HTTP/2: 100 by default, as in kube-apiserver.
    /// A watch is a request in progress. `None` serves HTTP/1.1 only.
    #[cfg(feature = "http2")]
    pub fn with_http2(mut self, streams: Option<u32>) -> Self {
        self.handshakes = self.handshakes.offering_http2(streams);
        self
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts to answer requests, in the background.
    pub fn serve(self, server: ApiServer) -> Running {
        start(self.socket, self.address, self.handshakes, server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authority_is_the_last_certificate_of_the_chain() {
        let (made, [chain, _]) = Certificates::generate(Ipv4Addr::LOCALHOST.into()).unwrap();
        let authority = made.authority();
        assert!(chain.ends_with(&authority) && chain.len() > authority.len());
        assert_eq!(certificates(&authority).unwrap(), made.chain[1..]);
    }
}
