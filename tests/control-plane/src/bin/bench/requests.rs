//! The cost of one write of a child for the API server, for each way to write it: the ground for how the runtime writes
//! children.

use std::{collections::BTreeMap, time::Instant};

use anyhow::{Context, Result};
use control_plane::{Assets, ControlPlane, Settings, make_namespace};
use http::{Method, Request};
use kube::Client;
use serde_json::{Value, json};

use crate::stats::{Row, Table, quantile};

const NAMESPACE: &str = "requests";
const JSON: &str = "application/json";
const MERGE: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// Writes of each way in one round.
const BATCH: usize = 40;

/// A way to create or to update a child.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
enum Way {
    Create,
    CreateByApply,
    Put,
    MergePatch,
    JsonPatch,
    Apply,
    HandOver,
    ApplyAgain,
}

impl Way {
    const ALL: [Self; 8] = [
        Self::Create,
        Self::CreateByApply,
        Self::Put,
        Self::MergePatch,
        Self::JsonPatch,
        Self::Apply,
        Self::HandOver,
        Self::ApplyAgain,
    ];

    fn describe(self) -> &'static str {
        match self {
            Self::Create => "created: POST",
            Self::CreateByApply => "created: apply",
            Self::Put => "first update: PUT",
            Self::MergePatch => "first update: merge patch with a resource version",
            Self::JsonPatch => "first update: JSON patch with a resource version",
            Self::Apply => "first update: apply",
            Self::HandOver => "first update: GET, PATCH of `managedFields`, apply",
            Self::ApplyAgain => "a later update: apply",
        }
    }
}

/// The cost of each way so far: milliseconds of each write, and seconds of CPU of the servers for each batch.
#[derive(Default)]
struct Cost {
    times: Vec<f64>,
    cpu: Vec<f64>,
}

/// Measures each way in turn, round by round.
pub async fn measure(rounds: usize) -> Result<Table> {
    let plane = ControlPlane::start(&Assets::find()?, Settings::default()).await?;
    let client = plane.client().await?;
    make_namespace(&client, NAMESPACE).await?;
    let writer = Writer { client };
    let mut costs = BTreeMap::<Way, Cost>::new();
    // The first round warms the server up.
    for round in 0..=rounds {
        for way in Way::ALL {
            let mut children = Vec::new();
            for n in 0..BATCH {
                let name = format!("c-{round}-{}-{n}", way as usize);
                children.push((writer.prepare(way, &name).await?, name));
            }
            plane.calm().await?;
            let cpu = plane.cpu()?;
            let mut times = Vec::new();
            for (version, name) in &children {
                let began = Instant::now();
                writer.write(way, name, version).await?;
                times.push(began.elapsed().as_secs_f64() * 1e3);
            }
            let used = plane.cpu()? - cpu;
            if round > 0 {
                let cost = costs.entry(way).or_default();
                cost.times.push(quantile(&times, 0.5));
                cost.cpu.push(used * 1e3 / BATCH as f64);
            }
        }
    }
    let rows = costs
        .into_iter()
        .map(|(way, cost)| Row::new(way.describe(), [cost.times, cost.cpu].into_iter()));
    Ok(Table {
        title: format!("A ConfigMap written one at a time; {rounds} rounds of {BATCH} writes each"),
        columns: vec!["time, ms".to_owned(), "CPU of kube-apiserver and etcd, ms".to_owned()],
        reference: None,
        rows: rows.collect(),
    })
}

struct Writer {
    client: Client,
}

impl Writer {
    /// Creates what is to be updated, and returns its resource version.
    async fn prepare(&self, way: Way, name: &str) -> Result<Value> {
        Ok(match way {
            Way::Create | Way::CreateByApply => Value::Null,
            Way::ApplyAgain => {
                self.create(name).await?;
                self.apply(name, &child(name, "1")).await?
            }
            _ => self.create(name).await?,
        })
    }

    async fn write(&self, way: Way, name: &str, version: &Value) -> Result<Value> {
        match way {
            Way::Create => self.create(name).await,
            Way::CreateByApply | Way::Apply | Way::ApplyAgain => self.apply(name, &child(name, "2")).await,
            Way::Put => {
                let mut child = child(name, "2");
                child["metadata"]["resourceVersion"] = version.clone();
                self.send(Method::PUT, name, JSON, &child).await
            }
            Way::MergePatch => {
                let patch = json!({"metadata": {"resourceVersion": version}, "data": {"target": "2"}});
                self.send(Method::PATCH, name, MERGE, &patch).await
            }
            Way::JsonPatch => {
                let version = json!({"op": "replace", "path": "/metadata/resourceVersion", "value": version});
                let patch = json!([version, {"op": "add", "path": "/data/target", "value": "2"}]);
                self.send(Method::PATCH, name, JSON_PATCH, &patch).await
            }
            Way::HandOver => {
                let live = self.send(Method::GET, name, JSON, &Value::Null).await?;
                let mut entries = live["metadata"]["managedFields"].clone();
                entries[0]["operation"] = json!("Apply");
                entries[0]["manager"] = json!("bench");
                let version = &live["metadata"]["resourceVersion"];
                let patch = json!({"metadata": {"resourceVersion": version, "managedFields": entries}});
                self.send(Method::PATCH, name, MERGE, &patch).await?;
                self.apply(name, &child(name, "2")).await
            }
        }
    }

    async fn create(&self, name: &str) -> Result<Value> {
        let created = self.send(Method::POST, "", JSON, &child(name, "1")).await?;
        Ok(created["metadata"]["resourceVersion"].clone())
    }

    async fn apply(&self, name: &str, object: &Value) -> Result<Value> {
        let applied = self.send(Method::PATCH, name, APPLY, object).await?;
        Ok(applied["metadata"]["resourceVersion"].clone())
    }

    async fn send(&self, method: Method, name: &str, media: &str, body: &Value) -> Result<Value> {
        let query = match (&method, media) {
            (&Method::GET, _) => "",
            (&Method::POST, _) => "?fieldManager=bench%40created",
            (_, APPLY) => "?fieldManager=bench&force=true",
            _ => "?fieldManager=bench",
        };
        let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps/{name}");
        let uri = format!("{}{query}", path.trim_end_matches('/'));
        let body = if body.is_null() {
            Vec::new()
        } else {
            body.to_string().into_bytes()
        };
        let request = Request::builder()
            .method(method)
            .uri(&uri)
            .header("content-type", media);
        let text = self
            .client
            .request_text(request.body(body)?)
            .await
            .with_context(|| uri)?;
        Ok(serde_json::from_str(&text)?)
    }
}

/// A child as the generated operator makes it.
fn child(name: &str, target: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": name,
            "labels": {"kubewright.dev/operator": "bench"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "controller": true,
                "blockOwnerDeletion": true, "uid": "0b8d5a1e-1d1c-4c55-9f8e-2f4f3f1d1c11"}],
        },
        "data": {"target": target, "type": "t"},
    })
}
