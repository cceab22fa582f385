//! The lightest client that still speaks HTTPS: it sends requests that are ready and reads answers to their end without
//! looking at what is in them. A client that decodes them takes more of the machine than the server that it measures.

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use kube::{Config, client::ConfigExt};
use secrecy::ExposeSecret;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, rustls::pki_types::ServerName};

/// A request of which only the path and the body differ from others.
pub struct Sent {
    pub method: &'static str,
    pub path: String,
    pub content_type: &'static str,
    pub body: Bytes,
}

/// Connections to a server, one for each request under way.
pub struct Wire {
    host: String,
    /// The header `Authorization`, where the kubeconfig has a token.
    token: Option<String>,
    connections: Vec<SendRequest<Full<Bytes>>>,
}

impl Wire {
    /// So many connections to the server of a kubeconfig, as the user of its certificate or token.
    pub async fn open(config: &Config, connections: usize) -> Result<Self> {
        let url = &config.cluster_url;
        let host = url.authority().context("a server has an address")?.to_string();
        let tls = TlsConnector::from(Arc::new(config.rustls_client_config()?));
        let name = ServerName::try_from(url.host().context("a server has a name")?.to_owned())?;
        let mut open = Vec::new();
        for _ in 0..connections {
            let socket = TcpStream::connect(&host).await?;
            socket.set_nodelay(true)?;
            let (sender, connection) = handshake(TokioIo::new(tls.connect(name.clone(), socket).await?)).await?;
            tokio::spawn(connection);
            open.push(sender);
        }
        let token = config.auth_info.token.as_ref();
        Ok(Self {
            host,
            token: token.map(|token| format!("Bearer {}", token.expose_secret())),
            connections: open,
        })
    }

    /// Sends all of them, as many at a time as there are connections; each must be answered with success.
    pub async fn send(&mut self, requests: Vec<Sent>) -> Result<()> {
        let requests = std::cell::RefCell::new(requests.into_iter());
        let (to, requests) = ((self.host.as_str(), self.token.as_deref()), &requests);
        let working = self.connections.iter_mut().map(|connection| async move {
            loop {
                let next = requests.borrow_mut().next();
                let Some(sent) = next else { return Ok(()) };
                exchange(connection, to, sent).await?;
            }
        });
        let working: Vec<_> = working.collect();
        let at_once = working.len().max(1);
        stream::iter(working).buffer_unordered(at_once).try_collect().await
    }
}

async fn exchange(
    connection: &mut SendRequest<Full<Bytes>>,
    (host, token): (&str, Option<&str>),
    sent: Sent,
) -> Result<()> {
    let mut request = Request::builder()
        .method(sent.method)
        .uri(&sent.path)
        .header(header::HOST, host)
        .header(header::CONTENT_TYPE, sent.content_type)
        .header(header::ACCEPT, "application/json")
        .header(header::USER_AGENT, "speed/1");
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, token);
    }
    connection.ready().await?;
    let mut answer = connection.send_request(request.body(Full::new(sent.body))?).await?;
    ensure!(
        answer.status().is_success(),
        "{} {}: {}",
        sent.method,
        sent.path,
        answer.status()
    );
    while let Some(frame) = answer.body_mut().frame().await {
        frame?;
    }
    Ok(())
}
