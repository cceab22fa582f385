//! Leader election against a Lease API with a real compare-and-swap, by a clock of our own.

use std::{
    convert::Infallible,
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use kubewright_runtime::{Election, ElectionConfig, Metrics};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};
use tower::service_fn;

/// One lease, as the API server keeps it.
#[derive(Clone, Default)]
struct LeaseServer(Arc<Mutex<Store>>);

#[derive(Default)]
struct Store {
    lease: Option<Value>,
    version: u64,
    requests: usize,
    fault: Fault,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Fault {
    #[default]
    None,
    /// Nothing is answered, and nothing done.
    Silent,
    /// Writes are done, and not answered.
    LosesAnswers,
    Errors,
}

impl LeaseServer {
    fn client(&self) -> Client {
        let server = self.clone();
        let serve = move |request: Request<Body>| {
            let server = server.clone();
            async move {
                let (method, body) = (request.method().clone(), request.into_body());
                let body = body.collect().await.map_err(|_| ()).unwrap().to_bytes();
                let body = serde_json::from_slice(&body).unwrap_or_default();
                // A request is under way for a moment, so that two can be under way at once.
                sleep(Duration::from_millis(1)).await;
                let fault = server.0.lock().unwrap().fault;
                if fault == Fault::Silent {
                    pending::<()>().await;
                }
                let answer = server.answer(&method, body);
                if fault == Fault::LosesAnswers && method != Method::GET {
                    pending::<()>().await;
                }
                Ok::<_, Infallible>(answer)
            }
        };
        Client::new(service_fn(serve), "default")
    }

    fn answer(&self, method: &Method, mut body: Value) -> Response<Body> {
        let mut store = self.0.lock().unwrap();
        store.requests += 1;
        let (code, reason) = match (method, &store.lease) {
            _ if store.fault == Fault::Errors => (500, "InternalError"),
            (&Method::GET, Some(lease)) => return reply(200, lease.clone()),
            (&Method::POST, Some(_)) => (409, "AlreadyExists"),
            (&Method::PUT, Some(lease))
                if lease["metadata"]["resourceVersion"] != body["metadata"]["resourceVersion"] =>
            {
                (409, "Conflict")
            }
            (&Method::POST, None) | (&Method::PUT, Some(_)) => {
                store.version += 1;
                body["metadata"]["resourceVersion"] = json!(store.version.to_string());
                store.lease = Some(body.clone());
                return reply(200, body);
            }
            _ => (404, "NotFound"),
        };
        reply(
            code,
            json!({"kind": "Status", "status": "Failure", "message": reason, "reason": reason, "code": code}),
        )
    }

    fn set_fault(&self, fault: Fault) {
        self.0.lock().unwrap().fault = fault;
    }

    fn spec(&self) -> Value {
        self.0.lock().unwrap().lease.as_ref().unwrap()["spec"].clone()
    }

    fn holder(&self) -> String {
        self.spec()["holderIdentity"].as_str().unwrap().to_owned()
    }

    /// Another process writes the lease; its clock may be anything.
    fn write_as(&self, holder: &str, clock: &str) {
        let spec =
            json!({"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": clock, "acquireTime": clock});
        let mut store = self.0.lock().unwrap();
        store.version += 1;
        let version = store.version.to_string();
        store.lease = Some(json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
            "metadata": {"name": "op", "namespace": "ns", "resourceVersion": version, "labels": {"kept": "yes"}},
            "spec": spec,
        }));
    }

    fn candidate(&self, identity: &str) -> Election {
        self.candidate_counted(identity, &Metrics::new())
    }

    fn candidate_counted(&self, identity: &str, metrics: &Metrics) -> Election {
        let config = ElectionConfig {
            identity: identity.to_owned(),
            ..ElectionConfig::new("op", "ns")
        };
        Election::spawn(config, self.client(), metrics).unwrap()
    }
}

fn reply(code: u16, body: Value) -> Response<Body> {
    let mut response = Response::new(Body::from(body.to_string().into_bytes()));
    *response.status_mut() = StatusCode::from_u16(code).unwrap();
    response
}

async fn is_within<T>(seconds: u64, future: impl Future<Output = T>) -> Option<T> {
    timeout(Duration::from_secs(seconds), future).await.ok()
}

