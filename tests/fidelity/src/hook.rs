//! A webhook for probes, which both servers call. It does what the path asks for, or what the object tells it to: a probe
//! writes the whole answer into the data of a ConfigMap.

use std::{
    convert::Infallible,
    net::{SocketAddr, TcpListener},
    sync::{Arc, OnceLock},
    thread,
    time::Duration,
};

use anyhow::{Context, Result, anyhow};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use kubewright_apiserver::testing::certificates::{Authority, Issued, pem};
use serde_json::{Value, json};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivatePkcs8KeyDer},
    },
};

use crate::converter;

/// The body of a response.
pub(crate) type Full = http_body_util::Full<Bytes>;

/// The delay of `/slow`: longer than the time limit of its configuration, a second.
const SLOW: Duration = Duration::from_millis(2500);

/// The webhook of this process.
pub struct Hook {
    /// Words of programs, and their values: `$hook`, the URL of the webhook; `$other`, the URL of one at an address which
    /// its certificate does not have; `$plain`, that of one without TLS; `$ca` and `$stranger`, authorities in a `caBundle`.
    pub words: Vec<(&'static str, String)>,
}

impl Hook {
    /// The webhook, which is started when it is first asked for.
    ///
    /// # Errors
    /// When it cannot listen.
    pub fn get() -> Result<&'static Self> {
        static HOOK: OnceLock<Result<Hook, String>> = OnceLock::new();
        let hook = HOOK.get_or_init(|| Self::start().map_err(|error| format!("{error:#}")));
        hook.as_ref().map_err(|why| anyhow!("no webhook: {why}"))
    }

    fn start() -> Result<Self> {
        let made = |error: String| anyhow!(error);
        let (authority, stranger) = (Authority::new().map_err(made)?, Authority::new().map_err(made)?);
        let issued = Arc::new(authority.server(&[std::net::Ipv4Addr::LOCALHOST]).map_err(made)?);
        let bundle = |authority: &Authority| pem("CERTIFICATE", &authority.certificate);
        let hook = listen("127.0.0.1:0", Some(Arc::clone(&issued)))?;
        let other = listen("127.0.0.2:0", Some(issued))?;
        let plain = listen("127.0.0.1:0", None)?;
        Ok(Self {
            words: vec![
                ("$hook", format!("https://{hook}")),
                ("$other", format!("https://{other}")),
                ("$plain", format!("https://{plain}")),
                ("$ca", bundle(&authority)),
                ("$stranger", bundle(&stranger)),
            ],
        })
    }

    /// The text with the words that stand for what differs from run to run.
    pub fn unfilled(&self, text: &str) -> String {
        self.words.iter().fold(text.to_owned(), |text, (word, value)| {
            let address = value.strip_prefix("https://").unwrap_or(value);
            text.replace(value, word).replace(address, word)
        })
    }
}

/// Listens on a thread of its own, with a clock that nobody pauses.
fn listen(address: &str, issued: Option<Arc<Issued>>) -> Result<SocketAddr> {
    let listener = TcpListener::bind(address).with_context(|| format!("cannot listen on {address}"))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let acceptor = issued.map(|issued| acceptor(&issued)).transpose()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    thread::spawn(move || runtime.block_on(accept(listener, acceptor)));
    Ok(address)
}

fn acceptor(issued: &Issued) -> Result<TlsAcceptor> {
    let chain = vec![CertificateDer::from(issued.certificate.clone())];
    let key = PrivatePkcs8KeyDer::from(issued.key.clone());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key.into())?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn accept(listener: TcpListener, acceptor: Option<TlsAcceptor>) -> Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            let service = service_fn(respond);
            // A connection that fails is what some probes are about.
            _ = match acceptor {
                None => {
                    http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await
                }
                Some(acceptor) => match acceptor.accept(stream).await {
                    Ok(stream) => {
                        http1::Builder::new()
                            .serve_connection(TokioIo::new(stream), service)
                            .await
                    }
                    Err(_) => Ok(()),
                },
            };
        });
    }
}

/// The connection is closed without a response.
struct Closed;

impl std::fmt::Debug for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("closed")
    }
}

impl std::fmt::Display for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("closed")
    }
}

impl std::error::Error for Closed {}

