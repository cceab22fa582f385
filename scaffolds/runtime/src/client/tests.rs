//! Requests through the client's layers to a test service.

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::Frame;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{ListParams, LogParams, Patch, PatchParams, PostParams, WatchParams},
    client::Body,
};
use tokio::time::{Instant, sleep, timeout};
use tower::service_fn;

use super::*;
use crate::informer::{Informer, InformerConfig};

/// The response of the service to a request.
#[derive(Clone, Copy)]
enum Behaviour {
    Answer,
    /// Never responds.
    Silent,
    /// Headers and half a body, then nothing.
    Stall,
    /// A byte every 20 s, for an hour.
    Trickle,
}

/// A client of such a service, and the methods of the requests that reach the service.
fn client(behaviour: Behaviour, metrics: &Metrics, guards: impl Into<Guards>) -> (Client, Arc<Mutex<Vec<Method>>>) {
    let seen = Arc::<Mutex<Vec<_>>>::default();
    let reached = seen.clone();
    let service = service_fn(move |request: Request<Body>| {
        reached.lock().unwrap().push(request.method().clone());
        async move {
            let frames = match behaviour {
                Behaviour::Silent => std::future::pending().await,
                Behaviour::Answer => Frames(vec![(0, "{\"metadata\":{\"name\":\"a\"},\"items\":[]}")]),
                Behaviour::Stall => Frames(vec![(u64::MAX / 4, ""), (0, "{\"meta")]),
                Behaviour::Trickle => Frames(vec![(20, " "); 180]),
            };
            Ok::<_, Infallible>(Response::new(http_body_util::StreamBody::new(frames.stream())))
        }
    });
    (over(service, "default", metrics, guards), seen)
}

