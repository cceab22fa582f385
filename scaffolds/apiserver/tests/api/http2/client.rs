//! Hyper's client of a server in HTTP/2.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::{
    body::Incoming,
    client::conn::http2::{SendRequest, handshake},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tokio::task::JoinHandle;

pub use crate::served::{PATIENCE, Server, TOKEN, start_as};

pub const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

/// A server that allows this many requests in progress on a connection.
pub async fn start(streams: Option<u32>) -> Server {
    start_as(|endpoint| endpoint.with_http2(streams)).await
}

impl Server {
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
