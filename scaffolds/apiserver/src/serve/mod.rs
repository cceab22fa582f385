//! The server over HTTPS on loopback, for kubectl, curl and clients in every language: with its own certificate
//! authority, and a kubeconfig with a token or a client certificate of the administrator. It speaks HTTP/1.1, WebSockets for
//! watches and, with the feature `http2`, HTTP/2.

mod answers;
pub(crate) mod certificate;
mod compress;
mod connection;
mod given;
mod http1;
#[cfg(feature = "http2")]
mod http2;
mod identity;
pub(crate) mod kubeconfig;
mod private;
mod tls;
mod websocket;

pub use given::{Certificates, Endpoint, PemError};
#[cfg(feature = "http2")]
pub use http2::STREAMS;
pub use private::{TemporaryFolder, random_token};

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    time::Duration,
};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

use crate::server::ApiServer;
use certificate::{Authority, Issued};
use tls::Handshakes;

/// The time that a shutdown waits for answers in progress.
const GRACE: Duration = Duration::from_secs(1);

/// A socket on 127.0.0.1 that already listens, and the certificates for it. Clients that connect wait until
/// [`Listener::serve`].
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    authority: Authority,
    server: Issued,
    admin: Issued,
    token: Option<String>,
}

/// The reason that the server cannot be reached.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The socket cannot listen, for example because the port is taken.
    #[error("cannot listen on {address}")]
    Listen {
        /// The requested address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The certificates could not be made.
    #[error("cannot make certificates: {0}")]
    Certificates(String),
    /// The file has something else, which would be lost: the credentials of other clusters, for example.
    #[error(
        "`{0}` exists, and is not a kubeconfig that kubewright has written\n\nhint: name another file, or delete this one"
    )]
    NotOurs(String),
    /// The kubeconfig could not be written.
    #[error("cannot write the kubeconfig `{path}`")]
    Kubeconfig {
        /// The file that could not be written.
        path: String,
        /// The system's error.
        source: io::Error,
    },
}

impl Listener {
    /// Listens on 127.0.0.1, never on another address: whoever has the kubeconfig may do everything. Port 0 takes a free
    /// one. The kubeconfig has `token`, which every client can read and the server must know ([`Options::tokens`](crate::Options)), or
    /// without one a client certificate with a key of P-256, which some clients cannot read.
    ///
    /// # Errors
    /// [`ServeError`]
    pub async fn bind(port: u16, token: Option<String>) -> Result<Self, ServeError> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let (socket, address) = listen(address).await?;
        let authority = Authority::new().map_err(ServeError::Certificates)?;
        let server = authority
            .server(&[Ipv4Addr::LOCALHOST])
            .map_err(ServeError::Certificates)?;
        let admin = authority
            .client("admin", &[crate::user::MASTERS])
            .map_err(ServeError::Certificates)?;
        Ok(Self {
            socket,
            address,
            authority,
            server,
            admin,
            token,
        })
    }

    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The certificate authority by which clients verify the server, in PEM.
    pub fn certificate_authority(&self) -> String {
        crate::pem::text("CERTIFICATE", &self.authority.certificate)
    }

    /// The administrator's kubeconfig, as YAML. It refers to no other file.
    pub fn kubeconfig(&self) -> String {
        kubeconfig::of_admin(self)
    }

    /// Writes the kubeconfig atomically, readable by its owner only. Only a kubeconfig of an earlier call, or an empty file, is replaced.
    ///
    /// # Errors
    /// [`ServeError::Kubeconfig`]
    pub fn write_kubeconfig(&self, path: &Path) -> Result<(), ServeError> {
        write(path, &self.kubeconfig())
    }

    /// Writes a kubeconfig for a user with this bearer token and without a client certificate, like
    /// [`write_kubeconfig`](Self::write_kubeconfig).
    ///
    /// # Errors
    /// [`ServeError::Kubeconfig`]
    pub fn write_token_kubeconfig(&self, path: &Path, token: &str) -> Result<(), ServeError> {
        write(path, &kubeconfig::of_token(self, token))
    }

    /// Starts to answer requests, in the background.
    ///
    /// # Errors
    /// [`ServeError::Certificates`]
    pub fn serve(self, server: ApiServer) -> Result<Running, ServeError> {
        let handshakes = Handshakes::new(&self.authority, &self.server).map_err(ServeError::Certificates)?;
        Ok(start(self.socket, self.address, handshakes, server))
    }
}

/// A socket that listens on this address, and its address, which differs where the port is 0.
async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), ServeError> {
    let failed = |source| ServeError::Listen { address, source };
    let socket = TcpListener::bind(address).await.map_err(failed)?;
    let own = socket.local_addr().map_err(failed)?;
    Ok((socket, own))
}

/// Answers the requests of a socket, in the background.
fn start(socket: TcpListener, address: SocketAddr, handshakes: Handshakes, server: ApiServer) -> Running {
    let (stop, stopped) = watch::channel(());
    let task = tokio::spawn(connection::accept(socket, handshakes, server, stopped));
    Running { address, stop, task }
}

/// A server that answers over HTTPS; stops at once when dropped.
pub struct Running {
    address: SocketAddr,
    stop: watch::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    /// The address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts no more connections, ends all watches, gives the answers in progress one second to complete, and closes all
    /// connections.
    pub async fn shutdown(mut self) {
        let _ = self.stop.send(());
        if tokio::time::timeout(GRACE, &mut self.task).await.is_err() {
            self.task.abort();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn write(path: &Path, kubeconfig: &str) -> Result<(), ServeError> {
    if !kubeconfig::may_replace(path) {
        return Err(ServeError::NotOurs(path.display().to_string()));
    }
    kubeconfig::write(path, kubeconfig).map_err(|source| ServeError::Kubeconfig {
        path: path.display().to_string(),
        source,
    })
}

/// Sends answers at once, without waiting to fill a packet.
fn hurry(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
}
