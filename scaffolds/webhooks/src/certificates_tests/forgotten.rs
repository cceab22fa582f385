//! Nothing that the keeper of certificates writes is forgotten: Secret, configurations and definition. Each write fails once,
//! or the process dies there; the end state is as without a fault.

use std::{
    convert::Infallible,
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use futures::{StreamExt, future::ready, stream};
use http::{Request, Response};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use k8s_openapi::api::core::v1::Secret;
use kube::Api;
use kubewright_apiserver::{ApiServer, Controllers, Options as ServerOptions};
use kubewright_runtime::Result;
use kubewright_runtime::component::certificates::{REVISION, State, secret};
use serde_json::json;
use tower::{ServiceExt, service_fn};

use super::{deployment::CONFIGURATIONS, *};
use crate::{
    conversion::tests::kinds::{self, v1::FooBar},
    webhook::{Admission, Change, Defaulter, Validator, Verdict, Webhook},
};

const PACE: RenewalTiming = RenewalTiming {
    lives: Lifetimes::DEFAULT,
    settle: Duration::from_millis(50),
    look: Duration::from_millis(50),
};
const MANAGER: &str = "foobar-operator/certificates";

/// Allows everything, and changes nothing.
struct Asked;

impl Validator<FooBar> for Asked {
    async fn validate(&self, _: &Admission, _: Change<'_, FooBar>) -> Result<Verdict> {
        Ok(Verdict::allowed())
    }
}

impl Defaulter<FooBar> for Asked {
    async fn default(&self, _: &Admission, _: &mut FooBar) -> Result<()> {
        Ok(())
    }
}

/// The fate of one write.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// It is refused with this code.
    Refused(u16),
    /// The process dies there; the write is stored, or not.
    Dies { stored: bool },
}

/// The connection of one process to the server, with a fault at one of its writes.
#[derive(Clone)]
struct Line {
    server: ApiServer,
    fault: Option<(usize, Fault)>,
    writes: Arc<AtomicUsize>,
    is_dead: Arc<AtomicBool>,
    /// A part of the paths that are refused.
    forbidden: Option<&'static str>,
}

impl Line {
    fn to(server: &ApiServer, fault: Option<(usize, Fault)>) -> Self {
        Self {
            server: server.clone(),
            fault,
            writes: Arc::default(),
            is_dead: Arc::default(),
            forbidden: None,
        }
    }

    fn client(&self) -> Client {
        let line = self.clone();
        let serve = move |request: Request<Body>| {
            let line = line.clone();
            async move { Ok::<_, Infallible>(line.answer(request).await) }
        };
        Client::new(service_fn(serve), "default")
    }

    async fn answer(&self, request: Request<Body>) -> Response<UnsyncBoxBody<bytes::Bytes, Infallible>> {
        if self.is_dead.load(Ordering::SeqCst) {
            return pending().await;
        }
        let writes = *request.method() != http::Method::GET;
        let number = writes.then(|| self.writes.fetch_add(1, Ordering::SeqCst));
        let forbidden = self.forbidden.filter(|part| request.uri().path().contains(part));
        let forbidden = forbidden.map(|_| Fault::Refused(403));
        let fault = self.fault.filter(|(at, _)| Some(*at) == number).map(|(_, fault)| fault);
        match forbidden.or(fault) {
            Some(Fault::Refused(code)) => {
                let status = json!({"kind": "Status", "status": "Failure", "message": "as asked", "code": code});
                let body = Full::new(bytes::Bytes::from(status.to_string()));
                return Response::builder().status(code).body(body.boxed_unsync()).unwrap();
            }
            Some(Fault::Dies { stored }) => {
                if stored {
                    _ = self.server.service().oneshot(request).await;
                }
                self.is_dead.store(true, Ordering::SeqCst);
                return pending().await;
            }
            None => {}
        }
        let Ok(answer) = self.server.service().oneshot(request).await;
        answer.map(BodyExt::boxed_unsync)
    }
}

fn manager(client: Client) -> Manager {
    let manager = Manager::builder(client).name(OPERATOR).build();
    Webhook::validating(Asked).register(&manager).unwrap();
    Webhook::defaulting(Asked).register(&manager).unwrap();
    kinds::hub().register(&manager).unwrap();
    manager
}

/// A cluster with one process of the operator.
struct Stage {
    server: ApiServer,
    client: Client,
    line: Line,
    replica: Replica,
}

impl Stage {
    async fn start(fault: Option<(usize, Fault)>) -> Self {
        let server = ApiServer::new(ServerOptions {
            controllers: Controllers::NONE,
            ..ServerOptions::default()
        });
        let client = Client::new(server.service(), "default");
        assert!(apply(&client, DEFINITIONS, &kinds::definition()).await.0 < 300);
        deploy(&client, "default", &manager(client.clone()), None).await;
        let line = Line::to(&server, fault);
        let replica = Replica::start(&manager(line.client()), "default", PACE, None);
        Self {
            server,
            client,
            line,
            replica,
        }
    }

    /// Waits until clients trust what this state or a later one has, while a process that dies is followed by another.
    async fn settled(&mut self, after: Option<&State>) {
        for _ in 0..1_200 {
            sleep(Duration::from_millis(50)).await;
            if self.line.is_dead.load(Ordering::SeqCst) {
                self.line = Line::to(&self.server, None);
                self.replica = Replica::start(&manager(self.line.client()), "default", PACE, None);
            }
            if self.unsettled(after).await.is_none() && self.replica.standing.check().is_ok() {
                return;
            }
        }
        let (why, standing) = (self.unsettled(after).await, self.replica.standing.check());
        panic!("{:?}: {why:?}, {standing:?}", self.line.fault);
    }

