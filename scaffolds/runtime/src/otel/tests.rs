//! Spans sent to test collectors, over plain connections and over TLS.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use tokio_rustls::rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer},
};
use tracing::{info, info_span};
use tracing_subscriber::layer::SubscriberExt;

use super::*;
use crate::server::selfsigned;

/// A collector that accepts one connection, passes it through `secure`, and reads one request: its address, and the
/// request.
fn collector<S: Read + Write>(
    secure: impl FnOnce(TcpStream) -> S + Send + 'static,
) -> (SocketAddr, mpsc::Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sent, requests) = mpsc::channel();
    thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut stream = BufReader::new(secure(stream));
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let start = head.len();
            // A connection that ends in its handshake has no request.
            if stream.read_line(&mut head).is_err() {
                return;
            }
            let line = head[start..].trim().to_ascii_lowercase();
            if let Some(bytes) = line.strip_prefix("content-length:") {
                length = bytes.trim().parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        stream
            .get_mut()
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
            .unwrap();
        sent.send((head, body)).unwrap();
    });
    (address, requests)
}

/// Records one span, and waits until everything is sent.
fn send_one(traces: Traces) {
    let subscriber = tracing_subscriber::registry().with(traces.layer());
    tracing::subscriber::with_default(subscriber, || drop(info_span!("reconcile").entered()));
    drop(traces);
}

/// A certificate for `localhost` with its key, in memory and in files.
struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    files: [PathBuf; 2],
}

impl Identity {
    fn new(of: &str) -> Self {
        let (certificate, key) = selfsigned::make(&["localhost"]).unwrap();
        let files = ["crt", "key"].map(|end| {
            let name = format!("kubewright-otel-{}-{of}.{end}", std::process::id());
            std::env::temp_dir().join(name)
        });
        let pem =
            |label: &str, der: &[u8]| format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", base64(der));
        std::fs::write(&files[0], pem("CERTIFICATE", &certificate)).unwrap();
        std::fs::write(&files[1], pem("PRIVATE KEY", key.secret_der())).unwrap();
        Self {
            certificate: certificate.into(),
            key,
            files,
        }
    }

    fn file(&self, n: usize) -> String {
        self.files[n].display().to_string()
    }
}

fn base64(der: &[u8]) -> String {
    let text = serde_json::to_value(k8s_openapi::ByteString(der.to_vec())).unwrap();
    text.as_str().unwrap().to_owned()
}

impl Drop for Identity {
    fn drop(&mut self) {
        for file in &self.files {
            let _ = std::fs::remove_file(file);
        }
    }
}

/// A collector with this certificate.
fn secure_collector(identity: &Identity) -> (SocketAddr, mpsc::Receiver<(String, Vec<u8>)>) {
    let versions = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap();
    let config = versions
        .with_no_client_auth()
        .with_single_cert(vec![identity.certificate.clone()], identity.key.clone_key());
    let config = Arc::new(config.unwrap());
    collector(move |stream| StreamOwned::new(ServerConnection::new(config).unwrap(), stream))
}

/// The exporter that these variables configure, to a collector on this port.
fn to(port: u16, variables: &[(&str, String)]) -> Result<Option<Traces>> {
    from_variables("foobar-operator", |name| match name {
        "OTEL_EXPORTER_OTLP_ENDPOINT" => Some(format!("https://localhost:{port}")),
        _ => variables
            .iter()
            .find(|(of, _)| *of == name)
            .map(|(_, value)| value.clone()),
    })
}

