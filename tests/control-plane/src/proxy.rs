//! A proxy to the API server with faults: it accepts plain HTTP on loopback, connects to the API server over HTTPS, and
//! injects the faults that a test sets. It passes on the sender's credentials, and has none of its own.

use std::{
    collections::HashMap,
    fs, io,
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result};
use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{HeaderMap, Method, Request, Response, header};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    body::{Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use kube::{
    Client, Config,
    client::Body,
    config::{AuthInfo, KubeConfigOptions, Kubeconfig},
};
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{AbortHandle, JoinHandle},
};

/// The time after which a connection without a request is closed; kube-apiserver's is 90 s, for which no test wants to wait.
pub const IDLE: Duration = Duration::from_secs(30);

type Answer = Response<UnsyncBoxBody<Bytes, kube::Error>>;

/// A fault, which lasts while it is set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// Connections are accepted, but no more data is sent on them, not even their end: a network that drops packets.
    Silent,
    /// Connections are reset as soon as they are accepted.
    Refused,
    /// This share of requests gets a response with this status, and is not passed on; open watches continue.
    Answers {
        /// The status code.
        code: u16,
        /// The header `Retry-After`, in seconds.
        retry_after: Option<u32>,
        /// Percent of the requests.
        share: u64,
    },
    /// Writes are carried out, and the connection is reset before the response.
    LosesAnswers,
    /// Watches of this collection, by its plural name, send nothing, and all other requests are answered: a cache that
    /// lags behind.
    Mute(&'static str),
    /// Watches end with 410, and new ones get 410: the history is compacted.
    Expires,
}

/// A running proxy; it stops, with all its connections, when it is dropped.
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: JoinHandle<()>,
}

struct Shared {
    upstream: Client,
    fault: watch::Sender<Fault>,
    connections: Mutex<HashMap<u64, AbortHandle>>,
    requests: AtomicU64,
    spoilt: AtomicU64,
}

impl Proxy {
    /// Listens on 127.0.0.1, and passes requests on to the API server of a kubeconfig.
    ///
    /// # Errors
    ///
    /// If the kubeconfig cannot be used, or there is no free port.
    pub async fn start(kubeconfig: &Path) -> Result<Self> {
        let file = Kubeconfig::read_from(kubeconfig)?;
        let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
        config.auth_info = AuthInfo::default();
        config.default_retry = false;
        let shared = Arc::new(Shared {
            upstream: Client::try_from(config)?,
            fault: watch::Sender::default(),
            connections: Mutex::default(),
            requests: AtomicU64::new(0),
            spoilt: AtomicU64::new(0),
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let listening = tokio::spawn(listen(listener, shared.clone()));
        Ok(Self {
            address,
            shared,
            listening,
        })
    }

    /// The same kubeconfig with this proxy as the server; it is written next to the other one.
    ///
    /// # Errors
    ///
    /// If it is not one of [`ControlPlane`](crate::ControlPlane)'s.
    pub fn kubeconfig(&self, of: &Path) -> Result<PathBuf> {
        let text = fs::read(of).with_context(|| format!("cannot read `{}`", of.display()))?;
        let mut config: Value = serde_json::from_slice(&text).context("not a kubeconfig of a control plane")?;
        config["clusters"][0]["cluster"] = json!({"server": format!("http://{}", self.address)});
        let path = of.with_extension(format!("{}.kubeconfig", self.address.port()));
        fs::write(&path, config.to_string()).with_context(|| format!("cannot write `{}`", path.display()))?;
        Ok(path)
    }

    /// Sets the fault, until the next call.
    pub fn set(&self, fault: Fault) {
        self.shared.fault.send_replace(fault);
        if fault == Fault::Refused {
            self.reset();
        }
    }

    /// Resets all open connections, even in the middle of a response.
    pub fn reset(&self) -> usize {
        let connections: Vec<_> = self.shared.connections().drain().collect();
        for (_, connection) in &connections {
            connection.abort();
        }
        connections.len()
    }

    /// The number of requests so far, and how many of them had a fault.
    pub fn counts(&self) -> (u64, u64) {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (read(&self.shared.requests), read(&self.shared.spoilt))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listening.abort();
        self.reset();
    }
}

async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    for number in 0_u64.. {
        // For example out of file descriptors: the client retries.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::task::yield_now().await;
            continue;
        };
        // A close then resets the connection: the other end notices at its next read or write.
        _ = stream.set_zero_linger();
        _ = stream.set_nodelay(true);
        if *shared.fault.borrow() == Fault::Refused {
            shared.spoil();
            continue;
        }
        let serving = shared.clone();
        // Locked until the task is registered, so that it cannot end before.
        let mut connections = shared.connections();
        let task = tokio::spawn(async move {
            serve(stream, &serving).await;
            serving.connections().remove(&number);
        });
        connections.insert(number, task.abort_handle());
    }
}

