//! The wait of a tenant's first reconcile while another tenant has 10,000 objects, and the number of keys that a queue
//! hands out in a second: `cargo bench --package faults --bench tenants [keys|delays]`. Prints rows of
//! `docs/src/reference/performance.md`.

use std::{
    future::pending,
    sync::Arc,
    time::{Duration, Instant},
};

use faults::{FooBar, FooBarSpec};
use k8s_openapi::{
    api::core::v1::Namespace, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, CustomResourceExt,
    api::{DeleteParams, ObjectMeta, PostParams},
};
use kubewright_apiserver::{ApiServer, Controllers, Options};
use kubewright_runtime::{
    Action, Backoff, Context, Controller, Error, Manager, Metrics, ObjectKey, Priority, Reconciler, Result, WorkQueue,
};
use tokio::{
    sync::mpsc,
    task::JoinHandle,
    time::{sleep, timeout},
};

const OBJECTS: usize = 10_000;
const WORKERS: usize = 8;
const ROUNDS: usize = 9;
/// The limit for a measured delay.
const PATIENCE: Duration = Duration::from_secs(30);

/// The reconciles of the tenant with many objects.
#[derive(Clone, Copy)]
enum Crowd {
    Works,
    Fails,
    Hangs,
}

/// Reports the first reconcile of the tenant with one object; reconciles of the other tenant end as `Crowd` says.
struct Tenants {
    crowd: Crowd,
    first: mpsc::UnboundedSender<Instant>,
}

impl Reconciler<FooBar> for Tenants {
    async fn reconcile(&self, cx: &Context<FooBar>, _: Arc<FooBar>) -> Result<Action> {
        if cx.key().namespace() == Some("quiet") {
            _ = self.first.send(Instant::now());
            return Ok(Action::Done);
        }
        sleep(Duration::from_millis(5)).await;
        match self.crowd {
            Crowd::Works => Ok(Action::Done),
            Crowd::Fails => Err(Error::retry("as it always does")),
            Crowd::Hangs => pending().await,
        }
    }
}

/// An operator with its own queue, in which 10,000 keys of the tenant `crowd` wait at the priority of live changes.
struct Round {
    client: Client,
    first: mpsc::UnboundedReceiver<Instant>,
    operator: JoinHandle<Result<()>>,
}

impl Round {
    async fn start(client: &Client, crowd: Crowd) -> Self {
        let (sender, first) = mpsc::unbounded_channel();
        let (keys, wakes) = mpsc::channel(OBJECTS);
        let manager = Manager::builder(client.clone()).name("bench").build();
        let controller = Controller::<FooBar>::new("foobar")
            .concurrency(WORKERS)
            .watches_channel(wakes);
        controller
            .register(&manager, Tenants { crowd, first: sender })
            .expect("registers");
        let operator = tokio::spawn(async move { manager.run(pending(), None).await });
        // The queue ignores keys until the workers start.
        sleep(Duration::from_millis(1500)).await;
        for n in 0..OBJECTS {
            _ = keys.send(ObjectKey::new(Some("crowd"), &name(n))).await;
        }
        // They are all queued once the channel is empty.
        while keys.capacity() < OBJECTS {
            sleep(Duration::from_millis(5)).await;
        }
        Self {
            client: client.clone(),
            first,
            operator,
        }
    }

    /// Creates the other tenant's object a second later, and waits for its reconcile.
    async fn newcomer(mut self) -> Option<Duration> {
        sleep(Duration::from_secs(1)).await;
        let api: Api<FooBar> = Api::namespaced(self.client.clone(), "quiet");
        while self.first.try_recv().is_ok() {}
        let made = Instant::now();
        api.create(&PostParams::default(), &foobar("one"))
            .await
            .expect("a name that is free");
        let first = timeout(PATIENCE, self.first.recv()).await.ok().flatten();
        api.delete("one", &DeleteParams::default()).await.expect("it is there");
        self.operator.abort();
        first.map(|first| first - made)
    }
}

fn name(n: usize) -> String {
    format!("foobar-{n:05}")
}

fn foobar(name: &str) -> FooBar {
    FooBar::new(
        name,
        FooBarSpec {
            target: "moon".to_owned(),
        },
    )
}

async fn cluster() -> Client {
    let server = ApiServer::new(Options {
        controllers: Controllers::NONE,
        ..Options::default()
    });
    let client = Client::new(server.service(), "default");
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    crds.create(&PostParams::default(), &FooBar::crd())
        .await
        .expect("a definition");
    for name in ["crowd", "quiet"] {
        let metadata = ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        };
        let namespace = Namespace {
            metadata,
            ..Namespace::default()
        };
        Api::all(client.clone())
            .create(&PostParams::default(), &namespace)
            .await
            .expect("a namespace");
    }
    sleep(Duration::from_millis(200)).await;
    let api: Api<FooBar> = Api::namespaced(client.clone(), "crowd");
    for n in 0..OBJECTS {
        api.create(&PostParams::default(), &foobar(&name(n)))
            .await
            .expect("an object");
    }
    client
}

async fn delays() {
    let client = cluster().await;
    for (what, crowd) in [
        ("take 5 ms each", Crowd::Works),
        ("always fail, after 5 ms", Crowd::Fails),
        ("never end", Crowd::Hangs),
    ] {
        let mut delays = Vec::new();
        for _ in 0..ROUNDS {
            match Round::start(&client, crowd).await.newcomer().await {
                Some(delay) => delays.push(delay.as_secs_f64() * 1e3),
                None => break,
            }
        }
        delays.sort_by(f64::total_cmp);
        match (delays.first(), delays.get(delays.len() / 2), delays.last()) {
            (Some(min), Some(median), Some(max)) if delays.len() == ROUNDS => {
                println!("| {what} | {min:.1} | {median:.1} | {max:.1} |");
            }
            _ => println!("| {what} | none within {PATIENCE:?} | | |"),
        }
    }
}

/// Adds keys and takes them out again, on one thread.
async fn throughput(namespaces: usize) {
    const KEYS: usize = 100_000;
    let keys: Vec<_> = (0..KEYS)
        .map(|n| ObjectKey::new(Some(&format!("namespace-{}", n % namespaces)), &name(n)))
        .collect();
    let mut nanos: Vec<_> = Vec::new();
    for _ in 0..ROUNDS {
        let queue = WorkQueue::new(Backoff::default(), Metrics::new().queue("bench"));
        let began = Instant::now();
        for key in &keys {
            queue.add(key.clone(), Priority::Normal);
        }
        for _ in 0..KEYS {
            drop(queue.next().await);
        }
        nanos.push(began.elapsed().as_nanos() / KEYS as u128);
    }
    nanos.sort_unstable();
    println!(
        "| {namespaces} | {} | {} | {} |",
        nanos[0],
        nanos[ROUNDS / 2],
        nanos[ROUNDS - 1]
    );
}

fn main() {
    let only = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let asked = |what| only.as_deref().is_none_or(|only| only == what);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        if asked("keys") {
            println!("{KEYS_TITLE}");
            for namespaces in [1, 100, 10_000] {
                throughput(namespaces).await;
            }
        }
        if asked("delays") {
            println!("{DELAYS_TITLE}");
            delays().await;
        }
    });
}

/// The headers of the two tables.
const KEYS_TITLE: &str = "| namespaces | ns for a key, min | median | max |\n|---|---|---|---|";
const DELAYS_TITLE: &str =
    "| 10,000 objects of another tenant | ms to the first reconcile, min | median | max |\n|---|---|---|---|";
