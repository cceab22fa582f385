//! One call over HTTPS: HTTP/1.1, on a connection of its own.

use std::{io, time::Duration};

use bytes::{Bytes, BytesMut};
use http::{Request, Response, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, runtime::Builder};
use tokio_rustls::{TlsConnector, rustls::pki_types::ServerName};

use super::{Posted, answer::Received, tls};

/// The number of calls of a webhook that asks for more time.
const TRIES: usize = 11;

/// The longest response in bytes. Upstream has no limit.
const LONGEST: usize = 64 * 1024 * 1024;

/// The reason that there is no response.
#[derive(Debug)]
pub(super) enum Lost {
    /// It did not begin.
    Before(String),
    /// It did not end.
    Within(String),
}

/// Posts a body to host and port. Connections and time limits are those of a thread of its own, so the caller's clock may be
/// paused, and its runtime needs no sockets.
///
/// # Errors
/// The reason in Go's words.
pub(super) async fn post(call: Posted, address: String) -> Result<Received, Lost> {
    let work = move || {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Lost::Before(error.to_string()))?;
        runtime.block_on(async {
            tokio::time::timeout(call.timeout, attempts(&call, &address))
                .await
                .unwrap_or_else(|_| Err(late()))
        })
    };
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Lost::Before(error.to_string())))
}

fn late() -> Lost {
    Lost::Before("context deadline exceeded".to_owned())
}

async fn attempts(call: &Posted, address: &str) -> Result<Received, Lost> {
    let mut tries = 1;
    loop {
        let response = send(call, address).await.map_err(Lost::Before)?;
        match wait(&response).filter(|_| tries < TRIES) {
            Some(time) => tokio::time::sleep(time).await,
            None => return receive(response).await.map_err(Lost::Within),
        }
        tries += 1;
    }
}

/// The time that an overloaded webhook asks to wait.
fn wait(response: &Response<Incoming>) -> Option<Duration> {
    let is_overloaded = matches!(response.status().as_u16(), 429 | 500..=599);
    let seconds = response.headers().get(header::RETRY_AFTER)?.to_str().ok()?;
    let seconds = seconds.parse::<u64>().ok().filter(|seconds| *seconds > 0)?;
    is_overloaded.then(|| Duration::from_secs(seconds))
}

async fn send(call: &Posted, address: &str) -> Result<Response<Incoming>, String> {
    let stream = TcpStream::connect(address)
        .await
        .map_err(|error| refused(&error, address))?;
    let host = &call.target.host;
    let name = ServerName::try_from(host.clone()).map_err(|error| error.to_string())?;
    let connector = TlsConnector::from(call.target.trust.0.clone());
    let stream = connector.connect(name, stream).await;
    let stream = stream.map_err(|error| tls::words(&error, host))?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| lost(&error))?;
    let request = Request::post(call.target.path_and_query(call.timeout))
        .header(header::HOST, &call.target.authority)
        .header(header::USER_AGENT, "kube-apiserver-admission")
        .header(header::ACCEPT, "application/json, */*")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(call.body.clone()))
        .map_err(|error| error.to_string())?;
    // It ends when the response is read or dropped.
    tokio::spawn(connection);
    sender.send_request(request).await.map_err(|error| lost(&error))
}

async fn receive(response: Response<Incoming>) -> Result<Received, String> {
    const FAILED: &str = "unexpected error when reading response body. Please retry. Original error:";
    let (parts, mut body) = response.into_parts();
    let mut received = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| match error.is_incomplete_message() {
            true => format!("{FAILED} unexpected EOF"),
            false => format!("{FAILED} {}", lost(&error)),
        })?;
        if let Ok(data) = frame.into_data() {
            if received.len() + data.len() > LONGEST {
                return Err(format!("{FAILED} more than {LONGEST} bytes"));
            }
            received.extend_from_slice(&data);
        }
    }
    let content_type = parts.headers.get(header::CONTENT_TYPE);
    Ok(Received {
        code: parts.status.as_u16(),
        content_type: content_type
            .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .unwrap_or_default(),
        body: Bytes::from(received),
    })
}

fn refused(error: &io::Error, address: &str) -> String {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    match error.kind() {
        io::ErrorKind::ConnectionRefused => format!("dial tcp {address}: connect: connection refused"),
        _ if error.raw_os_error().is_none() => format!("dial tcp: lookup {host}: no such host"),
        _ => format!("dial tcp {address}: {error}"),
    }
}

/// The reason that a connection ended before the response.
fn lost(error: &hyper::Error) -> String {
    let inner = std::error::Error::source(error).and_then(|inner| inner.downcast_ref::<io::Error>());
    match inner {
        Some(error) if error.kind() == io::ErrorKind::ConnectionReset => "read: connection reset by peer".to_owned(),
        _ if error.is_incomplete_message() || error.is_closed() => "EOF".to_owned(),
        Some(error) if error.kind() == io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
        _ if error.is_parse() => "net/http: HTTP/1.x transport connection broken: malformed HTTP response".to_owned(),
        _ => error.to_string(),
    }
}
