//! All ports of a process with little memory, flooded at once with the worst that each accepts: probes go on being answered.

use std::{
    convert::Infallible,
    env,
    future::ready,
    io::{BufRead, BufReader, Read, stdin},
    net::SocketAddr,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use clap::Parser;
use http::Request;
use kube::{Client, Config, client::Body};
use kubewright_runtime::{
    Manager, Metrics, Options,
    component::http::serve_without_tls,
    testing::{Probes, Servers},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket, TcpStream},
    runtime::Runtime,
    task::JoinSet,
    time::{sleep, timeout},
};
use tower::service_fn;

use super::{
    super::Routes,
    memory::{PATH, object, review},
};
use crate::{conversion::tests::kinds::hub, webhook::hooks};

/// The data of the process in KiB, as the memory limit of the generated Deployment: heap and stacks, without the program itself,
/// which is much larger in this test than an operator is.
const LIMIT: usize = 128 << 10;
const CHILD: &str = "KUBEWRIGHT_TEST_FLOODED";
/// Series of the metrics, about 100 bytes each: 1 MB for each scrape.
const SERIES: usize = 10_000;
/// A busy test machine is slow; a probe takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn probes_are_answered_while_all_ports_are_flooded_and_memory_is_short() {
    if env::var_os(CHILD).is_some() {
        return Runtime::new().unwrap().block_on(operator());
    }
    let this = "server::tests::flood::probes_are_answered_while_all_ports_are_flooded_and_memory_is_short";
    let mut child = Command::new("sh")
        .args([
            "-c",
            &format!("ulimit -d {LIMIT} && exec \"$0\" --exact {this} --nocapture"),
        ])
        .arg(env::current_exe().unwrap())
        .env(CHILD, "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let serving = lines.find_map(|line| line.unwrap().strip_prefix("serving ").map(str::to_owned));
    let serving = serving.expect("the operator did not start");
    let ports: Vec<SocketAddr> = serving.split(' ').map(|address| address.parse().unwrap()).collect();
    Runtime::new().unwrap().block_on(flood([ports[0], ports[1], ports[2]]));
    // It ends when its input does.
    drop(child.stdin.take());
    let ended = child.wait().unwrap();
    assert!(ended.success(), "{ended}");
}

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    operator: Options,
}

