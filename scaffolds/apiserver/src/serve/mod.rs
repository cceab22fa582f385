//! The server over HTTPS on loopback, for kubectl, curl and clients of every language: with a certificate authority of its
//! own, a client certificate for the administrator, and a kubeconfig that has them.

mod certificate;
mod compress;
mod connection;
mod der;
mod identity;
mod kubeconfig;
mod private;
mod tls;

pub use private::TemporaryFolder;

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

/// How long a shutdown waits for answers that are under way. Watches never end by themselves.
const GRACE: Duration = Duration::from_secs(1);

/// A socket of 127.0.0.1 that listens already, and the certificates for it. Whoever connects waits until
/// [`Listener::serve`].
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    authority: Authority,
    server: Issued,
    admin: Issued,
    token: Option<String>,
}

/// Why the server cannot be reached.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The port is taken, for example.
    #[error("cannot listen on 127.0.0.1:{port}")]
    Listen {
        /// The port asked for.
        port: u16,
        /// What the system says.
        source: io::Error,
    },
    /// No certificate could be made.
    #[error("cannot make certificates: {0}")]
    Certificates(String),
    /// The kubeconfig could not be written.
    #[error("cannot write the kubeconfig `{path}`")]
    Kubeconfig {
        /// Where to.
        path: String,
        /// What the system says.
        source: io::Error,
    },
}

impl Listener {
    /// Listens on 127.0.0.1, never on another address: whoever has the kubeconfig may do everything. Port 0 takes a free
    /// one. The kubeconfig has `token`, when there is one, beside the client certificate; the server must know it, see
    /// [`Options::tokens`](crate::server::Options).
    ///
    /// # Errors
    /// [`ServeError`]
    pub async fn bind(port: u16, token: Option<String>) -> Result<Self, ServeError> {
        let listen = |source| ServeError::Listen { port, source };
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(listen)?;
        let address = socket.local_addr().map_err(listen)?;
        let authority = Authority::new().map_err(ServeError::Certificates)?;
        let server = authority.server().map_err(ServeError::Certificates)?;
        let admin = authority
            .client("admin", &[crate::auth::MASTERS])
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

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The kubeconfig of the administrator, as YAML. All that is needed stands in it.
    pub fn kubeconfig(&self) -> String {
        kubeconfig::of_admin(self)
    }

    /// Writes the kubeconfig, readable by its owner only, and whole or not at all.
    ///
    /// # Errors
    /// [`ServeError::Kubeconfig`]
    pub fn write_kubeconfig(&self, path: &Path) -> Result<(), ServeError> {
        write(path, &self.kubeconfig())
    }

    /// Writes a kubeconfig for a user who has this bearer token and no client certificate, as
    /// [`write_kubeconfig`](Self::write_kubeconfig) does.
    ///
    /// # Errors
    /// [`ServeError::Kubeconfig`]
    pub fn write_token_kubeconfig(&self, path: &Path, token: &str) -> Result<(), ServeError> {
        write(path, &kubeconfig::of_token(self, token))
    }

    /// Answers from now on, in the background.
    ///
    /// # Errors
    /// [`ServeError::Certificates`]
    pub fn serve(self, server: ApiServer) -> Result<Running, ServeError> {
        let tls = tls::acceptor(&self.authority, &self.server).map_err(ServeError::Certificates)?;
        let (stop, stopped) = watch::channel(());
        let task = tokio::spawn(connection::accept(self.socket, (tls, server), stopped));
        Ok(Running {
            address: self.address,
            stop,
            task,
        })
    }
}

/// A server that answers over HTTPS; stops at once when dropped.
pub struct Running {
    address: SocketAddr,
    stop: watch::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, lets answers under way come to their end for a second, and closes everything.
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
    kubeconfig::write(path, kubeconfig).map_err(|source| ServeError::Kubeconfig {
        path: path.display().to_string(),
        source,
    })
}

/// Answers shall leave at once, not wait for company.
fn hurry(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
}
