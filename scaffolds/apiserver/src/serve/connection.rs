//! Connections, whose clients are not trusted: their number, their handshakes, their headers and their idle time are
//! limited.

use std::{convert::Infallible, sync::Arc, time::Duration};

use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tower::Service;

use super::{compress, hurry, identity};
use crate::{auth::Peer, server::ApiServer};

/// Connections open at once; each has at most one watch. Further connections wait in the system's queue.
const CONNECTIONS: usize = 16 * 1024;
/// How long a TLS handshake may take; Go's `http.Transport` also gives up after this time.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a client may take for a request's headers (kube-apiserver's `ReadHeaderTimeout`), or be idle between
/// requests.
const HEADERS: Duration = Duration::from_secs(32);
/// Longest request line and headers, in bytes. Upstream uses Go's default, a megabyte.
const BUFFER: usize = 1024 * 1024;

/// Accepts connections until `stop` changes, then waits for the requests in progress. Dropping the future closes all
/// connections.
pub async fn accept(socket: TcpListener, tls: TlsAcceptor, server: ApiServer, mut stop: watch::Receiver<()>) {
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
                let (tls, server, stop) = (tls.clone(), server.clone(), stop.clone());
                open.spawn(async move {
                    hurry(&stream);
                    if let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(stream)).await {
                        converse(stream, server, stop).await;
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

/// Answers the requests of one connection.
async fn converse(stream: TlsStream<TcpStream>, server: ApiServer, mut stop: watch::Receiver<()>) {
    let certificate = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
    let peer = certificate
        .and_then(|certificate| identity::user(certificate))
        .map_or(Peer::Unknown, Peer::Certified);
    let ends = stop.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer.clone());
        let gzip = compress::accepts(request.headers());
        let answer = server.service().call(request);
        let mut stop = ends.clone();
        async move {
            let answer = answer.await?;
            let answer = if gzip { compress::compress(answer) } else { answer };
            // Watches never end by themselves.
            let end = async move { _ = stop.changed().await };
            Ok::<_, Infallible>(answer.map(|body| body.until(end)))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    // An error of the connection concerns the client alone.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stop.changed() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
