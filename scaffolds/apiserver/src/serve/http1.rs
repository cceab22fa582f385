//! A connection of HTTP/1.1.

use std::time::Duration;

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::{answers::Answers, connection::HEADERS};

/// How long a client may take for a request's headers (kube-apiserver's `ReadHeaderTimeout`), or be idle between
/// requests.
const PATIENCE: Duration = Duration::from_secs(32);

/// Answers the requests of one connection, one after the other, until the client ends it or the server stops.
pub async fn converse(stream: TlsStream<TcpStream>, answers: Answers) {
    let mut stop = answers.stop.clone();
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(HEADERS)
        .serve_connection(TokioIo::new(stream), service_fn(|request| answers.to(request)));
    let mut connection = std::pin::pin!(connection);
    // An error of the connection concerns the client alone.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = stop.changed() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}