    async fn secret(&self) -> Secret {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), "default");
        secrets.get(&format!("{PREFIX}{SECRET}")).await.unwrap()
    }

    /// The objects that name authorities.
    fn paths() -> [String; 3] {
        let name = |kind| {
            format!("{CONFIGURATIONS}/{kind}webhookconfigurations/{CONFIGURATION_PREFIX}{kind}-webhook-configuration")
        };
        let definition = format!("{DEFINITIONS}/foobars.test.example.com");
        [name("validating"), name("mutating"), definition]
    }

    /// The first condition that does not hold yet.
    async fn unsettled(&self, after: Option<&State>) -> Option<String> {
        let Some(state) = secret::read(&self.secret().await) else {
            return Some("no certificate".to_owned());
        };
        let bundle = state.bundle();
        if after.is_some_and(|after| bundle.contains(&after.bundle())) || bundle.matches("BEGIN").count() != 1 {
            return Some(format!("{} authorities", bundle.matches("BEGIN").count()));
        }
        for path in Self::paths() {
            let (_, object) = send(&self.client, Request::get(&path), &Value::Null).await;
            let own = json!(k8s_openapi::ByteString(bundle.clone().into_bytes()));
            let hooks = object["webhooks"].as_array().cloned().unwrap_or_default();
            let hooks = hooks.iter().chain(object["spec"]["conversion"].get("webhook"));
            let named: Vec<_> = hooks.map(|hook| hook["clientConfig"]["caBundle"] == own).collect();
            if named.is_empty() || named.contains(&false) {
                return Some(format!("{path} names other authorities"));
            }
            if object["metadata"]["annotations"][REVISION] != json!(state.revision.to_string()) {
                return Some(format!("{path} has another revision"));
            }
            let managers = object["metadata"]["managedFields"].to_string();
            if !object["webhooks"].is_null() && managers.contains(MANAGER) {
                return Some(format!("{path} is not released"));
            }
        }
        None
    }
}

/// The first certificates, and a replacement of their authority in all its steps; with this fault. Returns the writes.
async fn story(fault: Option<(usize, Fault)>) -> usize {
    let mut stage = Stage::start(fault).await;
    stage.settled(None).await;
    // An authority that is due to be replaced, and ends in four seconds.
    let before = secret::read(&stage.secret().await).unwrap();
    let names = vec![format!("{PREFIX}{SERVICE}.default.svc"), "127.0.0.1".to_owned()];
    let lives = Lifetimes {
        authority: 12,
        leaf: 11,
    };
    let old = State::new(names, before.revision, now() - 8, lives).unwrap();
    secret::write(&stage.client, &stage.secret().await, &old, MANAGER)
        .await
        .unwrap();
    stage.settled(Some(&old)).await;
    stage.line.writes.load(Ordering::SeqCst)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_write_of_certificates_that_fails_once_is_done_in_the_end_also_by_the_next_process() {
    let writes = story(None).await;
    assert!(writes > 12, "{writes}");
    let faults = [true, false].map(|stored| Fault::Dies { stored });
    let faults = [Fault::Refused(409), Fault::Refused(503)].into_iter().chain(faults);
    let stories = faults.flat_map(|fault| (0..writes).map(move |write| story(Some((write, fault)))));
    // A story waits for at most a minute, so that not all may share the processors.
    stream::iter(stories).buffer_unordered(12).for_each(|_| ready(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_made_up_revision_in_an_annotation_does_not_keep_authorities_from_being_published() {
    for revision in ["7", "18446744073709551615", "soon"] {
        let mut stage = Stage::start(None).await;
        stage.settled(None).await;
        for path in Stage::paths() {
            let request = Request::patch(path).header("content-type", "application/merge-patch+json");
            let forged = json!({"metadata": {"annotations": {REVISION: revision}}});
            assert_eq!(send(&stage.client, request, &forged).await.0, 200);
        }
        stage.settled(None).await;
        let state = secret::read(&stage.secret().await).unwrap();
        let names = vec![format!("{PREFIX}{SERVICE}.default.svc"), "127.0.0.1".to_owned()];
        let new = State::new(names, state.revision, now(), Lifetimes::DEFAULT).unwrap();
        secret::write(&stage.client, &stage.secret().await, &new, MANAGER)
            .await
            .unwrap();
        stage.settled(Some(&state)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_that_is_gone_or_cannot_be_read_does_not_take_the_other_webhooks_down() {
    let mut stage = Stage::start(None).await;
    stage.settled(None).await;
    let [validating, _, definition] = Stage::paths();
    for path in [validating, definition] {
        assert!(send(&stage.client, Request::delete(path), &Value::Null).await.0 < 300);
        for _ in 0..10 {
            sleep(PACE.look).await;
            assert_eq!(stage.replica.standing.check(), Ok(()));
        }
    }

    let mut line = Line::to(&stage.server, None);
    line.forbidden = Some("/mutatingwebhookconfigurations");
    let restarted = Replica::start(&manager(line.client()), "default", PACE, None);
    let mut config = kube::Config::new(restarted.url().parse().unwrap());
    config.accept_invalid_certs = true;
    let client = Client::try_from(config).unwrap();
    until("a certificate", async || {
        client
            .send(Request::get("/").body(Body::empty()).unwrap())
            .await
            .is_ok()
    })
    .await;
    let why = restarted.standing.check().unwrap_err();
    assert!(why.contains("403"), "nobody can say that it is accepted: {why}");
}
