//! Pods send guessed tokens to the metrics server, which reviews each through the API server: to flood the API server
//! through the operator, or to keep a scraper from its metrics.

use std::{
    io::Write,
    net::{SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::watch,
    task::spawn_blocking,
    time::{sleep, timeout},
};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, StreamOwned, crypto::ring::default_provider, pki_types::ServerName,
};

use crate::{
    idle_connections::{connect_from, servers},
    support::any_certificate::AnyCertificate,
};

/// An API server that authenticates tokens with the prefix `good` at once, and delays the reviews of all others.
#[derive(Clone)]
struct Reviewer {
    /// Concurrent reviews of guessed tokens: now, and the maximum.
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    /// Whether reviews of guessed tokens are answered.
    answers: watch::Receiver<bool>,
}

impl Reviewer {
    async fn review(self, request: Request<Incoming>) -> Result<Response<Full<bytes::Bytes>>, hyper::Error> {
        let body = request.into_body().collect().await?.to_bytes();
        let mut review: Value = serde_json::from_slice(&body).unwrap();
        let good = review["spec"]["token"].as_str().map(|token| token.starts_with("good"));
        review["status"] = match good {
            None => json!({"allowed": true}),
            Some(true) => json!({"authenticated": true, "user": {"username": "prometheus"}}),
            Some(false) => {
                let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
                self.most.fetch_max(now, Ordering::SeqCst);
                _ = self.answers.clone().wait_for(|answers| *answers).await;
                self.now.fetch_sub(1, Ordering::SeqCst);
                json!({"authenticated": false})
            }
        };
        let mut answer = Response::new(Full::from(review.to_string()));
        *answer.status_mut() = hyper::StatusCode::CREATED;
        answer
            .headers_mut()
            .insert("content-type", "application/json".parse().unwrap());
        Ok(answer)
    }

    async fn serve(self, listener: TcpListener) {
        while let Ok((stream, _)) = listener.accept().await {
            let reviewer = self.clone();
            let service = service_fn(move |request| reviewer.clone().review(request));
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    }
}

/// The status code of a scrape with this token over this connection. Waits for the response.
fn scrape(stream: TcpStream, token: &str) -> String {
    let mut stream = ask(stream, token);
    let mut answer = Vec::new();
    // A TLS peer may close without a close notification after the whole response.
    _ = std::io::Read::read_to_end(&mut stream, &mut answer);
    String::from_utf8_lossy(&answer).chars().skip(9).take(3).collect()
}

/// Sends a scrape with this token.
fn ask(stream: TcpStream, token: &str) -> StreamOwned<ClientConnection, TcpStream> {
    let builder =
        ClientConfig::builder_with_provider(Arc::new(default_provider())).with_safe_default_protocol_versions();
    let config = builder
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate))
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = StreamOwned::new(ClientConnection::new(config.into(), name).unwrap(), stream);
    let headers = format!("Host: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n");
    stream
        .write_all(format!("GET /metrics HTTP/1.1\r\n{headers}\r\n").as_bytes())
        .unwrap();
    stream.flush().unwrap();
    stream
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guessed_tokens_cause_at_most_four_concurrent_reviews_and_do_not_block_a_scraper() {
    let (answer, answers) = watch::channel(false);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let api_server: SocketAddr = listener.local_addr().unwrap();
    let reviewer = Reviewer {
        now: Arc::default(),
        most: Arc::default(),
        answers,
    };
    tokio::spawn(reviewer.clone().serve(listener));
    let servers = servers(&["--metrics-bind-address=127.0.0.1:0"], api_server).await;
    let metrics = servers.metrics().unwrap();
    let from = async |n: u8, token: &'static str| {
        let stream = connect_from(n, metrics).await;
        spawn_blocking(move || scrape(stream, token)).await.unwrap()
    };
    assert_eq!(from(200, "good-known").await, "200");

    let mut held = Vec::new();
    for n in 0..64 {
        let stream = connect_from(n % 8 + 1, metrics).await;
        let asked = spawn_blocking(move || ask(stream, &format!("guess-{n}")));
        held.push(asked.await.unwrap());
    }
    let all_places_taken = async {
        while reviewer.now.load(Ordering::SeqCst) < 4 {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(Duration::from_secs(30), all_places_taken).await.unwrap();
    assert_eq!(
        from(201, "good-known").await,
        "200",
        "a cached token is not reviewed again"
    );
    let newcomer = spawn_blocking({
        let stream = connect_from(202, metrics).await;
        move || scrape(stream, "good-new")
    });
    answer.send_replace(true);
    assert_eq!(newcomer.await.unwrap(), "200");
    assert_eq!(reviewer.most.load(Ordering::SeqCst), 4);
    drop(held);
}
