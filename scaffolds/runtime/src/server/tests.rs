//! The servers as clients see them: over real sockets, with an API server that only handles reviews.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use clap::Parser;
use kube::Config;
use serde_json::{Value, json};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    client::WebPkiServerVerifier,
    crypto::ring::default_provider,
    pki_types::{CertificateDer, ServerName},
};

use super::*;

use self::any_certificate::AnyCertificate;

#[path = "../../tests/support/any_certificate.rs"]
mod any_certificate;
mod pages;

#[derive(Parser)]
struct ServerFlags {
    #[command(flatten)]
    operator: Options,
}

/// Starts the servers with these flags: the servers, their checks, and the switch behind `/readyz`.
async fn start(flags: &[&str], api_server: SocketAddr, metrics: &Metrics) -> (Servers, Probes, Arc<AtomicBool>) {
    let flags = [&["operator", "--health-probe-bind-address=127.0.0.1:0"], flags].concat();
    let options = ServerFlags::try_parse_from(flags).unwrap().operator;
    let config = Config::new(format!("http://{api_server}").parse().unwrap());
    let (probes, filled) = (Probes::default(), Arc::<AtomicBool>::default());
    let ready = filled.clone();
    probes.readyz.add("informer-sync", move || {
        if ready.load(Ordering::Relaxed) {
            Ok(())
        } else {
            Err("caches are not filled".to_owned())
        }
    });
    let servers = Servers::start(&options, &config, metrics, probes.clone())
        .await
        .unwrap();
    (servers, probes, filled)
}

const NOWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 9);

/// Sends one request and returns the whole response.
fn ask(mut stream: impl Read + Write, request: &str, headers: &str) -> String {
    // Even if the server has refused the connection by then, the response can be read.
    let _ = stream
        .write_all(format!("{request} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n").as_bytes());
    let mut answer = Vec::new();
    // A TLS peer may close without a close notification after the whole response.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

fn get(address: SocketAddr, path: &str) -> (u16, String) {
    parts(&ask(TcpStream::connect(address).unwrap(), &format!("GET {path}"), ""))
}

fn parts(answer: &str) -> (u16, String) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer:?}"));
    (head[9..12].parse().unwrap(), body.to_owned())
}

#[tokio::test]
async fn probes_respond_as_kubernetes_does() {
    let (servers, checks, ready) = start(&[], NOWHERE, &Metrics::new()).await;
    let probes = servers.probes.unwrap();
    assert_eq!(get(probes, "/healthz"), (200, "ok".to_owned()));
    assert_eq!(
        get(probes, "/healthz?verbose"),
        (200, "[+]ping ok\nhealthz check passed\n".to_owned())
    );
    let not_ready = "[-]informer-sync failed: reason withheld\nreadyz check failed\n";
    assert_eq!(get(probes, "/readyz"), (500, not_ready.to_owned()));
    ready.store(true, Ordering::Relaxed);
    assert_eq!(get(probes, "/readyz/"), (200, "ok".to_owned()));

    checks.readyz.add("database", || Err("no route".to_owned()));
    checks.readyz.add("panics", || panic!("a bad check"));
    let listed = "[-]database failed: reason withheld\n[+]informer-sync ok\n[-]panics failed: reason withheld\n";
    assert_eq!(get(probes, "/readyz"), (500, format!("{listed}readyz check failed\n")));
    assert_eq!(
        get(probes, "/readyz/database"),
        (500, "internal server error: no route\n".to_owned())
    );
    assert_eq!(get(probes, "/readyz/informer-sync"), (200, "ok".to_owned()));
    let excluded = get(
        probes,
        "/readyz?exclude=database&exclude=panics&exclude=nothing&verbose",
    );
    let listed = "[+]database excluded: ok\n[+]informer-sync ok\n[+]panics excluded: ok\nwarn: some health checks cannot be \
                  excluded: no matches for \"nothing\"\n";
    assert_eq!(excluded, (200, format!("{listed}readyz check passed\n")));

    assert_eq!(get(probes, "/readyz/nothing").0, 404);
    assert_eq!(get(probes, "/healthz/ping/more").0, 404);
    assert_eq!(get(probes, "/metrics").0, 404);
    assert_eq!(
        parts(&ask(TcpStream::connect(probes).unwrap(), "POST /healthz", "")).0,
        405
    );
}

