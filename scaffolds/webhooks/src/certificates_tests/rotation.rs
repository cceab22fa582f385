//! Ten writers while everything about certificates and replicas changes: two rotations of the authority, a rolling update, and
//! certificates that have ended; on the in-process API server and on a real one.

use std::{
    mem,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api,
    api::{ObjectMeta, PostParams},
};
use kubewright_apiserver::{ApiServer, Controllers, Options as ServerOptions};
use kubewright_runtime::component::certificates::{State, secret};
use kubewright_runtime::{Result, testing::TestCluster};
use serde_json::json;

use super::{
    deployment::{CONFIGURATIONS, Relay, Way},
    *,
};
use crate::{
    conversion::tests::kinds::{
        self,
        v2::{FooBar, FooBarSpec},
    },
    scope::FailurePolicy,
    webhook::{Admission, Change, Validator, Verdict, Webhook},
};

const WRITERS: usize = 10;
/// Between the writes of a writer: on two cores the servers have time for everything else.
const PAUSE: Duration = Duration::from_millis(100);
/// The time for which a replica responds after the Service has dropped it. An operator gives API servers ten seconds.
const DRAIN: Duration = Duration::from_secs(1);

struct Allows;

impl Validator<ConfigMap> for Allows {
    async fn validate(&self, _: &Admission, _: Change<'_, ConfigMap>) -> Result<Verdict> {
        Ok(Verdict::allowed())
    }
}

/// A cluster, and the operator in it.
struct Stage {
    client: Client,
    namespace: String,
    way: Way,
    pace: RenewalTiming,
}

impl Stage {
    fn manager(&self) -> Manager {
        let manager = Manager::builder(self.client.clone()).name(OPERATOR).build();
        let here = json!({"matchLabels": {"kubernetes.io/metadata.name": self.namespace}});
        Webhook::validating(Allows)
            .failure_policy(FailurePolicy::Fail)
            .namespaces(serde_json::from_value(here).unwrap())
            .register(&manager)
            .unwrap();
        kinds::hub().register(&manager).unwrap();
        manager
    }

    fn replica(&self) -> Replica {
        Replica::start(&self.manager(), &self.namespace, self.pace, self.way.url())
    }

    /// Applies the definition and `config/webhook`.
    async fn deploy(&self) {
        assert!(apply(&self.client, DEFINITIONS, &kinds::definition()).await.0 < 300);
        let url = self.way.url();
        deploy(&self.client, &self.namespace, &self.manager(), url.as_deref()).await;
    }

    async fn secret(&self) -> Secret {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), &self.namespace);
        secrets.get(&format!("{PREFIX}{SECRET}")).await.unwrap()
    }

    /// The state in the Secret.
    async fn state(&self) -> State {
        secret::read(&self.secret().await).unwrap()
    }

    /// Waits until objects of both kinds can be created.
    async fn writable(&self) {
        let post = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        until("an API server that calls the webhooks", async || {
            write(&self.client, &self.namespace, "tried", &post).await.is_ok()
        })
        .await;
    }
}

/// Creates a ConfigMap, and a FooBar in the version that is not stored.
async fn write(client: &Client, namespace: &str, name: &str, post: &PostParams) -> std::result::Result<(), String> {
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    };
    let map = ConfigMap {
        metadata,
        ..ConfigMap::default()
    };
    maps.create(post, &map).await.map_err(|error| error.to_string())?;
    let spec = FooBarSpec {
        host: "a".to_owned(),
        port: 1,
        items: Vec::new(),
        tries: Some(3),
    };
    let foobars: Api<FooBar> = Api::namespaced(client.clone(), namespace);
    let created = foobars.create(post, &FooBar::new(name, spec)).await;
    match created.map_err(|error| error.to_string())?.spec.tries {
        Some(3) => Ok(()),
        other => Err(format!("not converted: {other:?}")),
    }
}

/// Clients that create objects until they are stopped.
struct Writers {
    stopped: Arc<AtomicBool>,
    written: Arc<AtomicUsize>,
    tasks: Vec<JoinHandle<Vec<String>>>,
}

impl Writers {
    fn start(stage: &Stage, round: &'static str) -> Self {
        let (stopped, written) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let one = |writer: usize| {
            let (client, namespace) = (stage.client.clone(), stage.namespace.clone());
            let (stopped, written) = (stopped.clone(), written.clone());
            tokio::spawn(async move {
                let mut failures = Vec::new();
                while !stopped.load(Ordering::Relaxed) {
                    let number = written.fetch_add(1, Ordering::Relaxed);
                    let name = format!("{round}-{writer}-{number}");
                    if let Err(why) = write(&client, &namespace, &name, &PostParams::default()).await {
                        failures.push(why);
                    }
                    sleep(PAUSE).await;
                }
                failures
            })
        };
        let tasks = (0..WRITERS).map(one).collect();
        Self {
            stopped,
            written,
            tasks,
        }
    }

    /// Stops them. None of their writes may have failed.
    async fn stop(self) {
        self.stopped.store(true, Ordering::Relaxed);
        let mut failures = Vec::new();
        for task in self.tasks {
            failures.extend(task.await.unwrap());
        }
        let written = self.written.load(Ordering::Relaxed);
        assert_eq!(failures, Vec::<String>::new(), "of {written} writes");
        assert!(written >= WRITERS * 2, "{written}: each writer goes on");
    }
}

