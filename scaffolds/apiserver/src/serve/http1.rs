//! A connection of HTTP/1.1.

use std::sync::{Mutex, PoisonError};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::{
    answers::Answers,
    connection::{HEADERS, IDLE},
    websocket,
};

/// Answers the requests of one connection, one after the other, until the client ends it, it becomes a WebSocket and that ends,
/// or the server stops.
pub async fn converse(stream: TlsStream<TcpStream>, answers: Answers) {
    let mut stop = answers.stop.clone();
    let watch = Mutex::new(None);
    let service = service_fn(|request| websocket::answer(&answers, request, &watch));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // Hyper counts from the end of the last request. Upstream, the headers alone have 32 seconds (`ReadHeaderTimeout`).
        .header_read_timeout(IDLE)
        .max_buf_size(HEADERS)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    {
        let mut connection = std::pin::pin!(connection);
        // An error of the connection concerns the client alone.
        tokio::select! {
            _ = connection.as_mut() => {}
            _ = stop.changed() => {
                connection.as_mut().graceful_shutdown();
                let _ = connection.await;
            }
        }
    }
    let watch = watch.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(watch) = watch {
        watch.send().await;
    }
}
