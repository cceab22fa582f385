//! A Pod opens connections to the operator's servers and keeps them open, so that the kubelet's probes fail and the
//! operator is restarted.

use std::{
    fs,
    io::{ErrorKind, Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use clap::Parser;
use kube::Config;
use kubewright_runtime::{
    Metrics, Options,
    testing::{Probes, Servers},
};
use tokio::net::TcpSocket;

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    operator: Options,
}

/// The servers for these flags; the API server is at `api_server`.
pub async fn servers(flags: &[&str], api_server: SocketAddr) -> Servers {
    let flags = [&["operator", "--health-probe-bind-address=127.0.0.1:0"], flags].concat();
    let options = Flags::try_parse_from(flags).unwrap().operator;
    let config = Config::new(format!("http://{api_server}").parse().unwrap());
    Servers::start(&options, &config, &Metrics::new(), Probes::default())
        .await
        .unwrap()
}

/// Connects from the `n`th address of this machine.
pub async fn connect_from(n: u8, server: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket
        .bind(SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 1, n)), 0))
        .unwrap();
    let stream = socket.connect(server).await.unwrap().into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    stream
}

/// The server's response to one GET, from the kubelet's address in this test.
fn get(server: SocketAddr, path: &str) -> String {
    let mut stream = TcpStream::connect(server).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// `wanted`, or fewer if this process may not open as many files.
fn affordable(wanted: usize) -> usize {
    let limits = fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = limits.lines().find(|line| line.starts_with("Max open files"));
    let soft = line.and_then(|line| line.split_whitespace().nth(3)?.parse().ok());
    wanted.min(soft.unwrap_or(1024_usize).saturating_sub(500))
}

/// Holds connections that send nothing, half a request, or one request and stay open.
async fn hold(server: SocketAddr, path: &str) -> Vec<TcpStream> {
    let mut held = Vec::new();
    for n in 0..affordable(1000) {
        let mut stream = connect_from(u8::try_from(n % 40).unwrap() + 1, server).await;
        let said = match n % 3 {
            0 => String::new(),
            1 => format!("GET {path} HTTP/1.1\r\nHost: loc"),
            _ => format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        };
        // The server may have closed the connection by then.
        _ = stream.write_all(said.as_bytes());
        held.push(stream);
    }
    held
}

/// The number of these connections that the server has not closed.
fn open(held: &mut [TcpStream]) -> usize {
    let is_open = |stream: &mut TcpStream| {
        stream.set_nonblocking(true).unwrap();
        loop {
            match stream.read(&mut [0; 4096]) {
                Ok(0) => return false,
                Ok(_) => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
    };
    held.iter_mut()
        .filter_map(|stream| is_open(stream).then_some(()))
        .count()
}

/// A busy test machine is slow; the servers need a few milliseconds.
const LIMIT: Duration = Duration::from_secs(30);

#[tokio::test]
async fn probes_and_scrapes_are_answered_despite_idle_connections() {
    let flags = ["--metrics-bind-address=127.0.0.1:0", "--metrics-secure=false"];
    let servers = servers(&flags, SocketAddr::from(([127, 0, 0, 1], 9))).await;
    for (server, path) in [
        (servers.probes().unwrap(), "/healthz"),
        (servers.metrics().unwrap(), "/metrics"),
    ] {
        let mut held = hold(server, path).await;
        let started = Instant::now();
        for _ in 0..20 {
            let answer = get(server, path);
            assert!(answer.starts_with("HTTP/1.1 200 "), "{path}: {answer}");
        }
        assert!(started.elapsed() < LIMIT, "{path}: {:?}", started.elapsed());
        let open = open(&mut held);
        assert!(open <= 128, "{path}: {open} connections are open");
    }
}

#[tokio::test]
async fn one_pod_can_hold_only_a_few_connections() {
    let servers = servers(&[], SocketAddr::from(([127, 0, 0, 1], 9))).await;
    let server = servers.probes().unwrap();
    let mut other = vec![connect_from(2, server).await];
    let mut held = Vec::new();
    for _ in 0..200 {
        held.push(connect_from(1, server).await);
    }
    // The probe is accepted after all of these.
    assert!(get(server, "/readyz").starts_with("HTTP/1.1 200 "));
    let (of_one, of_other) = (open(&mut held), open(&mut other));
    assert!(of_one <= 16, "{of_one} are open");
    assert_eq!(of_other, 1, "another Pod's connection stays open");
}
