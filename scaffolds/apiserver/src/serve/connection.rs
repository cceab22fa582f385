//! Connections, whose clients are not trusted: their number, their handshakes, their headers and their idle time are
//! limited.

use std::{sync::Arc, time::Duration};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_rustls::server::TlsStream;

#[cfg(feature = "http2")]
use super::http2;
use super::{answers::Answers, http1, hurry, identity, tls::Handshakes};
use crate::{auth::Peer, server::ApiServer};

/// Connections open at once. Further connections wait in the system's queue.
const CONNECTIONS: usize = 16 * 1024;
/// The time that a TLS handshake may take; Go's `http.Transport` also gives up after this time.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// The time that a connection may have no request in progress (`IdleTimeout` of apiserver's `pkg/server/secure_serving.go`).
pub const IDLE: Duration = Duration::from_secs(90);
/// Longest headers of a request, in bytes. Upstream uses Go's default, a megabyte.
pub const HEADERS: usize = 1024 * 1024;

/// Accepts connections until `stop` changes, then waits for the requests in progress. Dropping the future closes all
/// connections.
pub async fn accept(socket: TcpListener, handshakes: Handshakes, server: ApiServer, mut stop: watch::Receiver<()>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut open = JoinSet::new();
    loop {
        while open.try_join_next().is_some() {}
        let next = async {
            // Never fails: the semaphore is never closed.
            let place = Arc::clone(&places).acquire_owned().await;
            (place, socket.accept().await)
        };
        let (place, accepted) = tokio::select! {
            next = next => next,
            _ = stop.changed() => break,
        };
        match accepted {
            Ok((stream, _)) => {
                let (handshakes, server, stop) = (handshakes.clone(), server.clone(), stop.clone());
                open.spawn(async move {
                    hurry(&stream);
                    if let Ok(Ok(stream)) = timeout(HANDSHAKE, handshakes.acceptor.accept(stream)).await {
                        let answers = Answers {
                            server,
                            peer: peer(&stream),
                            stop,
                        };
                        converse(stream, answers, &handshakes).await;
                    }
                    drop(place);
                });
            }
            // Most likely out of file descriptors: wait, because retrying at once would spin.
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
    drop(socket);
    while open.join_next().await.is_some() {}
}

/// Whom the client's certificate names.
fn peer(stream: &TlsStream<TcpStream>) -> Peer {
    let certificate = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
    certificate
        .and_then(|certificate| identity::user(certificate))
        .map_or(Peer::Unknown, Peer::Certified)
}

/// Answers the requests of one connection, in the protocol that the handshake has agreed on.
#[cfg_attr(not(feature = "http2"), allow(unused_variables, reason = "there is one protocol"))]
async fn converse(stream: TlsStream<TcpStream>, answers: Answers, handshakes: &Handshakes) {
    #[cfg(feature = "http2")]
    if let Some(streams) = handshakes.streams
        && stream.get_ref().1.alpn_protocol() == Some(http2::NAME)
    {
        return http2::converse(stream, answers, streams).await;
    }
    http1::converse(stream, answers).await;
}