#[test]
fn probes_respond_while_all_worker_threads_are_busy() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let (servers, ..) = runtime.block_on(start(&[], NOWHERE, &Metrics::new()));
    let stop = Arc::new(AtomicBool::new(false));
    for _ in 0..2 {
        let stop = stop.clone();
        runtime.spawn(async move { while !stop.load(Ordering::Relaxed) {} });
    }
    let started = Instant::now();
    for _ in 0..10 {
        assert_eq!(get(servers.probes.unwrap(), "/healthz").0, 200);
    }
    stop.store(true, Ordering::Relaxed);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[tokio::test]
async fn an_address_in_use_is_named_with_its_flag() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("--health-probe-bind-address={}", taken.local_addr().unwrap());
    let options = ServerFlags::try_parse_from(["operator", &address]).unwrap().operator;
    let config = Config::new("http://127.0.0.1:9".parse().unwrap());
    let error = Servers::start(&options, &config, &Metrics::new(), Probes::default())
        .await
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.contains("--health-probe-bind-address") && error.contains("in use"),
        "{error}"
    );
}

#[tokio::test]
async fn both_servers_can_be_off() {
    let (servers, ..) = start(&["--health-probe-bind-address=0"], NOWHERE, &Metrics::new()).await;
    assert_eq!((servers.probes, servers.metrics), (None, None));
}

#[tokio::test]
async fn insecure_metrics_are_served_to_all_clients() {
    let metrics = Metrics::new();
    metrics.counter("seen_total", "Seen.", &[]).add(3);
    let flags = ["--metrics-bind-address=127.0.0.1:0", "--metrics-secure=false"];
    let (servers, ..) = start(&flags, NOWHERE, &metrics).await;
    let address = servers.metrics.unwrap();
    let answer = ask(TcpStream::connect(address).unwrap(), "GET /metrics", "");
    assert!(
        answer.contains("content-type: text/plain; version=0.0.4; charset=utf-8\r\n"),
        "{answer}"
    );
    assert!(
        answer.ends_with("# HELP seen_total Seen.\n# TYPE seen_total counter\nseen_total 3\n"),
        "{answer}"
    );
    assert_eq!(get(address, "/").0, 404);
}

/// An API server that accepts the tokens `good`, `poor` and `scraper`, and authorizes `good` to read every URL, and
/// `scraper` to read metrics. Returns its address
/// and the number of its reviews.
pub(crate) fn reviewer() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let counted = count.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let counted = counted.clone();
            thread::spawn(move || answer_reviews(stream.unwrap(), &counted));
        }
    });
    (address, count)
}

fn answer_reviews(mut stream: TcpStream, counted: &AtomicUsize) {
    let mut read = Vec::new();
    loop {
        let mut some = [0; 4096];
        match stream.read(&mut some) {
            Ok(0) | Err(_) => return,
            Ok(n) => read.extend_from_slice(&some[..n]),
        }
        let text = String::from_utf8_lossy(&read);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let Ok(mut review) = serde_json::from_str::<Value>(body) else {
            continue;
        };
        counted.fetch_add(1, Ordering::Relaxed);
        review["status"] = if head.starts_with("POST /apis/authentication.k8s.io/v1/tokenreviews") {
            match review["spec"]["token"].as_str() {
                Some(name @ ("good" | "poor" | "scraper")) => {
                    json!({"authenticated": true, "user": {"username": name, "groups": ["g"]}})
                }
                _ => json!({"authenticated": false, "error": "unknown"}),
            }
        } else {
            assert!(
                head.starts_with("POST /apis/authorization.k8s.io/v1/subjectaccessreviews"),
                "{head}"
            );
            let asked = &review["spec"]["nonResourceAttributes"];
            assert_eq!(asked["verb"], "get");
            assert_eq!(review["spec"]["groups"], json!(["g"]));
            let user = &review["spec"]["user"];
            json!({"allowed": user == "good" || user == "scraper" && asked["path"] == "/metrics"})
        };
        let body = review.to_string();
        let head = "HTTP/1.1 201 Created\r\nContent-Type: application/json";
        write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        read.clear();
    }
}

