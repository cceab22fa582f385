//! The cost of webhooks: creations of objects that a mutating and a validating webhook see, conversions, and memory. The
//! operators are standbys, so that they do nothing else.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use base64::{Engine, prelude::BASE64_STANDARD};
use control_plane::{
    Assets, ControlPlane, Operator, Project, Settings, eventually,
    foobar::{FooBar, FooBarSpec},
    free_ports, make_namespace,
};
use http::{Request, Uri};
use kube::{
    Api, Client, Config, ResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::{Value, json};

use crate::{
    Contender, REFERENCE, caches, install,
    load::{Figures, PATIENCE, Place},
    stats::quantile,
};

/// The name of the project, which is also the prefix of its deployed objects.
const NAME: &str = "bench-webhooks";

/// The kind's definition.
const DEFINITION: &str = "foobars.test.example.com";

/// The annotation that the mutating webhook sets.
const CONTACT: &str = "test.example.com/contact";

/// Creations in one round, one after the other, with webhooks and without; so many before them are not counted.
const CREATED: usize = 500;
const UNCOUNTED: usize = 50;

/// Objects in a ConversionReview, and how often it is sent.
const CONVERTED: usize = 1000;
const REVIEWS: usize = 30;

/// A project with a second version, a conversion to it, and both kinds of webhooks for the first one: all as generated.
pub fn project() -> Result<Project> {
    let version = |version, flags| control_plane::Api {
        group: "test",
        version: Some(version),
        kind: "FooBar",
        flags,
    };
    let webhooks = [
        "create webhook --group test --version v1 --kind FooBar --defaulting --validation",
        "create webhook --group test --version v1 --kind FooBar --conversion --spoke v2",
    ];
    Project::generate_with(NAME, &[version("v1", &["--finalizer"]), version("v2", &[])], &webhooks)
}

/// Measures the contenders in turn, in another order in each round; the first one is the project's operator.
pub async fn measure(project: &Project, contenders: &[Contender], rounds: usize) -> Result<Vec<Vec<Figures>>> {
    let plane = ControlPlane::start(&Assets::find()?, Settings::default()).await?;
    let place = Place::of(&plane).await?;
    install(&contenders[0].binary, &place).await?;
    for lease in [NAME, "bench-controller-runtime"] {
        caches::occupy(&place, lease).await?;
    }
    let mut all: Vec<Vec<Figures>> = contenders.iter().map(|_| Vec::new()).collect();
    for round in 0..rounds {
        for turn in 0..contenders.len() {
            let at = (round + turn) % contenders.len();
            let contender = &contenders[at];
            eprintln!("webhooks, round {} of {rounds}: {}", round + 1, contender.name);
            plane.calm().await?;
            let namespace = format!("webhooks-{round}-{turn}");
            make_namespace(&place.client, &namespace).await?;
            let foobars = Api::namespaced(place.client.clone(), &namespace);
            let without = creations(&foobars, "without").await?;
            let hooks = Hooks::start(project, contender, &place).await?;
            hooks.wait_until_called(&foobars).await?;
            all[at].push(hooks.figures(&foobars, &without).await.context(contender.name)?);
            hooks.remove().await?;
        }
    }
    Ok(all)
}

/// An operator that serves webhooks, and the objects that name them.
struct Hooks<'a> {
    client: &'a Client,
    operator: Operator,
    configurations: Vec<Value>,
}

impl<'a> Hooks<'a> {
    async fn start(project: &Project, contender: &Contender, place: &'a Place) -> Result<Self> {
        let [port] = free_ports()?;
        let url = format!("https://127.0.0.1:{port}");
        let mut configurations = configurations(project, &url)?;
        let peer = contender.name == REFERENCE;
        let arguments = if peer {
            let folder = place.folder.to_str().context("the folder's path is a text")?;
            vec![
                format!("--webhook-port={port}"),
                format!("--webhook-cert-path={folder}"),
            ]
        } else {
            vec![
                format!("--webhook-bind-address=127.0.0.1:{port}"),
                format!("--webhook-url={url}"),
                "--webhook-host=127.0.0.1".to_owned(),
            ]
        };
        let mut arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        arguments.extend(["--leader-elect", "--leader-election-namespace=default"]);
        if !peer {
            // The operator enters its authority into these, and the conversion into the definition.
            apply(&place.client, &configurations).await?;
        }
        let mut operator = Operator::start(&contender.binary, &arguments, &place.kubeconfig, &place.folder)?;
        operator.ready(PATIENCE).await?;
        if peer {
            let certificate = std::fs::read(place.folder.join("tls.crt"))?;
            let bundle = BASE64_STANDARD.encode(certificate);
            for hook in configurations.iter_mut().flat_map(entries) {
                hook["clientConfig"]["caBundle"] = json!(bundle);
            }
            apply(&place.client, &configurations).await?;
            let converter = json!({"url": format!("{url}/convert"), "caBundle": bundle});
            let webhook = json!({"clientConfig": converter, "conversionReviewVersions": ["v1"]});
            convert_by(&place.client, json!({"strategy": "Webhook", "webhook": webhook})).await?;
        }
        Ok(Self {
            client: &place.client,
            operator,
            configurations,
        })
    }

