//! A server over HTTPS, and hyper's client of it in HTTP/2.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::{
    body::Incoming,
    client::conn::http2::{SendRequest, handshake},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kubewright_apiserver::{
    ApiServer, Options, User,
    serve::{Certificates, Endpoint, Running},
};
use serde_json::Value;
use tokio::{net::TcpStream, task::JoinHandle};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};

/// The time limit for anything that should happen at once.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// The administrator's token.
pub const TOKEN: &str = "secret";
pub const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A server, and what its clients need.
pub struct Server {
    pub running: Running,
    roots: RootCertStore,
}

/// A server that allows this many requests in progress on a connection.
pub async fn start(streams: Option<u32>) -> Server {
    start_as(|endpoint| endpoint.with_http2(streams)).await
}

pub async fn start_as(change: impl FnOnce(Endpoint) -> Endpoint) -> Server {
    let loopback = IpAddr::from(Ipv4Addr::LOCALHOST);
    let (certificates, [chain, _]) = Certificates::generate(loopback).unwrap();
    let endpoint = change(Endpoint::bind((loopback, 0).into(), certificates).await.unwrap());
    let options = Options {
        tokens: vec![(TOKEN.to_owned(), User::admin())],
        ..Options::default()
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(chain.as_bytes()) {
        roots.add(certificate.unwrap()).unwrap();
    }
    Server {
        running: endpoint.serve(ApiServer::new(options)),
        roots,
    }
}

impl Server {
    /// A connection of a client that names these protocols.
    pub async fn connect(&self, protocols: &[&str]) -> std::io::Result<TlsStream<TcpStream>> {
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(self.roots.clone())
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        let stream = TcpStream::connect(self.running.address()).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }

    /// A client with one connection.
    pub async fn client(&self) -> Client {
        let stream = self.connect(&["h2"]).await.unwrap();
        let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
        Client {
            sender,
            connection: tokio::spawn(connection),
        }
    }
}

/// A client with one connection.
pub struct Client {
    sender: SendRequest<Full<Bytes>>,
    pub connection: JoinHandle<hyper::Result<()>>,
}

impl Client {
    /// Sends a request as the administrator; the answer, whose body may be a watch.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        header: (&str, &str),
        body: impl Into<Bytes>,
    ) -> Response<Incoming> {
        let request = Request::builder()
            .method(method)
            .uri(format!("https://localhost{path}"))
            .header("authorization", format!("Bearer {TOKEN}"))
            .header(header.0, header.1)
            .body(Full::new(body.into()))
            .unwrap();
        self.sender.clone().send_request(request).await.unwrap()
    }

    pub async fn get(&self, path: &str) -> Response<Incoming> {
        self.send("GET", path, ("accept", "application/json"), "").await
    }

    /// The code and the object of a complete answer.
    pub async fn write(&self, method: &str, path: &str, media_type: &str, body: impl Into<Bytes>) -> (u16, Value) {
        whole(self.send(method, path, ("content-type", media_type), body).await).await
    }

    /// Creates a ConfigMap.
    pub async fn create(&self, name: &str) {
        let body = format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
        assert_eq!(self.write("POST", CONFIG_MAPS, "application/json", body).await.0, 201);
    }

    /// Watches the ConfigMaps from now on.
    pub async fn watch(&self) -> Incoming {
        let answer = self.get(&format!("{CONFIG_MAPS}?watch=1&resourceVersion=0")).await;
        assert_eq!(answer.status(), 200);
        answer.into_body()
    }
}

pub async fn whole(answer: Response<Incoming>) -> (u16, Value) {
    let (parts, body) = answer.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (parts.status.as_u16(), serde_json::from_slice(&body).unwrap())
}

/// The next event of a watch; `None` if the server has ended it.
pub async fn event(watch: &mut Incoming) -> Option<Value> {
    loop {
        let frame = tokio::time::timeout(PATIENCE, watch.frame())
            .await
            .expect("an event or an end");
        let line = frame?.expect("a watch ends without an error").into_data().unwrap();
        // The end is in a frame of its own.
        if !line.is_empty() {
            return Some(serde_json::from_slice(&line).unwrap());
        }
    }
}