/// Connects as `localhost`, trusting only this certificate, or, with `None`, any certificate.
fn tls(address: SocketAddr, trusted: Option<&CertificateDer<'static>>) -> StreamOwned<ClientConnection, TcpStream> {
    let builder =
        ClientConfig::builder_with_provider(Arc::new(default_provider())).with_safe_default_protocol_versions();
    let builder = builder.unwrap();
    let config = match trusted {
        Some(certificate) => {
            let mut roots = RootCertStore::empty();
            roots.add(certificate.clone()).unwrap();
            let verifier = WebPkiServerVerifier::builder_with_provider(roots.into(), Arc::new(default_provider()));
            builder
                .with_webpki_verifier(verifier.build().unwrap())
                .with_no_client_auth()
        }
        None => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate))
            .with_no_client_auth(),
    };
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = StreamOwned::new(
        ClientConnection::new(config.into(), name).unwrap(),
        TcpStream::connect(address).unwrap(),
    );
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).unwrap();
    }
    stream
}

#[tokio::test(flavor = "multi_thread")]
async fn secure_metrics_are_served_to_authorized_clients_only() {
    let (api_server, reviews) = reviewer();
    let metrics = Metrics::new();
    let (servers, ..) = start(&["--metrics-bind-address=127.0.0.1:0"], api_server, &metrics).await;
    let address = servers.metrics.unwrap();
    let scrape = |token: &str| parts(&ask(tls(address, None), "GET /metrics", token));

    assert_eq!(scrape(""), (401, "Unauthorized\n".to_owned()));
    assert_eq!(scrape("Authorization: Basic Z29vZDo=\r\n").0, 401);
    assert_eq!(reviews.load(Ordering::Relaxed), 0, "nothing to review");
    for _ in 0..3 {
        assert_eq!(scrape("Authorization: Bearer guessed\r\n").0, 401);
        assert_eq!(
            scrape("Authorization: Bearer poor\r\n"),
            (403, "Forbidden\n".to_owned())
        );
        let (code, text) = scrape("Authorization: bearer  good\r\n");
        assert_eq!(code, 200);
        assert!(
            text.contains("rest_client_requests_total{code=\"201\",host=\"127.0.0.1:"),
            "{text}"
        );
    }
    assert_eq!(reviews.load(Ordering::Relaxed), 1 + 2 + 2, "each verdict is remembered");
    // Plain text on the TLS port is refused.
    let plain = ask(
        TcpStream::connect(address).unwrap(),
        "GET /metrics",
        "Authorization: Bearer good\r\n",
    );
    assert!(!plain.contains("rest_client"), "{plain}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_an_api_server_no_client_is_authorized() {
    let (servers, ..) = start(&["--metrics-bind-address=127.0.0.1:0"], NOWHERE, &Metrics::new()).await;
    let stream = tls(servers.metrics.unwrap(), None);
    assert_eq!(
        parts(&ask(stream, "GET /metrics", "Authorization: Bearer good\r\n")).0,
        500
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_self_signed_certificate_is_valid() {
    let (servers, ..) = start(&["--metrics-bind-address=127.0.0.1:0"], NOWHERE, &Metrics::new()).await;
    let address = servers.metrics.unwrap();
    let shown = tls(address, None).conn.peer_certificates().unwrap()[0]
        .clone()
        .into_owned();
    // Verified by webpki: form, signature, validity, name and usage.
    tls(address, Some(&shown));
}

#[tokio::test]
async fn the_end_of_a_response_does_not_wait_for_acknowledgements() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let connecting = tokio::net::TcpStream::connect(listener.local_addr().unwrap());
    let (accepted, _client) = tokio::join!(http1::Accept::accept(&listener), connecting);
    assert!(accepted.unwrap().0.nodelay().unwrap());
}