impl From<Infallible> for Closed {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

async fn respond(request: Request<Incoming>) -> Result<Response<Full>, Closed> {
    let path = request.uri().path().trim_start_matches('/').to_owned();
    let body = request.into_body().collect().await.map_err(|_| Closed)?.to_bytes();
    let review: Value = serde_json::from_slice(&body).map_err(|_| Closed)?;
    let request = &review["request"];
    let (action, argument) = path.split_once('/').unwrap_or((&path, ""));
    let response = match action {
        "allow" => json!({"allowed": true}),
        "deny" => json!({"allowed": false, "status": {"message": "no"}}),
        "warn" => json!({"allowed": true, "warnings": ["careful", "", "careful", argument]}),
        "echo" => json!({"allowed": false, "status": {"message": shown(request)}}),
        "label" => patch(&labelled(request, argument)),
        "count" => patch(&counted(request)),
        "patch" => patch(&serde_json::from_slice(&STANDARD.decode(argument).map_err(|_| Closed)?).map_err(|_| Closed)?),
        "slow" => {
            tokio::time::sleep(SLOW).await;
            json!({"allowed": true})
        }
        "told" => return told(&review),
        "convert" => return converter::respond(&review).ok_or(Closed),
        _ => return Err(Closed),
    };
    let mut response = response;
    response["uid"] = request["uid"].clone();
    let body = json!({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response});
    Ok(Response::new(Full::from(body.to_string())))
}

/// The response that the object describes: the body, in which `$uid` is the request's, the code, and a header.
fn told(review: &Value) -> Result<Response<Full>, Closed> {
    let request = &review["request"];
    let data = &request["object"]["data"];
    let text = |name: &str| data[name].as_str().unwrap_or_default();
    let uid = request["uid"].as_str().unwrap_or_default();
    let body = match text("response") {
        "" => text("body").to_owned(),
        response => format!(
            r#"{{"apiVersion":{},"kind":"AdmissionReview","response":{response}}}"#,
            review["apiVersion"]
        ),
    };
    let code = text("code").parse().unwrap_or(200u16);
    let mut response = Response::builder().status(code);
    if let Some((name, value)) = text("header").split_once(": ") {
        response = response.header(name, value);
    }
    response.body(Full::from(body.replace("$uid", uid))).map_err(|_| Closed)
}

fn patch(operations: &Value) -> Value {
    json!({"allowed": true, "patchType": "JSONPatch", "patch": STANDARD.encode(operations.to_string())})
}

/// Adds a label whose value is how many labels there are.
fn labelled(request: &Value, name: &str) -> Value {
    let labels = request["object"]["metadata"]["labels"].as_object();
    let count = labels.map_or(0, serde_json::Map::len).to_string();
    match labels {
        Some(_) => json!([{"op": "add", "path": format!("/metadata/labels/{name}"), "value": count}]),
        None => json!([{"op": "add", "path": "/metadata/labels", "value": {name: count}}]),
    }
}

/// Appends a letter to the label `calls`, so that an object tells how often the webhook has seen it.
fn counted(request: &Value) -> Value {
    let labels = &request["object"]["metadata"]["labels"];
    let calls = labels["calls"].as_str().unwrap_or_default();
    let mut all = labels.as_object().cloned().unwrap_or_default();
    all.insert("calls".to_owned(), format!("{calls}x").into());
    json!([{"op": "add", "path": "/metadata/labels", "value": all}])
}

/// The request without what differs from run to run.
fn shown(request: &Value) -> String {
    let mut request = request.clone();
    request["uid"] = "<uid>".into();
    for object in ["object", "oldObject"] {
        identified(&mut request[object]);
    }
    // Whom the two servers take the administrator for.
    let user = &mut request["userInfo"];
    if user["groups"].to_string().contains("system:masters") {
        *user = "<administrator>".into();
    }
    request.to_string()
}

/// Replaces what differs from run to run in an object's metadata.
pub(crate) fn identified(object: &mut Value) {
    let Some(metadata) = object["metadata"].as_object_mut() else {
        return;
    };
    for field in ["uid", "resourceVersion", "creationTimestamp"] {
        metadata
            .entry(field)
            .and_modify(|value| *value = format!("<{field}>").into());
    }
    let entries = metadata.get_mut("managedFields").and_then(Value::as_array_mut);
    for entry in entries.into_iter().flatten() {
        entry["time"] = "<time>".into();
    }
}