    /// API servers see a configuration only after a moment.
    async fn wait_until_called(&self, foobars: &Api<FooBar>) -> Result<()> {
        let dry_run = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        eventually("the webhooks to be called", PATIENCE, async || {
            let created = foobars.create(&dry_run, &foobar("called")).await?;
            let definition = self.definition().await?;
            let converts = definition["spec"]["conversion"]["strategy"] == "Webhook";
            Ok((created.annotations().contains_key(CONTACT) && converts).then_some(()))
        })
        .await
    }

    async fn definition(&self) -> Result<Value> {
        Ok(definitions(self.client).get(DEFINITION).await?.data)
    }

    async fn figures(&self, foobars: &Api<FooBar>, without: &[f64]) -> Result<Figures> {
        let idle = self.operator.usage()?;
        let with = creations(foobars, "with").await?;
        let created = self.operator.usage()?;
        let conversions = self.conversions().await?;
        let end = self.operator.usage()?;
        let both = (UNCOUNTED + CREATED) as f64;
        let added = |q| quantile(&with, q) - quantile(without, q);
        let figures = [
            ("one created without webhooks, p50, ms", quantile(without, 0.5)),
            ("one created with both webhooks, p50, ms", quantile(&with, 0.5)),
            ("what they add, p50, ms", added(0.5)),
            ("one created without webhooks, p99, ms", quantile(without, 0.99)),
            ("one created with both webhooks, p99, ms", quantile(&with, 0.99)),
            (
                "CPU of the operator for a creation, ms",
                (created.cpu - idle.cpu) * 1e3 / both,
            ),
            (
                "1,000 objects converted in one review, p50, ms",
                quantile(&conversions, 0.5),
            ),
            (
                "1,000 objects converted in one review, p99, ms",
                quantile(&conversions, 0.99),
            ),
            (
                "CPU of the operator for an object converted, µs",
                (end.cpu - created.cpu) * 1e6 / (REVIEWS * CONVERTED) as f64,
            ),
            ("anonymous memory before, MiB", idle.anonymous),
            ("anonymous memory after, MiB", end.anonymous),
            ("all resident memory (peak), MiB", end.peak),
        ];
        Ok(figures.map(|(what, value)| (what.to_owned(), value)).into())
    }

    /// Sends a ConversionReview to the converter that the definition names, as an API server does; the milliseconds of
    /// each answer.
    async fn conversions(&self) -> Result<Vec<f64>> {
        let definition = self.definition().await?;
        let converter = &definition["spec"]["conversion"]["webhook"]["clientConfig"];
        let url = converter["url"].as_str().context("no URL of the converter")?;
        let authority = converter["caBundle"]
            .as_str()
            .context("no authority of the converter")?;
        let url: Uri = url.parse()?;
        let host = url.authority().context("no host of the converter")?;
        let client = client_of(&format!("https://{host}"), authority).await?;
        let object = json!({
            "apiVersion": "test.example.com/v1",
            "kind": "FooBar",
            "metadata": {"name": "converted", "namespace": "default", "uid": "0b8d5a1e-1d1c-4c55-9f8e-2f4f3f1d1c11",
                "annotations": {CONTACT: "jane"}, "creationTimestamp": "2026-01-01T00:00:00Z", "generation": 1},
            "spec": {"target": "world", "type": "t"},
        });
        let review = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "ConversionReview",
            "request": {"uid": "1", "desiredAPIVersion": "test.example.com/v2", "objects": vec![object; CONVERTED]},
        });
        let body = serde_json::to_vec(&review)?;
        let mut times = Vec::new();
        for _ in 0..REVIEWS {
            let request = Request::post(url.path()).header("content-type", "application/json");
            let request = request.body(body.clone())?;
            let began = Instant::now();
            let answer = client.request_text(request).await?;
            times.push(began.elapsed().as_secs_f64() * 1e3);
            let answer: Value = serde_json::from_str(&answer)?;
            let converted = answer["response"]["convertedObjects"].as_array().map_or(0, Vec::len);
            ensure!(converted == CONVERTED, "{}", answer["response"]["result"]);
        }
        Ok(times)
    }

    /// Ends the operator, after nothing asks it any more.
    async fn remove(self) -> Result<()> {
        convert_by(self.client, json!({"strategy": "None", "webhook": null})).await?;
        for object in &self.configurations {
            let (api, name) = api_of(self.client, object)?;
            api.delete(&name, &DeleteParams::default()).await?;
        }
        self.operator.kill()
    }
}

