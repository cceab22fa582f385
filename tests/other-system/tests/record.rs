//! The life of an object on an API server, with the operator's own program and a DNS service of this test.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use api::dns::v1::Record;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kubewright_runtime::testing::{Program, TestCluster, from_yaml, wait_for};
use kubewright_runtime::{Conditions, Result};
use serde_json::{Value, json};

const OPERATOR: Program = kubewright_runtime::operator!("foobar-operator");
const READY: &str = "Ready";

// ANCHOR: life
#[tokio::test]
async fn a_record_follows_its_object() -> Result<()> {
    let service = Service::start();
    let cluster = TestCluster::start().await?;
    let operator = cluster
        .operator(OPERATOR)
        .arg("--dns-url")
        .arg(&service.url);
    let operator = operator.start().await?;
    let objects: Api<Record> = Api::namespaced(cluster.client(), cluster.namespace());
    let (post, merge) = (PostParams::default(), PatchParams::default());

    objects.create(&post, &object("world")).await?;
    wait_for("Ready", async || is_ready(&objects, "True").await).await?;
    assert_eq!(service.targets(), ["world"]);

    let patch = Patch::Merge(json!({ "spec": { "target": "moon" } }));
    objects.patch("sample", &merge, &patch).await?;
    wait_for("the new target", async || Ok(service.targets() == ["moon"])).await?;

    // A record that the service refuses is reported, and a correction of the spec is enough.
    let patch = Patch::Merge(json!({ "spec": { "target": "refused" } }));
    objects.patch("sample", &merge, &patch).await?;
    wait_for("the refusal", async || is_ready(&objects, "False").await).await?;
    let patch = Patch::Merge(json!({ "spec": { "target": "mars" } }));
    objects.patch("sample", &merge, &patch).await?;
    wait_for("the correction", async || is_ready(&objects, "True").await).await?;
    assert_eq!(service.targets(), ["mars"]);

    objects.delete("sample", &DeleteParams::default()).await?;
    let gone = async || Ok(objects.get_opt("sample").await?.is_none());
    wait_for("the object to be gone", gone).await?;
    assert!(service.targets().is_empty());
    operator.stop()
}
// ANCHOR_END: life

async fn is_ready(objects: &Api<Record>, verdict: &str) -> Result<bool> {
    let object = objects.get("sample").await?;
    let status = object.status.unwrap_or_default();
    let current = status.observed_generation == object.metadata.generation;
    let ready = status.conditions.find(READY);
    Ok(current && ready.is_some_and(|ready| ready.status == verdict))
}

/// The sample with this target.
fn object(target: &str) -> Record {
    let sample = include_str!("../config/samples/dns_v1_record.yaml");
    let mut object: Record = from_yaml("sample", sample);
    object.spec.target = target.to_owned();
    object
}

type Records = Arc<Mutex<BTreeMap<String, Value>>>;

/// A DNS service on loopback. It keeps the document of each path, and refuses the target `refused`.
struct Service {
    url: String,
    records: Records,
}

impl Service {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let records = Records::default();
        let kept = records.clone();
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                // A connection that breaks is closed, and the operator sends its request again.
                let _ = serve(connection, &kept);
            }
        });
        Self {
            url: format!("http://{address}"),
            records,
        }
    }

    fn targets(&self) -> Vec<String> {
        let records = self.records.lock().expect("the service does not panic");
        let target = |record: &Value| record["target"].as_str().unwrap_or_default().to_owned();
        records.values().map(target).collect()
    }
}

/// Answers one request.
fn serve(mut connection: TcpStream, records: &Records) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection.try_clone()?);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().unwrap_or(0);
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let (method, path) = first.split_once(' ').unwrap_or_default();
    let path = path.split([' ', '?']).next().unwrap_or_default().to_owned();
    let sent: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut records = records.lock().expect("no other thread panics");
    let status = match method {
        "PUT" if sent["target"] == "refused" => "422 Unprocessable Entity",
        "PUT" => {
            records.insert(path, sent);
            "200 OK"
        }
        _ if records.remove(&path).is_some() => "200 OK",
        _ => "404 Not Found",
    };
    write!(
        connection,
        "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
}