async fn story(stage: Stage) {
    let mut replicas = vec![stage.replica(), stage.replica()];
    sleep(Duration::from_millis(300)).await;
    assert!(replicas[0].standing.check().is_err(), "nothing is deployed yet");
    stage.deploy().await;
    for replica in &replicas {
        replica.ready().await;
    }
    stage.way.lead(replicas[0].server.address());
    until("a definition that names the converter", async || {
        let request = http::Request::get(format!("{DEFINITIONS}/foobars.test.example.com"));
        let (_, definition) = send(&stage.client, request, &Value::Null).await;
        definition["spec"]["conversion"]["strategy"] == "Webhook"
    })
    .await;
    stage.writable().await;

    let writers = Writers::start(&stage, "rotated");
    // A rotation announces an authority and forgets one: revisions 2 and 3, and then 4 and 5.
    let mut leaves = rotate(&stage, &replicas, 3).await;
    roll(&stage, &mut replicas).await;
    leaves.extend(rotate(&stage, &replicas, 5).await);
    writers.stop().await;
    leaves.dedup();
    assert!(leaves.len() >= 4, "a leaf was renewed between the rotations too");
    for replica in &replicas {
        assert_eq!(replica.standing.check(), Ok(()));
    }
    ended(&stage, replicas).await;
}

/// Waits until the authorities have this revision, while API servers are led to the replicas in turn, and the operator is
/// deployed again and again. Returns the ends of the leaves that were seen.
async fn rotate(stage: &Stage, replicas: &[Replica], revision: u64) -> Vec<i64> {
    let (mut turn, mut leaves) = (0, Vec::new());
    until("a rotation", async || {
        turn += 1;
        stage.way.lead(replicas[turn % replicas.len()].server.address());
        if turn % 40 == 0 {
            stage.deploy().await;
        }
        let state = stage.state().await;
        if leaves.last() != Some(&state.leaf.until) {
            leaves.push(state.leaf.until);
        }
        state.revision >= revision
    })
    .await;
    leaves
}

/// Replaces the replicas one after the other, as a Deployment does that waits for each new one to be ready.
async fn roll(stage: &Stage, replicas: &mut [Replica]) {
    for replica in replicas {
        let new = stage.replica();
        new.ready().await;
        stage.way.lead(new.server.address());
        let old = mem::replace(replica, new);
        old.server.drain();
        sleep(DRAIN).await;
    }
}

/// The operator comes back after its certificates have ended.
async fn ended(stage: &Stage, replicas: Vec<Replica>) {
    drop(replicas);
    let (secret, before) = (stage.secret().await, stage.state().await);
    let names = vec![
        format!("{PREFIX}{SERVICE}.{}.svc", stage.namespace),
        "127.0.0.1".to_owned(),
    ];
    let long_ago = now() - 1_000;
    let old = State::new(names, before.revision, long_ago, stage.pace.lives).unwrap();
    let written = secret::write(&stage.client, &secret, &old, &format!("{OPERATOR}/certificates")).await;
    written.unwrap();

    let name = format!("{CONFIGURATION_PREFIX}validating-webhook-configuration");
    let configuration = format!("{CONFIGURATIONS}/validatingwebhookconfigurations/{name}");
    let deleted = send(&stage.client, http::Request::delete(configuration), &Value::Null).await;
    assert_eq!(deleted.0, 200, "{}", deleted.1);

    // Neither a configuration that is missing nor a converter that cannot answer keeps certificates from being renewed.
    let replicas = [stage.replica(), stage.replica()];
    until("a certificate that is valid", async || {
        stage.state().await.leaf.until > now()
    })
    .await;
    stage.deploy().await;
    for replica in &replicas {
        replica.ready().await;
    }
    stage.way.lead(replicas[0].server.address());
    stage.writable().await;
    let writers = Writers::start(stage, "ended");
    for turn in 0..20 {
        stage.way.lead(replicas[turn % 2].server.address());
        sleep(PAUSE).await;
    }
    writers.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_writers_lose_nothing_through_two_rotations_a_rolling_update_and_certificates_that_have_ended() {
    let server = ApiServer::new(ServerOptions {
        controllers: Controllers::NONE,
        ..ServerOptions::default()
    });
    story(Stage {
        client: Client::new(server.service(), "default"),
        namespace: "default".to_owned(),
        way: Way::Service(server),
        // A rotation of the authority each six seconds.
        pace: RenewalTiming {
            lives: Lifetimes { authority: 9, leaf: 6 },
            settle: Duration::from_millis(500),
            look: Duration::from_millis(200),
        },
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs KUBEBUILDER_ASSETS"]
async fn ten_writers_lose_nothing_on_a_real_api_server_either() {
    let cluster = TestCluster::start().await.unwrap();
    story(Stage {
        client: cluster.client(),
        namespace: cluster.namespace().to_owned(),
        way: Way::Relay(Relay::start().await),
        // Each eight seconds: kube-apiserver sees changes a moment later, on a busy machine several.
        pace: RenewalTiming {
            lives: Lifetimes { authority: 12, leaf: 8 },
            settle: Duration::from_secs(1),
            look: Duration::from_millis(200),
        },
    })
    .await;
}