/// Serves probes, metrics and a converter until its input ends.
async fn operator() {
    let metrics = Metrics::new();
    for number in 0..SERIES {
        let label = format!("{number:080}");
        _ = metrics.counter("flooded_total", "Some.", &[("series", label.as_str())]);
    }
    let options = Flags::parse_from([
        "operator",
        "--health-probe-bind-address=127.0.0.1:0",
        "--metrics-bind-address=127.0.0.1:0",
        "--metrics-secure=false",
    ]);
    let nowhere = Config::new("http://127.0.0.1:9".parse().unwrap());
    let servers = Servers::start(&options.operator, &nowhere, &metrics, Probes::default())
        .await
        .unwrap();
    let service = service_fn(|_: Request<Body>| ready(Ok::<_, Infallible>(http::Response::new(Body::empty()))));
    let manager = Manager::builder(Client::new(service, "default")).build();
    hub().register(&manager).unwrap();
    let endpoints = hooks(&manager).into_iter().map(|hook| hook.endpoint).collect();
    let routes = Arc::new(Routes::new(endpoints, manager.metrics(), Arc::default()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve_without_tls(listener, routes));
    let [probes, metrics] = [servers.probes().unwrap(), servers.metrics().unwrap()];
    println!("\nserving {probes} {metrics} {address}");
    let wait = || stdin().read_to_end(&mut Vec::new());
    tokio::task::spawn_blocking(wait).await.unwrap().unwrap();
}

/// Addresses of the attackers. Each server limits the connections of one; a flood from many is not what this is about.
const ATTACKERS: usize = 6;

/// Connects from one of the attackers' addresses.
async fn connect(n: usize, server: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    let from = SocketAddr::from(([127, 0, 3, u8::try_from(n % ATTACKERS).unwrap() + 1], 0));
    socket.bind(from).unwrap();
    socket.connect(server).await.unwrap()
}

/// Sends this, and keeps the connection without reading.
async fn hold(n: usize, server: SocketAddr, sent: Arc<str>) -> TcpStream {
    let mut stream = connect(n, server).await;
    // The server may close the connection at any time.
    _ = timeout(PATIENCE, stream.write_all(sent.as_bytes())).await;
    stream
}

fn posted(body: &str) -> String {
    let length = body.len();
    format!(
        "POST {PATH}?timeout=9999h HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

/// Bytes that an attacker sends to the port of the webhooks, with the number of simultaneous connections.
fn attacks() -> Vec<(usize, Arc<str>)> {
    let dense = |count: usize| {
        let items = r#"{"a":1},"#.repeat(count);
        review(&object(&format!(r#","spec":{{"target":"a:1","unknown":[{items}0]}}"#)))
    };
    let many = |object: &str, count: usize| review(&[object, &format!(",{object}").repeat(count)].concat());
    let shortest = r#"{"metadata":{"name":"a"}}"#;
    let labels: String = (0..200_000).map(|number| format!(r#""{number}":"","#)).collect();
    let metadata =
        format!(r#"{{"apiVersion":"test.example.com/v1","kind":"FooBar","metadata":{{"labels":{{{labels}"a":""}}}}}}"#);
    let uid = review("").replace(r#""uid":"u""#, &format!(r#""uid":"{}""#, "\\u0041".repeat(1 << 20)));
    let attacks = [
        (3, posted(&review(&("{},".repeat(3 << 20) + "{}")))),
        (3, posted(&many(shortest, 400_000))),
        (2, posted(&many(&object(r#","spec":{"target":"a:1"}"#), 8_000))),
        (2, posted(&many(&object(r#","spec":{"target":{}}"#), 8_000))),
        (2, posted(&dense(1 << 20))),
        (6, posted(&dense(20_000))),
        (3, posted(&review(&metadata))),
        (2, posted(&uid)),
        (3, posted(&review(&format!("{{\"a\":{}", "[".repeat(4 << 20))))),
        (
            300,
            format!("POST {PATH} HTTP/1.1\r\nHost: a\r\nX: {}", "x".repeat(15 << 10)),
        ),
        (100, String::new()),
    ];
    attacks.map(|(count, text)| (count, text.into())).into()
}

async fn flood([probes, metrics, webhooks]: [SocketAddr; 3]) {
    let mut hostile = JoinSet::new();
    let mut held = 0;
    let mut send = |server: SocketAddr, count: usize, text: Arc<str>| {
        for _ in 0..count {
            held += 1;
            hostile.spawn(hold(held, server, text.clone()));
        }
    };
    for (count, text) in attacks() {
        send(webhooks, count, text);
    }
    let scrape = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
    send(metrics, 150, scrape.repeat(8).into());
    send(
        metrics,
        50,
        format!("GET /metrics HTTP/1.1\r\nX: {}", "x".repeat(63 << 10)).into(),
    );
    send(
        probes,
        200,
        format!("GET /healthz HTTP/1.1\r\nX: {}", "x".repeat(7 << 10)).into(),
    );
    // Both in turn, until the attackers have sent all, and some more.
    let (mut sent, mut answered) = (Vec::new(), 0);
    while answered < 50 || !hostile.is_empty() {
        let path = ["/healthz", "/healthz/ping"][answered % 2];
        let answer = timeout(
            PATIENCE,
            asked(probes, format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")),
        );
        let answer = answer.await.expect("a probe is answered in time");
        assert!(answer.starts_with("HTTP/1.1 200 "), "probe {answered}: {answer:?}");
        answered += 1;
        while let Some(stream) = hostile.try_join_next() {
            sent.push(stream.unwrap());
        }
    }
    // The port of the webhooks does not depend on attackers that go away.
    let question =
        posted(&review(&object(r#","spec":{"target":"a:1"}"#))).replace("Host: a", "Host: a\r\nConnection: close");
    for _ in 0..60 {
        let answer = timeout(PATIENCE, asked(webhooks, question.clone())).await;
        if answer.is_ok_and(|answer| answer.contains(r#""host":"a""#)) {
            return drop(sent);
        }
        sleep(Duration::from_secs(1)).await;
    }
    panic!("the webhook is not answered after the flood");
}

/// Sends a request from an address that no attacker has, and returns the response.
async fn asked(server: SocketAddr, request: String) -> String {
    let Ok(mut stream) = TcpStream::connect(server).await else {
        return "the process is gone".to_owned();
    };
    let mut answer = Vec::new();
    _ = stream.write_all(request.as_bytes()).await;
    _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}