#[tokio::test(start_paused = true)]
async fn a_lone_candidate_leads_at_once_and_keeps_leading() {
    let (server, metrics) = (LeaseServer::default(), Metrics::new());
    let election = server.candidate_counted("a", &metrics);
    assert!(!election.is_leader());
    assert!(
        metrics
            .encode()
            .contains("\nleader_election_master_status{name=\"op\"} 0\n")
    );
    is_within(1, election.acquired()).await.unwrap();
    assert!(election.is_leader());
    assert!(
        metrics
            .encode()
            .contains("\nleader_election_master_status{name=\"op\"} 1\n")
    );
    let first = server.spec();
    assert_eq!(
        (&first["holderIdentity"], &first["leaseDurationSeconds"]),
        (&json!("a"), &json!(15))
    );
    assert_eq!(first["leaseTransitions"], 0);

    assert!(is_within(3600, election.lost()).await.is_none());
    let later = server.spec();
    assert_eq!(
        (&later["acquireTime"], &later["leaseTransitions"]),
        (&first["acquireTime"], &json!(0))
    );
    let requests = server.0.lock().unwrap().requests;
    assert!(
        (1700..1810).contains(&requests),
        "one request each two seconds: {requests}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_silent_api_server_costs_the_lease_at_the_renew_deadline() {
    let server = LeaseServer::default();
    let election = server.candidate("a");
    election.acquired().await;
    sleep(Duration::from_secs(60)).await;
    server.set_fault(Fault::Silent);
    let started = Instant::now();
    let reason = election.lost().await.to_string();
    // The last renewal was sent up to a retry period before the silence.
    let took = started.elapsed().as_secs_f64();
    assert!((7.9..=10.0).contains(&took), "{took}");
    assert!(reason.contains("could not be renewed in time"), "{reason}");
    assert!(!election.is_leader());
}

#[tokio::test(start_paused = true)]
async fn errors_for_less_than_the_deadline_cost_nothing() {
    let server = LeaseServer::default();
    let election = server.candidate("a");
    election.acquired().await;
    for fault in [Fault::Errors, Fault::LosesAnswers, Fault::Silent] {
        server.set_fault(fault);
        assert!(is_within(4, election.lost()).await.is_none());
        server.set_fault(Fault::None);
        assert!(
            is_within(20, election.lost()).await.is_none(),
            "{}",
            election.lost().await
        );
        assert!(election.is_leader());
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_taken_by_another_is_lost_at_the_next_renewal() {
    for holder in ["b", ""] {
        let server = LeaseServer::default();
        let election = server.candidate("a");
        election.acquired().await;
        server.write_as(holder, "2020-01-01T00:00:00.000000Z");
        let reason = is_within(3, election.lost()).await.unwrap().to_string();
        assert!(
            reason.contains(if holder.is_empty() { "emptied" } else { "`b` holds it" }),
            "{reason}"
        );
        assert!(!election.is_leader());
        assert_eq!(server.holder(), holder, "nothing was written over it");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_somebody_deleted_is_made_again() {
    let server = LeaseServer::default();
    let election = server.candidate("a");
    election.acquired().await;
    server.0.lock().unwrap().lease = None;
    assert!(is_within(30, election.lost()).await.is_none());
    assert_eq!(server.holder(), "a");
}

#[tokio::test(start_paused = true)]
async fn another_holder_is_gone_only_when_seen_silent_whatever_its_clock_says() {
    // The other's clock is years behind, or years ahead.
    for clock in ["2001-01-01T00:00:00.000000Z", "2101-01-01T00:00:00.000000Z"] {
        let server = LeaseServer::default();
        server.write_as("b", clock);
        let election = server.candidate("a");
        // It renews each ten seconds, and writes the same time each time but for a digit.
        for renewal in 1..6 {
            assert!(is_within(10, election.acquired()).await.is_none());
            server.write_as("b", &clock.replace("00.000000", &format!("00.00000{renewal}")));
        }
        let silent = Instant::now();
        is_within(60, election.acquired()).await.unwrap();
        let took = silent.elapsed().as_secs_f64();
        // From when the last renewal was seen, which is a jittered retry period later at most; and one until the next try.
        assert!((15.0..15.0 + 2.0 * 4.5).contains(&took), "{took}");
        let spec = server.spec();
        assert_eq!(
            (&spec["holderIdentity"], &spec["leaseTransitions"]),
            (&json!("a"), &json!(1))
        );
        let labels = server.0.lock().unwrap().lease.as_ref().unwrap()["metadata"]["labels"].clone();
        assert_eq!(labels, json!({"kept": "yes"}), "what others put on the lease stays");
    }
}

#[tokio::test(start_paused = true)]
async fn a_released_lease_is_taken_over_at_once() {
    let server = LeaseServer::default();
    let first = server.candidate("a");
    first.acquired().await;
    let second = server.candidate("b");
    assert!(is_within(60, second.acquired()).await.is_none());

    first.release().await;
    assert!(!first.is_leader());
    assert_eq!(first.lost().await.to_string(), "it was released");
    let spec = server.spec();
    assert_eq!(
        (&spec["holderIdentity"], &spec["leaseDurationSeconds"]),
        (&json!(""), &json!(1))
    );
    is_within(5, second.acquired()).await.unwrap();
    assert_eq!(server.holder(), "b");
}

#[tokio::test(start_paused = true)]
async fn a_candidate_that_never_led_releases_nothing() {
    let server = LeaseServer::default();
    let first = server.candidate("a");
    first.acquired().await;
    let second = server.candidate("b");
    sleep(Duration::from_secs(30)).await;
    second.release().await;
    assert_eq!(server.holder(), "a");
    assert!(first.is_leader());
}

#[tokio::test(start_paused = true)]
async fn a_release_waits_for_a_silent_api_server_only_so_long() {
    let server = LeaseServer::default();
    let election = server.candidate("a");
    election.acquired().await;
    server.set_fault(Fault::Silent);
    is_within(6, election.release()).await.unwrap();
    assert!(!election.is_leader());
}

#[tokio::test(start_paused = true)]
async fn a_dropped_election_ends_and_leaves_the_lease_to_expire() {
    let server = LeaseServer::default();
    let election = server.candidate("a");
    election.acquired().await;
    drop(election);
    sleep(Duration::from_secs(5)).await;
    let requests = server.0.lock().unwrap().requests;
    sleep(Duration::from_secs(60)).await;
    assert_eq!(server.0.lock().unwrap().requests, requests);
    assert_eq!(server.holder(), "a");
}

/// Every fault in turn, each at other times for each number, and never two leaders.
#[tokio::test(start_paused = true)]
async fn of_three_candidates_never_two_lead() {
    let faults = [Fault::Silent, Fault::LosesAnswers, Fault::Errors, Fault::None];
    for seed in 0..20_u64 {
        let server = LeaseServer::default();
        let mut candidates: Vec<_> = ["a", "b", "c"].map(|name| server.candidate(name)).into();
        let (mut lead, mut next) = (0, 3);
        for step in 0..600_u64 {
            // A small pseudo-random walk is enough: what counts is that seeds differ.
            let dice = (step + 1)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ (seed << 17))
                .rotate_left(23)
                % 97;
            if dice < 8 {
                server.set_fault(faults[dice as usize % 4]);
            }
            if dice == 8 {
                server.set_fault(Fault::None);
                candidates.remove(0).release().await;
            }
            sleep(Duration::from_millis(250 + dice)).await;
            // The loser of the lease ends its process; another one is started.
            for candidate in &mut candidates {
                if is_within(0, candidate.lost()).await.is_some() {
                    *candidate = server.candidate(&format!("x{next}"));
                    next += 1;
                }
            }
            while candidates.len() < 3 {
                candidates.push(server.candidate(&format!("y{next}")));
                next += 1;
            }
            let leaders = candidates.iter().filter(|candidate| candidate.is_leader()).count();
            assert!(leaders <= 1, "seed {seed}, step {step}: {leaders} leaders");
            lead += leaders;
        }
        assert!(lead > 20, "seed {seed}: somebody led in {lead} of 600 steps");
    }
}

#[test]
fn the_election_runs_on_its_own_thread() {
    // No API server there: what matters is that it starts outside any runtime, runs, and ends when asked to.
    let kube = kube::Config::new("http://127.0.0.1:9".parse().unwrap());
    let election = Election::start(ElectionConfig::new("op", "ns"), kube, &Metrics::new()).unwrap();
    assert!(!election.is_leader());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async { timeout(Duration::from_secs(5), election.release()).await.unwrap() });
}

#[tokio::test]
async fn durations_that_do_not_fit_are_refused_inside_a_runtime_too() {
    let kube = kube::Config::new("http://127.0.0.1:9".parse().unwrap());
    let config = ElectionConfig {
        retry_period: Duration::from_secs(9),
        ..ElectionConfig::new("op", "ns")
    };
    let error = Election::start(config, kube, &Metrics::new())
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("renew deadline must be longer"), "{error}");
}