fn contains(body: &[u8], text: &str) -> bool {
    body.windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn spans_are_sent_with_their_fields_at_the_end_at_the_latest() {
    let (address, requests) = collector(|stream| stream);
    let traces = start(
        "foobar-operator",
        &format!("http://{address}/v1/traces"),
        &Trust::default(),
    )
    .unwrap();
    let subscriber = tracing_subscriber::registry().with(traces.layer());
    tracing::subscriber::with_default(subscriber, || {
        let span = info_span!(
            "reconcile",
            controller = "foobar",
            object = "default/a",
            reconcile_id = 7
        );
        span.in_scope(|| info!("the child is made"));
    });
    drop(traces);

    let (head, body) = requests.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
    assert!(
        head.to_ascii_lowercase()
            .contains("content-type: application/x-protobuf"),
        "{head}"
    );
    for text in [
        "service.name",
        "foobar-operator",
        "reconcile",
        "controller",
        "foobar",
        "object",
        "default/a",
        "reconcile_id",
        "the child is made",
    ] {
        assert!(contains(&body, text), "{text}: {}", String::from_utf8_lossy(&body));
    }
}

#[test]
fn an_unreachable_collector_delays_the_end_only_up_to_the_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1/traces", listener.local_addr().unwrap());
    let traces = start("foobar-operator", &address, &Trust::default()).unwrap();
    let subscriber = tracing_subscriber::registry().with(traces.layer());
    tracing::subscriber::with_default(subscriber, || drop(info_span!("reconcile").entered()));
    let (ended, end) = mpsc::channel();
    thread::spawn(move || {
        drop(traces);
        ended.send(()).unwrap();
    });
    // The listener's backlog accepts the connection, and there is no response.
    end.recv_timeout(Duration::from_secs(60)).unwrap();
    drop(listener);
}

#[test]
fn spans_are_sent_over_tls_to_a_collector_with_a_trusted_certificate() {
    let identity = Identity::new("tls");
    let (address, requests) = secure_collector(&identity);
    let other = Identity::new("other");
    let files = [
        // The more specific variable takes precedence.
        ("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", identity.file(0)),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", other.file(0)),
    ];
    let traces = to(address.port(), &files);
    send_one(traces.unwrap().unwrap());
    let (head, body) = requests.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(head.starts_with("POST /v1/traces HTTP/1.1\r\n"), "{head}");
    assert!(contains(&body, "reconcile"));
}

#[test]
fn nothing_is_sent_to_a_collector_with_an_untrusted_certificate() {
    let (identity, other) = (Identity::new("unknown"), Identity::new("trusted"));
    let (address, requests) = secure_collector(&identity);
    let traces = to(address.port(), &[("OTEL_EXPORTER_OTLP_CERTIFICATE", other.file(0))]);
    send_one(traces.unwrap().unwrap());
    // The collector's thread ends without a request.
    assert!(requests.recv_timeout(Duration::from_secs(60)).is_err());
}

#[test]
fn an_invalid_collector_address_is_refused_at_the_start() {
    for (endpoint, expected) in [
        ("collector:4318", "begins neither with http:// nor with https://"),
        ("grpc://collector:4317", "begins neither with http:// nor with https://"),
        ("http://a b", "is invalid"),
    ] {
        let error = start("foobar-operator", endpoint, &Trust::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{endpoint}: {error}");
    }
}

#[test]
fn an_unusable_file_or_protocol_is_named_with_its_variable() {
    let empty = Identity::new("empty");
    std::fs::write(&empty.files[0], "nothing\n").unwrap();
    for (variable, value, expected) in [
        (
            "OTEL_EXPORTER_OTLP_CERTIFICATE",
            "/no/such.crt".to_owned(),
            "OTEL_EXPORTER_OTLP_CERTIFICATE `/no/such.crt`",
        ),
        (
            "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
            empty.file(0),
            "there is no certificate in it",
        ),
        (
            "OTEL_EXPORTER_OTLP_CLIENT_KEY",
            empty.file(1),
            "OTEL_EXPORTER_OTLP_CLIENT_KEY",
        ),
        (
            "OTEL_EXPORTER_OTLP_PROTOCOL",
            "grpc".to_owned(),
            "OTEL_EXPORTER_OTLP_PROTOCOL is `grpc`, and only http/protobuf is built in",
        ),
        (
            "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE",
            empty.file(0),
            "is not built in",
        ),
    ] {
        let error = to(4318, &[(variable, value)]).unwrap_err().to_string();
        assert!(error.contains(expected), "{variable}: {error}");
    }
}
