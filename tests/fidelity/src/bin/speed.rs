//! `speed start`: how long an in-process server takes to its first answer, without and with HTTPS.
//! `speed load KUBECONFIG NAME`: creates, status patches and watch fan-out of a running server, over HTTPS.
//! A line each: `NAME<tab>WHAT<tab>MIN<tab>MEDIAN<tab>MAX`.

use anyhow::{Context, Result, bail};
use futures::{StreamExt, TryStreamExt, stream};
use kube::{
    Api, Client, Config,
    api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams, WatchParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use kubewright_apiserver::{ApiServer, Options, serve::Listener};
use serde_json::json;
use std::{env, path::Path, time::Duration, time::Instant};
use tokio::time::{sleep, timeout};

/// Requests under way at a time, as an operator with many workers has them.
const AT_ONCE: usize = 16;
/// Objects of one round.
const OBJECTS: usize = 1000;
const ROUNDS: usize = 5;
/// Who watches while an object is created.
const WATCHERS: usize = 100;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["start"] => start().await,
        ["load", kubeconfig, name] => load(&client(kubeconfig).await?, name).await,
        ["fill", kubeconfig, count] => fill(&client(kubeconfig).await?, count.parse()?).await,
        _ => bail!("speed start | speed load KUBECONFIG NAME | speed fill KUBECONFIG COUNT"),
    }
}

async fn client(kubeconfig: &str) -> Result<Client> {
    let kubeconfig = Kubeconfig::read_from(Path::new(kubeconfig))?;
    Ok(Client::try_from(
        Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?,
    )?)
}

fn report(name: &str, what: &str, mut values: Vec<f64>) {
    values.sort_by(f64::total_cmp);
    let (first, middle, last) = (values[0], values[values.len() / 2], values[values.len() - 1]);
    println!("{name}\t{what}\t{first:.2}\t{middle:.2}\t{last:.2}");
}

async fn start() -> Result<()> {
    let (mut plain, mut https) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS * 4 {
        let began = Instant::now();
        let server = ApiServer::new(Options::default());
        Client::new(server.service(), "default").apiserver_version().await?;
        plain.push(began.elapsed().as_secs_f64() * 1000.0);

        let began = Instant::now();
        let listener = Listener::bind(0, None).await?;
        let kubeconfig = Kubeconfig::from_yaml(&listener.kubeconfig())?;
        let _running = listener.serve(ApiServer::new(Options::default()))?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
        Client::try_from(config)?.apiserver_version().await?;
        https.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    report("in process", "start to first answer, ms", plain);
    report("over HTTPS", "start to first answer, ms", https);
    Ok(())
}

fn things() -> ApiResource {
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk("speed.example.com", "v1", "Thing"), "things")
}

fn thing(name: &str) -> DynamicObject {
    DynamicObject::new(name, &things()).data(json!({"spec": {"target": "world", "type": "plain"}}))
}

/// The kind and its API.
async fn prepared(client: &Client) -> Result<Api<DynamicObject>> {
    let crds = ApiResource::from_gvk(&GroupVersionKind::gvk(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
    ));
    let spec = json!({"type": "object", "required": ["target"], "properties": {
        "target": {"type": "string", "minLength": 1}, "type": {"type": "string"}}});
    let schema = json!({"type": "object", "properties": {"spec": spec, "status": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true}}});
    let crd = DynamicObject::new("things.speed.example.com", &crds).data(json!({"spec": {
        "group": "speed.example.com", "scope": "Namespaced", "names": {"kind": "Thing", "plural": "things"},
        "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": schema}}]}}));
    let made = Api::all_with(client.clone(), &crds)
        .create(&PostParams::default(), &crd)
        .await;
    match made {
        Err(kube::Error::Api(status)) if status.code == 409 => {}
        other => _ = other?,
    }
    let api = Api::namespaced_with(client.clone(), "default", &things());
    while api.list(&Default::default()).await.is_err() {
        sleep(Duration::from_millis(50)).await;
    }
    Ok(api)
}

async fn create(api: &Api<DynamicObject>, names: Vec<String>) -> Result<()> {
    let creates = stream::iter(names.into_iter().map(|name| async move {
        let post = PostParams::default();
        api.create(&post, &thing(&name)).await
    }));
    creates
        .buffer_unordered(AT_ONCE)
        .try_for_each(|_| async { Ok(()) })
        .await?;
    Ok(())
}

async fn fill(client: &Client, count: usize) -> Result<()> {
    let api = prepared(client).await?;
    create(&api, (0..count).map(|at| format!("fill-{at:06}")).collect()).await
}

async fn load(client: &Client, name: &str) -> Result<()> {
    let api = prepared(client).await?;
    let (mut creates, mut patches) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let names: Vec<String> = (0..OBJECTS).map(|at| format!("r{round}-{at}")).collect();
        let began = Instant::now();
        create(&api, names.clone()).await?;
        creates.push(OBJECTS as f64 / began.elapsed().as_secs_f64());

        let began = Instant::now();
        let patch = Patch::Merge(json!({"status": {"observedGeneration": 1, "phase": "Ready"}}));
        let (api, patch) = (&api, &patch);
        let writes = stream::iter(
            names
                .into_iter()
                .map(|name| async move { api.patch_status(&name, &PatchParams::default(), patch).await }),
        );
        writes
            .buffer_unordered(AT_ONCE)
            .try_for_each(|_| async { Ok(()) })
            .await?;
        patches.push(OBJECTS as f64 / began.elapsed().as_secs_f64());
    }
    report(name, "creates a second", creates);
    report(name, "status patches a second", patches);
    report(
        name,
        "an object until the last of 100 watchers has it, ms",
        fan_out(&api).await?,
    );
    Ok(())
}

async fn fan_out(api: &Api<DynamicObject>) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    for round in 0..ROUNDS * 4 {
        let version = api.list(&Default::default()).await?.metadata.resource_version;
        let version = version.context("a list has a version")?;
        let params = WatchParams::default();
        let opened = (0..WATCHERS).map(|_| api.watch(&params, &version));
        let watches = futures::future::try_join_all(opened).await?;
        let waiting: Vec<_> = watches
            .into_iter()
            .map(|watch| tokio::spawn(async move { watch.boxed().next().await.is_some() }))
            .collect();
        sleep(Duration::from_millis(100)).await;
        let began = Instant::now();
        api.create(&PostParams::default(), &thing(&format!("watched-{round}")))
            .await?;
        for task in waiting {
            timeout(Duration::from_secs(10), task)
                .await
                .context("a watcher saw nothing")??;
        }
        times.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(times)
}