async fn serve(stream: TcpStream, shared: &Arc<Shared>) {
    let service = service_fn(|request| {
        let shared = shared.clone();
        async move { shared.answer(request).await }
    });
    // An error is a connection that ended early, which faults cause.
    _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

impl Shared {
    fn connections(&self) -> std::sync::MutexGuard<'_, HashMap<u64, AbortHandle>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spoil(&self) {
        self.spoilt.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits while the fault `Silent` is set.
    async fn audible(&self) {
        let mut fault = self.fault.subscribe();
        // `self` owns the sender.
        _ = fault.wait_for(|fault| *fault != Fault::Silent).await;
    }

    /// An error resets the connection.
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> io::Result<Answer> {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        let watches = is_watch(&request);
        let path = request.uri().path().to_owned();
        let fault = *self.fault.borrow();
        match fault {
            Fault::None => {}
            Fault::Expires if !watches => {}
            Fault::Mute(_) => {}
            _ => self.spoil(),
        }
        match fault {
            Fault::Silent => self.audible().await,
            Fault::Refused => return Err(io::ErrorKind::ConnectionReset.into()),
            // 37 and 100 have no common divisor: every residue occurs once in a hundred requests.
            Fault::Answers {
                code,
                retry_after,
                share,
            } if number * 37 % 100 < share => {
                return Ok(refusal(code, retry_after));
            }
            Fault::Expires if watches => return Ok(refusal(410, None)),
            _ => {}
        }
        let writes = !matches!(*request.method(), Method::GET | Method::HEAD);
        let answer = self.pass_on(request).await.map_err(io::Error::other)?;
        if fault == Fault::LosesAnswers && writes {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        self.audible().await;
        let watched = watches.then_some(path);
        Ok(answer.map(|body| self.stream(body, watched)))
    }

    async fn pass_on(&self, request: Request<Incoming>) -> kube::Result<Response<Body>> {
        let (mut parts, body) = request.into_parts();
        without_hops(&mut parts.headers);
        let body = body.collect().await.map_err(kube::Error::HyperError)?.to_bytes();
        let mut answer = self.upstream.send(Request::from_parts(parts, Body::from(body))).await?;
        without_hops(answer.headers_mut());
        Ok(answer)
    }

    /// Passes the body on, with the faults.
    fn stream(self: Arc<Self>, body: Body, watched: Option<String>) -> UnsyncBoxBody<Bytes, kube::Error> {
        let fault = self.fault.subscribe();
        let begin = Passing {
            shared: self,
            body,
            fault,
            watched,
            whole: true,
        };
        let frames = stream::unfold(Some(begin), |passing| async { passing?.next().await });
        StreamBody::new(frames.boxed()).boxed_unsync()
    }
}

/// A body that is passed on.
struct Passing {
    shared: Arc<Shared>,
    body: Body,
    fault: watch::Receiver<Fault>,
    /// The path of a watch.
    watched: Option<String>,
    /// Whether the data passed on so far ends at the end of a line.
    whole: bool,
}

type Passed = (kube::Result<Frame<Bytes>>, Option<Passing>);

impl Passing {
    async fn next(mut self) -> Option<Passed> {
        let may_expire = self.watched.is_some() && self.whole;
        let mut fault = self.fault.clone();
        let expires = async { fault.wait_for(|fault| *fault == Fault::Expires).await.is_ok() };
        let frame = tokio::select! {
            frame = self.body.frame() => frame,
            true = expires, if may_expire => {
                self.shared.spoil();
                let event = json!({"type": "ERROR", "object": status(410)});
                return Some((Ok(Frame::data(Bytes::from(format!("{event}\n")))), None));
            }
        };
        self.shared.audible().await;
        self.audible().await;
        let frame = frame?;
        if let Some(data) = frame.as_ref().ok().and_then(Frame::data_ref) {
            self.whole = data.last() == Some(&b'\n');
        }
        Some((frame, Some(self)))
    }

    /// Waits while the watch must not send anything.
    async fn audible(&mut self) {
        let Some(path) = &self.watched else { return };
        let mute = |fault: &Fault| matches!(fault, Fault::Mute(plural) if path.ends_with(&format!("/{plural}")));
        _ = self.fault.wait_for(|fault| !mute(fault)).await;
    }
}

fn is_watch(request: &Request<Incoming>) -> bool {
    let mut query = request.uri().query().unwrap_or_default().split('&');
    query.any(|pair| matches!(pair, "watch=true" | "watch=1"))
}

/// Removes headers that apply to a single connection.
fn without_hops(headers: &mut HeaderMap) {
    for name in [
        header::HOST,
        header::CONNECTION,
        header::TRANSFER_ENCODING,
        header::CONTENT_LENGTH,
    ] {
        headers.remove(name);
    }
}

fn refusal(code: u16, retry_after: Option<u32>) -> Answer {
    let mut answer_status = status(code);
    if let Some(seconds) = retry_after {
        answer_status["details"] = json!({"retryAfterSeconds": seconds});
    }
    let body = Full::new(Bytes::from(answer_status.to_string()));
    let mut answer = Response::new(body.map_err(|never| match never {}).boxed_unsync());
    *answer.status_mut() = http::StatusCode::from_u16(code).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    let headers = answer.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("application/json"),
    );
    if let Some(seconds) = retry_after {
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    answer
}

/// A Status as the API server sends it.
fn status(code: u16) -> Value {
    let reason = match code {
        410 => "Expired",
        429 => "TooManyRequests",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        _ => "InternalError",
    };
    json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "message": "made up by the proxy", "reason": reason, "code": code,
    })
}