/// Creates FooBars one after the other; the milliseconds of each request but the first ones.
async fn creations(foobars: &Api<FooBar>, prefix: &str) -> Result<Vec<f64>> {
    let mut times = Vec::new();
    for n in 0..UNCOUNTED + CREATED {
        let foobar = foobar(&format!("{prefix}-{n:04}"));
        let began = Instant::now();
        foobars.create(&PostParams::default(), &foobar).await?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times.split_off(UNCOUNTED))
}

/// A FooBar that the validating webhook accepts.
fn foobar(name: &str) -> FooBar {
    let spec = FooBarSpec {
        target: "world".to_owned(),
        r#type: None,
    };
    FooBar::new(name, spec)
}

/// The project's configurations, as `make manifests` has written them, at this URL; and the Secret for its certificates.
fn configurations(project: &Project, url: &str) -> Result<Vec<Value>> {
    let folder = project.folder().join("config/webhook");
    let mut objects = kubewright_schema::files::documents(&folder).map_err(anyhow::Error::msg)?;
    objects.retain(|object| object.get("webhooks").is_some() || object["kind"] == "Secret");
    for object in &mut objects {
        let name = object["metadata"]["name"].as_str().context("it has a name")?;
        object["metadata"] = json!({"name": format!("{NAME}-{name}")});
        for hook in entries(object) {
            let path = hook["clientConfig"]["service"]["path"]
                .as_str()
                .context("it has a path")?;
            hook["clientConfig"] = json!({"url": format!("{url}{path}")});
        }
    }
    ensure!(objects.len() == 3, "{objects:?}");
    Ok(objects)
}

fn entries(configuration: &mut Value) -> impl Iterator<Item = &mut Value> {
    let hooks = configuration.get_mut("webhooks").and_then(Value::as_array_mut);
    hooks.into_iter().flatten()
}

async fn apply(client: &Client, objects: &[Value]) -> Result<()> {
    for object in objects {
        let (api, name) = api_of(client, object)?;
        api.patch(&name, &PatchParams::apply("bench").force(), &Patch::Apply(object))
            .await?;
    }
    Ok(())
}

fn api_of(client: &Client, object: &Value) -> Result<(Api<DynamicObject>, String)> {
    let text = |value: &Value| {
        value
            .as_str()
            .map(str::to_owned)
            .context("an object has a kind and a name")
    };
    let kind = text(&object["kind"])?;
    let resource = match text(&object["apiVersion"])?.split_once('/') {
        Some((group, version)) => ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &kind)),
        None => ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", &kind)),
    };
    let api = if kind == "Secret" {
        Api::default_namespaced_with(client.clone(), &resource)
    } else {
        Api::all_with(client.clone(), &resource)
    };
    Ok((api, text(&object["metadata"]["name"])?))
}

fn definitions(client: &Client) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    Api::all_with(client.clone(), &ApiResource::from_gvk(&kind))
}

/// Sets how API servers convert FooBars.
async fn convert_by(client: &Client, conversion: Value) -> Result<()> {
    let patch = Patch::Merge(json!({"spec": {"conversion": conversion}}));
    let definitions = definitions(client);
    definitions.patch(DEFINITION, &PatchParams::default(), &patch).await?;
    Ok(())
}

/// A client of the server at this URL, whose certificate this authority has signed.
async fn client_of(url: &str, authority: &str) -> Result<Client> {
    let cluster = json!({"server": url, "certificate-authority-data": authority});
    let kubeconfig: Kubeconfig = serde_json::from_value(json!({
        "clusters": [{"name": "it", "cluster": cluster}],
        "contexts": [{"name": "it", "context": {"cluster": "it"}}],
        "current-context": "it",
    }))?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}