/// The pieces of a body, last to first, each with its delay in seconds.
struct Frames(Vec<(u64, &'static str)>);

impl Frames {
    fn stream(self) -> impl futures::Stream<Item = Result<Frame<Bytes>, Infallible>> + Send + Unpin {
        Box::pin(futures::stream::unfold(self.0, |mut left| async move {
            let (seconds, text) = left.pop()?;
            sleep(Duration::from_secs(seconds.min(86_400))).await;
            Some((Ok(Frame::data(Bytes::from_static(text.as_bytes()))), left))
        }))
    }
}

fn maps(client: &Client) -> Api<ConfigMap> {
    Api::default_namespaced(client.clone())
}

#[tokio::test(start_paused = true)]
async fn a_silent_api_server_fails_a_request_after_thirty_seconds() {
    for behaviour in [Behaviour::Silent, Behaviour::Stall] {
        let metrics = Metrics::new();
        let (client, _) = client(behaviour, &metrics, WriteGate::open());
        let started = Instant::now();
        let error = maps(&client).get("a").await.unwrap_err();
        assert_eq!(started.elapsed().as_secs(), 30, "{error}");
        let code = if matches!(behaviour, Behaviour::Silent) {
            "<error>"
        } else {
            "200"
        };
        let line = format!("rest_client_requests_total{{code=\"{code}\",host=\"in-process\",method=\"GET\"}} 1\n");
        assert!(metrics.encode().contains(&line), "{}", metrics.encode());
        assert_eq!(Error::from(error).class(), crate::error::Class::Retry);
    }
}

/// As an API server does that waits for a webhook until its time-out of 30 s, and then goes on without it.
#[tokio::test(start_paused = true)]
async fn a_write_may_take_as_long_as_the_webhooks_of_the_api_server() {
    for (seconds, is_answered) in [(34, true), (41, false)] {
        let service = service_fn(move |_: Request<Body>| async move {
            sleep(Duration::from_secs(seconds)).await;
            Ok::<_, Infallible>(Response::new(http_body_util::Full::new(Bytes::from_static(b"{}"))))
        });
        let client = over(service, "default", &Metrics::new(), WriteGate::open());
        let patch = Patch::Merge(serde_json::json!({}));
        let patched = maps(&client).patch("a", &PatchParams::default(), &patch).await;
        assert_eq!(patched.is_ok(), is_answered, "{patched:?}");
        if let Err(error) = patched {
            assert!(
                crate::error::chain(&error).contains("did not answer for 40s"),
                "{error:?}"
            );
        }
    }
}

/// As those of API priority and fairness, of the limit of requests in flight, and of a proxy.
#[tokio::test]
async fn an_api_server_that_is_busy_is_asked_again_after_the_time_that_its_header_names() {
    use crate::error::Class;
    let status = r#"{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 503, "message": "busy",
        "details": {"causes": [{"message": "because"}]}}"#;
    let seconds = |seconds| Class::RetryAfter(Duration::from_secs(seconds));
    let cases = [
        (429, "5", "Too many requests, please try again later.\n", seconds(5)),
        (429, "7", "", seconds(7)),
        (503, "9", "<html>down</html>", seconds(9)),
        (503, "3", status, seconds(3)),
        (502, "2", "{\"kind\": 1}", seconds(2)),
        (429, "0", "busy", Class::Retry),
        (503, "Wed, 21 Oct 2026 07:28:00 GMT", "busy", Class::Retry),
        (404, "5", "no", Class::Retry),
    ];
    for (code, header, body, class) in cases {
        let service = service_fn(move |_: Request<Body>| async move {
            let body = http_body_util::Full::new(Bytes::from_static(body.as_bytes()));
            let answer = Response::builder().status(code).header("retry-after", header);
            Ok::<_, Infallible>(answer.body(body).unwrap())
        });
        let client = over(service, "default", &Metrics::new(), WriteGate::open());
        let error = Error::from(maps(&client).get("a").await.unwrap_err());
        assert_eq!(
            (error.code(), error.class()),
            (Some(code), class),
            "{code} {body}: {error}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_response_that_continues_does_not_time_out() {
    let (client, _) = client(Behaviour::Trickle, &Metrics::new(), WriteGate::open());
    // The body is an hour of blanks, and then no JSON.
    let started = Instant::now();
    let error = maps(&client).list(&ListParams::default()).await.unwrap_err();
    assert!(matches!(error, kube::Error::SerdeError(_)), "{error}");
    assert_eq!(started.elapsed().as_secs(), 3600);
}

#[tokio::test(start_paused = true)]
async fn a_watch_may_be_silent_after_its_response_begins_and_a_followed_log_before() {
    let (stalling, _) = client(Behaviour::Stall, &Metrics::new(), WriteGate::open());
    let params = WatchParams::default().disable_bookmarks();
    let mut events = Box::pin(maps(&stalling).watch(&params, "0").await.unwrap());
    let silence = timeout(Duration::from_secs(7200), futures::StreamExt::next(&mut events)).await;
    assert!(silence.is_err(), "{silence:?}");

    let (silent, _) = client(Behaviour::Silent, &Metrics::new(), WriteGate::open());
    let started = Instant::now();
    assert!(maps(&silent).watch(&WatchParams::default(), "0").await.is_err());
    assert_eq!(started.elapsed().as_secs(), 30);
    let pods = Api::<k8s_openapi::api::core::v1::Pod>::default_namespaced(silent);
    let follow = LogParams {
        follow: true,
        ..LogParams::default()
    };
    assert!(
        timeout(Duration::from_secs(7200), pods.log_stream("a", &follow))
            .await
            .is_err()
    );
}

/// A service that lists one ConfigMap and whose first watch is silent forever; and the queries of its requests.
fn half_open() -> (Client, Arc<Mutex<Vec<String>>>) {
    let seen = Arc::<Mutex<Vec<String>>>::default();
    let reached = seen.clone();
    let service = service_fn(move |request: Request<Body>| {
        let query = request.uri().query().unwrap_or_default().to_owned();
        let watches = query.contains("watch=true");
        let nth = reached
            .lock()
            .unwrap()
            .iter()
            .filter(|seen| seen.contains("watch=true"))
            .count();
        reached.lock().unwrap().push(query);
        let frames = Frames(match (watches, nth) {
            (false, _) => vec![(
                0,
                r#"{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","resourceVersion":"5"}}]}"#,
            )],
            (true, 0) => vec![(u64::MAX, "")],
            (true, _) => vec![
                (u64::MAX, ""),
                (
                    1,
                    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"b\",\"resourceVersion\":\"8\"}}}\n",
                ),
            ],
        });
        async move { Ok::<_, Infallible>(Response::new(http_body_util::StreamBody::new(frames.stream()))) }
    });
    (over(service, "default", &Metrics::new(), WriteGate::open()), seen)
}

#[tokio::test(start_paused = true)]
async fn a_silent_watch_is_restarted_from_its_last_version() {
    let (client, seen) = half_open();
    let informer = Informer::<ConfigMap>::new(client, InformerConfig::default());
    let (store, running) = (
        informer.store(),
        tokio::spawn(informer.clone().run(std::future::pending())),
    );
    informer.synced().await;
    sleep(Duration::from_secs(89)).await;
    assert_eq!((seen.lock().unwrap().len(), store.len()), (2, 1));
    sleep(Duration::from_secs(3)).await;
    assert_eq!(store.len(), 2, "the change made meanwhile");
    assert_eq!(informer.last_error(), None, "silence is no failure");
    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen.len(), 3, "no second list: {seen:?}");
    assert!(
        seen[2].contains("watch=true") && seen[2].contains("resourceVersion=7"),
        "{seen:?}"
    );
    running.abort();
}

#[tokio::test]
async fn a_closed_gate_allows_reads_and_refuses_writes_unsent() {
    let may_write = Arc::new(AtomicBool::new(true));
    let gate = {
        let may_write = may_write.clone();
        WriteGate::new(move || may_write.load(Ordering::Relaxed))
    };
    let (client, seen) = client(Behaviour::Answer, &Metrics::new(), gate);
    let maps = maps(&client);
    let map = ConfigMap::default();
    maps.create(&PostParams::default(), &map).await.unwrap();
    may_write.store(false, Ordering::Relaxed);
    maps.get("a").await.unwrap();
    maps.list(&ListParams::default()).await.unwrap();
    for refused in [
        maps.create(&PostParams::default(), &map).await,
        maps.replace("a", &PostParams::default(), &map).await,
        maps.patch("a", &PatchParams::default(), &Patch::Merge(&map)).await,
        maps.delete("a", &Default::default()).await.map(|_| map.clone()),
    ] {
        assert!(matches!(Error::from(refused.unwrap_err()), Error::NotLeader));
    }
    assert_eq!(*seen.lock().unwrap(), [Method::POST, Method::GET, Method::GET]);
}

#[tokio::test(start_paused = true)]
async fn a_limit_delays_requests_beyond_the_burst_in_their_order() {
    let guards = Guards::from(WriteGate::open()).limit(Some(RateLimit::new(0.5, 2)));
    let (client, seen) = client(Behaviour::Answer, &Metrics::new(), guards);
    let (maps, started) = (maps(&client), Instant::now());
    let requests = (0..5).map(|_| async {
        maps.get("a").await.unwrap();
        started.elapsed().as_secs()
    });
    assert_eq!(futures::future::join_all(requests).await, [0, 0, 2, 4, 6]);
    assert_eq!(seen.lock().unwrap().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_turn_comes_after_the_lease_was_lost_is_not_sent() {
    let may_write = Arc::new(AtomicBool::new(true));
    let gate = {
        let may_write = may_write.clone();
        WriteGate::new(move || may_write.load(Ordering::Relaxed))
    };
    let guards = Guards::from(gate).limit(Some(RateLimit::new(0.1, 1)));
    let (client, seen) = client(Behaviour::Answer, &Metrics::new(), guards);
    let (maps, map) = (maps(&client), ConfigMap::default());
    let params = PostParams::default();
    maps.create(&params, &map).await.unwrap();
    let loses = async {
        sleep(Duration::from_secs(5)).await;
        may_write.store(false, Ordering::Relaxed);
    };
    let (refused, ()) = futures::join!(maps.create(&params, &map), loses);
    assert!(matches!(Error::from(refused.unwrap_err()), Error::NotLeader));
    assert_eq!(seen.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn the_flag_takes_precedence_and_an_invalid_file_is_named() {
    let folder = std::env::temp_dir().join(format!("kubewright-client-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("kubeconfig");
    let text = "apiVersion: v1\nkind: Config\ncurrent-context: a\n\
                clusters: [{name: a, cluster: {server: 'http://127.0.0.1:9'}}]\n\
                contexts: [{name: a, context: {cluster: a, user: a, namespace: ours}}]\nusers: [{name: a, user: {}}]\n";
    std::fs::write(&file, text).unwrap();
    let found = config(Some(&file)).await.unwrap();
    assert_eq!(
        (found.cluster_url.to_string().as_str(), found.default_namespace.as_str()),
        ("http://127.0.0.1:9/", "ours")
    );
    let missing = folder.join("missing");
    let error = config(Some(&missing)).await.unwrap_err().to_string();
    assert!(error.contains("--kubeconfig") && error.contains("missing"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[tokio::test]
async fn requests_have_the_operators_user_agent_and_are_sent_once() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let mut requests = Vec::new();
        // A second request would arrive within a second.
        while let Ok(Ok((mut stream, _))) = timeout(Duration::from_secs(1), listener.accept()).await {
            use tokio::io::{AsyncReadExt, AsyncWriteExt};
            let mut text = vec![0; 4096];
            let length = stream.read(&mut text).await.unwrap();
            requests.push(String::from_utf8_lossy(&text[..length]).into_owned());
            let head = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
            stream.write_all(head.as_bytes()).await.unwrap();
        }
        requests
    });
    let config = Config::new(format!("http://{address}").parse().unwrap());
    let client = build(config, "foobar-operator/0.1.0", &Metrics::new(), WriteGate::open()).unwrap();
    assert!(
        maps(&client)
            .create(&PostParams::default(), &ConfigMap::default())
            .await
            .is_err()
    );
    let requests = server.await.unwrap();
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert!(
        requests[0]
            .to_lowercase()
            .contains("user-agent: foobar-operator/0.1.0\r\n"),
        "{}",
        requests[0]
    );
}
