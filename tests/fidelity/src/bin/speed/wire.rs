//! A minimal HTTPS client: sends prepared requests and reads answers without decoding them. A client that decodes
//! answers uses more CPU time than the server that it measures.

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use http::{Request, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use kube::{Config, client::ConfigExt};
use secrecy::ExposeSecret;
use serde_json::Value;
use std::sync::Arc;
use tokio::{net::TcpStream, task::JoinSet};
use tokio_rustls::{TlsConnector, rustls::pki_types::ServerName};

/// A request.
pub struct Sent {
    pub method: &'static str,
    pub path: String,
    pub accept: &'static str,
    pub content_type: &'static str,
    pub body: Bytes,
}

impl Sent {
    /// A request without a body.
    pub fn new(method: &'static str, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            accept: JSON,
            content_type: JSON,
            body: Bytes::new(),
        }
    }

    /// A POST of an object.
    pub fn post(path: impl Into<String>, body: &Value) -> Self {
        Self {
            body: Bytes::from(body.to_string()),
            ..Self::new("POST", path)
        }
    }

    /// A merge patch.
    pub fn merge(path: impl Into<String>, body: &Value) -> Self {
        Self {
            content_type: "application/merge-patch+json",
            body: Bytes::from(body.to_string()),
            ..Self::new("PATCH", path)
        }
    }

    /// A forced server-side apply.
    pub fn apply(path: &str, body: &Value) -> Self {
        Self {
            content_type: "application/apply-patch+yaml",
            body: Bytes::from(body.to_string()),
            ..Self::new("PATCH", format!("{path}?fieldManager=operator&force=true"))
        }
    }
}

const JSON: &str = "application/json";

/// Connections to a server, one for each concurrent request.
pub struct Wire {
    host: String,
    /// The header `Authorization`, if the kubeconfig has a token.
    token: Option<String>,
    connections: Vec<SendRequest<Full<Bytes>>>,
}

impl Wire {
    /// Opens this number of connections to the server of a kubeconfig, as the user of its certificate or token.
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

    /// Sends all requests, one at a time on each connection; each must succeed.
    pub async fn send(&mut self, requests: Vec<Sent>) -> Result<()> {
        self.each(requests, false).await.map(|_| ())
    }

    /// The same; returns the answers in the order of the requests.
    pub async fn ask(&mut self, requests: Vec<Sent>) -> Result<Vec<Bytes>> {
        let mut answers = self.each(requests, true).await?;
        answers.sort_unstable_by_key(|(at, _)| *at);
        Ok(answers.into_iter().map(|(_, answer)| answer).collect())
    }

    /// Sends one request, and returns the answer.
    pub async fn one(&mut self, request: Sent) -> Result<Bytes> {
        let to = (self.host.as_str(), self.token.as_deref());
        let connection = self.connections.first_mut().context("a wire has a connection")?;
        exchange(connection, to, (request, true)).await
    }

    /// Sends a GET on every connection, and reads the answers until the returned tasks are dropped: watches.
    pub async fn watch(mut self, path: &str) -> Result<JoinSet<()>> {
        let mut watching = JoinSet::new();
        for mut connection in self.connections.drain(..) {
            let request = request(&self.host, self.token.as_deref(), Sent::new("GET", path))?;
            let mut answer = connection.send_request(request).await?;
            ensure!(answer.status().is_success(), "{path}: {}", answer.status());
            watching.spawn(async move {
                // The connection ends when its sender is dropped.
                let _connection = connection;
                while answer.body_mut().frame().await.is_some_and(|frame| frame.is_ok()) {}
            });
        }
        Ok(watching)
    }

    async fn each(&mut self, requests: Vec<Sent>, is_read: bool) -> Result<Vec<(usize, Bytes)>> {
        let requests = std::cell::RefCell::new(requests.into_iter().enumerate());
        let (to, requests) = ((self.host.as_str(), self.token.as_deref()), &requests);
        let working = self.connections.iter_mut().map(|connection| async move {
            let mut answers = Vec::new();
            loop {
                let next = requests.borrow_mut().next();
                let Some((at, sent)) = next else {
                    return Ok::<_, anyhow::Error>(answers);
                };
                answers.push((at, exchange(connection, to, (sent, is_read)).await?));
            }
        });
        let working: Vec<_> = working.collect();
        let at_once = working.len().max(1);
        let answers: Vec<Vec<_>> = stream::iter(working).buffer_unordered(at_once).try_collect().await?;
        Ok(answers.into_iter().flatten().collect())
    }
}

/// Sends a request, and returns the answer's body if `is_read`; otherwise discards it.
async fn exchange(
    connection: &mut SendRequest<Full<Bytes>>,
    (host, token): (&str, Option<&str>),
    (sent, is_read): (Sent, bool),
) -> Result<Bytes> {
    let (method, path) = (sent.method, sent.path.clone());
    let request = request(host, token, sent)?;
    connection.ready().await?;
    let mut answer = connection.send_request(request).await?;
    ensure!(answer.status().is_success(), "{method} {path}: {}", answer.status());
    if is_read {
        return Ok(answer.into_body().collect().await?.to_bytes());
    }
    while let Some(frame) = answer.body_mut().frame().await {
        frame?;
    }
    Ok(Bytes::new())
}

fn request(host: &str, token: Option<&str>, sent: Sent) -> Result<Request<Full<Bytes>>> {
    let mut request = Request::builder()
        .method(sent.method)
        .uri(&sent.path)
        .header(header::HOST, host)
        .header(header::CONTENT_TYPE, sent.content_type)
        .header(header::ACCEPT, sent.accept)
        .header(header::USER_AGENT, "speed/1");
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, token);
    }
    Ok(request.body(Full::new(sent.body))?)
}
