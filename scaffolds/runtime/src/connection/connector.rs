//! Connections through a proxy. An HTTP proxy forwards requests to `http` servers, and opens a tunnel to `https` servers with
//! CONNECT, as Go's `net/http` uses it. A SOCKS proxy opens a tunnel to both.

use std::{
    future::Future,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::{
    HeaderValue, Request, Uri,
    header::{HOST, PROXY_AUTHORIZATION},
};
use hyper::{
    client::conn::http1,
    rt::{Read, ReadBufCursor, Write},
    upgrade::Upgraded,
};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use kube::client::Body;
use tower::{BoxError, Service};

use super::{proxy::Proxy, socks};

/// Connects to servers through one proxy.
#[derive(Clone)]
pub(super) struct Connector {
    dial: HttpsConnector<HttpConnector>,
    proxy: Arc<Proxy>,
    limit: Option<Duration>,
}

impl Connector {
    /// Connects to the proxy with `dial`. A tunnel has to be open within `limit`.
    pub(super) fn new(dial: HttpsConnector<HttpConnector>, proxy: Proxy, limit: Option<Duration>) -> Self {
        Self {
            dial,
            proxy: Arc::new(proxy),
            limit,
        }
    }
}

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.dial.poll_ready(cx)
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let (proxy, limit) = (self.proxy.clone(), self.limit);
        let connecting = self.dial.call(proxy.address.clone());
        let opened = async move {
            let io = connecting.await?;
            let is_https = server.scheme_str() == Some("https");
            let host = server.host().unwrap_or_default();
            let port = server.port_u16().unwrap_or(if is_https { 443 } else { 80 });
            match (proxy.is_socks, is_https) {
                (true, _) => Ok(Stream::tunnel(socks::open(io, host, port, &proxy.credentials).await?)),
                (false, true) => Ok(Stream::tunnel(
                    connect(io, &format!("{host}:{port}"), proxy.authorization()).await?,
                )),
                (false, false) => Ok(Stream::forwarding(io)),
            }
        };
        let address = self
            .proxy
            .address
            .authority()
            .map(ToString::to_string)
            .unwrap_or_default();
        Box::pin(async move {
            let opened = match limit {
                Some(limit) => tokio::time::timeout(limit, opened)
                    .await
                    .unwrap_or_else(|_| Err(format!("no tunnel within {} s", limit.as_secs()).into())),
                None => opened.await,
            };
            opened.map_err(|why: BoxError| io::Error::other(format!("proxy `{address}`: {}", deepest(&*why))).into())
        })
    }
}

/// The innermost cause: `connection refused` instead of `client error`.
fn deepest(error: &(dyn std::error::Error + 'static)) -> String {
    error.source().map_or_else(|| error.to_string(), deepest)
}

/// Opens a tunnel to `server`, a host with its port.
async fn connect<T>(io: T, server: &str, authorization: Option<HeaderValue>) -> Result<Upgraded, BoxError>
where
    T: Read + Write + Send + Unpin + 'static,
{
    let (mut sender, connection) = http1::handshake(io).await?;
    tokio::spawn(connection.with_upgrades());
    let mut request = Request::connect(server).header(HOST, server).body(Body::empty())?;
    if let Some(authorization) = authorization {
        request.headers_mut().insert(PROXY_AUTHORIZATION, authorization);
    }
    let response = sender.send_request(request).await?;
    match response.status() {
        status if status.is_success() => Ok(hyper::upgrade::on(response).await?),
        status => Err(format!("it answers `{status}` to `CONNECT {server}`").into()),
    }
}

trait Io: Read + Write + Send + Unpin {}
impl<T: Read + Write + Send + Unpin> Io for T {}

/// A connection to the proxy, or through it.
pub(super) struct Stream {
    io: Box<dyn Io>,
    /// Whether the proxy forwards requests: then their first line contains the whole URL.
    forwards: bool,
}

impl Stream {
    fn tunnel(io: impl Read + Write + Send + Unpin + 'static) -> Self {
        let io = Box::new(io);
        Self { io, forwards: false }
    }

    fn forwarding(io: impl Read + Write + Send + Unpin + 'static) -> Self {
        let io = Box::new(io);
        Self { io, forwards: true }
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new().proxy(self.forwards)
    }
}

impl Read for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl Write for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
