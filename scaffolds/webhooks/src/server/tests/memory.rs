//! The largest and densest requests that the port of the webhooks accepts, in a process with little memory.

use std::{convert::Infallible, env, future::ready, net::SocketAddr, process::Command, sync::Arc};

use http::Request;
use kube::{Client, client::Body};
use kubewright_runtime::{Manager, component::http::serve_without_tls};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpSocket},
    runtime::Runtime,
    task::JoinSet,
};
use tower::service_fn;

use super::super::Routes;
use crate::{conversion::tests::kinds::hub, webhook::hooks};

/// The address space of the process in KiB. The program of the tests is a third of it.
const LIMIT: usize = 768 << 10;
const CHILD: &str = "KUBEWRIGHT_TEST_LIMITED";
pub(super) const PATH: &str = "/convert-test-example-com-foobar";

#[test]
fn the_worst_requests_leave_memory_for_others_and_end_no_process() {
    if env::var_os(CHILD).is_some() {
        Runtime::new().unwrap().block_on(flood());
        return;
    }
    let this = "server::tests::memory::the_worst_requests_leave_memory_for_others_and_end_no_process";
    let script = format!("ulimit -v {LIMIT} && exec \"$0\" --exact {this} --nocapture");
    let program = env::current_exe().unwrap();
    let run = Command::new("sh")
        .args(["-c", &script])
        .arg(program)
        .env(CHILD, "1")
        .output();
    let run = run.unwrap();
    let said = [run.stdout, run.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(
        run.status.success() && said.contains("1 passed"),
        "{}: {said}",
        run.status
    );
}

async fn flood() {
    let service = service_fn(|_: Request<Body>| ready(Ok::<_, Infallible>(http::Response::new(Body::empty()))));
    let manager = Manager::builder(Client::new(service, "default")).build();
    hub().register(&manager).unwrap();
    let endpoints = hooks(&manager).into_iter().map(|hook| hook.endpoint).collect();
    let routes = Arc::new(Routes::new(endpoints, manager.metrics(), Arc::default()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve_without_tls(listener, routes));

    let dense = |count: usize| {
        format!(
            r#","spec":{{"target":"a:1","unknown":[{}0]}}"#,
            r#"{"a":1},"#.repeat(count)
        )
    };
    // Many bodies without objects; one object that is too dense for all of the memory; some that are not, all at a time.
    // Shared, because the clients are in the same process.
    let bodies = [
        (3, review(&("{},".repeat(12 << 20) + "{}"))),
        (2, review(&object(&dense(1 << 20)))),
        (6, review(&object(&dense(20_000)))),
    ];
    let bodies = bodies
        .into_iter()
        .flat_map(|(count, body)| vec![Arc::<str>::from(body); count]);
    let from = ["127.0.0.1:0", "127.0.0.3:0", "127.0.0.4:0"].into_iter().cycle();
    let mut hostile: JoinSet<_> = bodies.zip(from).map(|(body, from)| post(address, from, body)).collect();
    for _ in 0..5 {
        let answer = post(
            address,
            "127.0.0.2:0",
            review(&object(r#","spec":{"target":"a:1"}"#)).into(),
        )
        .await;
        assert!(
            answer.starts_with("HTTP/1.1 200 ") && answer.contains(r#""host":"a""#),
            "{answer}"
        );
    }
    while let Some(answer) = hostile.join_next().await {
        let code = answer.unwrap().get(9..12).unwrap_or_default().to_owned();
        // A connection ends without an answer if the body is too long.
        assert!(["200", "400", "408", "413", "503", ""].contains(&&*code), "{code}");
    }
}

pub(super) fn object(rest: &str) -> String {
    let metadata = r#""metadata":{"name":"a","namespace":"default","uid":"u"}"#;
    format!(r#"{{"apiVersion":"test.example.com/v1","kind":"FooBar",{metadata}{rest}}}"#)
}

pub(super) fn review(objects: &str) -> String {
    format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{{"uid":"u","desiredAPIVersion":"test.example.com/v2","objects":[{objects}]}}}}"#
    )
}

/// Sends a review from this address, and returns what comes back.
async fn post(to: SocketAddr, from: &str, body: Arc<str>) -> String {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(from.parse().unwrap()).unwrap();
    let mut stream = socket.connect(to).await.unwrap();
    let head = format!(
        "POST {PATH}?timeout=10s HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    // The server may refuse the body before it has arrived.
    if stream.write_all(head.as_bytes()).await.is_ok() {
        let _ = stream.write_all(body.as_bytes()).await;
    }
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}
