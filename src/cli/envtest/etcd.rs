//! The program `etcd` that envtest starts: it answers that it is healthy, and stores nothing, because kubewright's
//! kube-apiserver keeps its objects itself.

use super::flags::{Given, Program, flag, ignored};
use crate::cli::{ask::Usage, report};
use anyhow::{Context, Result, anyhow};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// The default address of etcd.
const USUAL: &str = "http://localhost:2379";
/// The longest request that is read, in bytes, and how long one connection may take.
const LONGEST: usize = 8 * 1024;
const PATIENCE: Duration = Duration::from_secs(1);
/// The version of the etcd that Kubernetes 1.37 is tested with.
const VERSION: &str = r#"{"etcdserver":"3.7.0","etcdcluster":"3.7.0","storage":"3.7.0"}"#;

const ETCD: Program = Program {
    name: "etcd",
    about: "The etcd of `kubewright envtest`: answers that it is healthy, and stores nothing. kubewright's\n\
            kube-apiserver keeps its objects in memory.",
    version: concat!("etcd Version: 3.7.0+kubewright.", env!("CARGO_PKG_VERSION")),
    flags: &[
        flag(
            "listen-client-urls",
            "urls",
            "Answer /health, /livez, /readyz and /version there, over HTTP on loopback [default: http://localhost:2379]",
        ),
        flag("help", "", "Print this"),
        flag("version", "", "Print the version"),
        ignored("advertise-client-urls", "urls"),
        ignored("auto-compaction-mode", "string"),
        ignored("auto-compaction-retention", "string"),
        ignored("data-dir", "path"),
        ignored("election-timeout", "uint"),
        ignored("heartbeat-interval", "uint"),
        ignored("initial-advertise-peer-urls", "urls"),
        ignored("initial-cluster", "string"),
        ignored("initial-cluster-state", "string"),
        ignored("initial-cluster-token", "string"),
        ignored("listen-metrics-urls", "urls"),
        ignored("listen-peer-urls", "urls"),
        ignored("log-level", "string"),
        ignored("log-outputs", "strings"),
        ignored("logger", "string"),
        ignored("max-request-bytes", "uint"),
        ignored("max-txn-ops", "uint"),
        ignored("name", "string"),
        ignored("quota-backend-bytes", "int"),
        ignored("snapshot-count", "uint"),
        ignored("unsafe-no-fsync", ""),
        ignored("wal-dir", "path"),
    ],
    differs: "It has no TLS, no peers and no gRPC: a client of etcd finds nothing here.",
};

/// Answers until the process is stopped, by the signal's default action as etcd itself.
pub fn run(arguments: Vec<String>) -> Result<()> {
    let given = ETCD.read(arguments)?;
    if let Some(text) = ETCD.information(&given)? {
        return report::result(&text);
    }
    let mut sockets = listen(&given)?;
    // There is at least one.
    let last = sockets.pop().context("no URL to listen on")?;
    for socket in sockets {
        std::thread::spawn(move || serve(&socket));
    }
    serve(&last);
    Ok(())
}

fn listen(given: &Given) -> Result<Vec<TcpListener>> {
    let urls = match given.list("listen-client-urls") {
        none if none.is_empty() => vec![USUAL],
        urls => urls,
    };
    let socket = |url: &str| TcpListener::bind(address(url)?).with_context(|| format!("cannot listen on `{url}`"));
    urls.into_iter().map(socket).collect()
}

/// The address of a URL. All addresses are replaced by loopback, because only this machine's programs need this server.
fn address(url: &str) -> Result<SocketAddr> {
    let host = url
        .strip_prefix("http://")
        .ok_or_else(|| ETCD.refuse(&format!("`{url}` is not a URL of http")))?;
    let addresses = host.trim_end_matches('/').to_socket_addrs();
    let mut address = addresses
        .ok()
        .and_then(|mut found| found.next())
        .ok_or_else(|| Usage::error(format!("`{url}` has no address")))?;
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    match address.ip().is_loopback() {
        true => Ok(address),
        false => Err(anyhow!("`{url}` is not on this machine's loopback")),
    }
}

/// Serves connections one after the other.
fn serve(socket: &TcpListener) {
    loop {
        match socket.accept() {
            // A failure concerns the client alone.
            Ok((stream, _)) => _ = answer(stream),
            // Most likely out of file descriptors: wait, because retrying at once would spin.
            Err(_) => std::thread::sleep(Duration::from_millis(100)),
        }
    }
}

fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let (mut request, mut piece) = (Vec::new(), [0; 1024]);
    while !request.windows(4).any(|end| end == b"\r\n\r\n") && request.len() < LONGEST {
        match stream.read(&mut piece)? {
            0 => return Ok(()),
            read => request.extend_from_slice(&piece[..read]),
        }
    }
    let request = String::from_utf8_lossy(&request);
    let path = request.split(' ').nth(1).unwrap_or_default();
    let (status, body) = match path.split('?').next().unwrap_or_default() {
        "/health" => ("200 OK", r#"{"health":"true","reason":""}"#),
        "/livez" | "/readyz" => ("200 OK", "ok\n"),
        "/version" => ("200 OK", VERSION),
        _ => ("404 Not Found", "404 page not found\n"),
    };
    let length = body.len();
    let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    stream.write_all(answer.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_listens_on_loopback_only() {
        assert_eq!(address("http://0.0.0.0:7").unwrap().to_string(), "127.0.0.1:7");
        assert_eq!(address("http://[::]:7/").unwrap().to_string(), "[::1]:7");
        for url in [
            "https://127.0.0.1:7",
            "unix://a",
            "http://192.0.2.1:7",
            "http://127.0.0.1",
            "http://",
        ] {
            assert!(address(url).is_err(), "{url}");
        }
    }

    #[test]
    fn it_is_healthy() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        std::thread::spawn(move || serve(&socket));
        let get = |path: &str| {
            let mut stream = TcpStream::connect(address).unwrap();
            write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        };
        assert!(get("/health").ends_with(r#"{"health":"true","reason":""}"#));
        assert!(get("/readyz?verbose").starts_with("HTTP/1.1 200 OK\r\n"));
        assert!(get("/v3/kv/range").starts_with("HTTP/1.1 404 "));
        // A silent client delays other clients by a second at most.
        let _silent = TcpStream::connect(address).unwrap();
        assert!(get("/version").contains("3.7"));
    }
}
