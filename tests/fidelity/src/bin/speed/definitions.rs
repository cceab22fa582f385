//! Discovery, OpenAPI and the creation of a definition, for growing numbers of CustomResourceDefinitions.

use anyhow::Result;
use kube::Config;
use serde_json::{Value, json};
use std::{collections::BTreeMap, time::Duration};
use tokio::time::sleep;

use crate::{meter::Meter, report, wire::Sent};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/// The number of definitions in a group.
const OF_GROUP: usize = 10;
const ROUNDS: usize = 5;
/// The time limit for a server to serve and describe a new definition: the real one waits for further definitions first.
const PUBLISHED: Duration = Duration::from_secs(3);

/// Measures with these numbers of definitions.
pub async fn measure(config: &Config, name: &str, counts: &[usize], pids: &[u32]) -> Result<()> {
    let mut meter = Meter::on(config, pids).await?;
    let mut there = 0;
    for count in counts {
        let all = (there..*count).map(|number| Sent::post(CRDS, &definition(number)));
        meter.fill(all.collect()).await?;
        there = there.max(*count);
        sleep(PUBLISHED).await;
        meter.settle().await;
        let mut steps: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for _ in 0..ROUNDS {
            meter.look_idle().await?;
            for (step, cpu) in round(&mut meter, there).await? {
                steps.entry(step).or_default().push(cpu);
            }
        }
        for (step, times) in steps {
            let name = format!("{name} among {count} definitions");
            report(&name, &format!("{step}, CPU of the server, µs"), times);
        }
    }
    Ok(())
}

/// Creates one more definition, requests each document twice, and deletes the definition.
async fn round(meter: &mut Meter, number: usize) -> Result<Vec<(String, f64)>> {
    let group = group(number);
    let mut steps = Vec::new();
    let create = Sent::post(CRDS, &definition(number));
    steps.push(("1 definition created".to_owned(), meter.each(vec![create]).await?.cpu));
    sleep(PUBLISHED).await;
    let documents: [(&str, String, &'static str); 5] = [
        ("2 /apis, aggregated", "/apis".to_owned(), AGGREGATED),
        ("3 /apis/GROUP/VERSION", format!("/apis/{group}/v1"), "application/json"),
        ("4 /openapi/v3", "/openapi/v3".to_owned(), "application/json"),
        (
            "5 /openapi/v3 of its group",
            format!("/openapi/v3/apis/{group}/v1"),
            "application/json",
        ),
        ("6 /openapi/v2", "/openapi/v2".to_owned(), "application/json"),
    ];
    for (what, path, accept) in documents {
        for when in ["first", "again"] {
            let path = path.clone();
            let asked = Sent {
                accept,
                ..Sent::new("GET", path)
            };
            steps.push((format!("{what}, {when}"), meter.each(vec![asked]).await?.cpu));
        }
    }
    let objects = format!("/apis/{group}/v1/namespaces/default/kind{number}s");
    let object = json!({"apiVersion": format!("{group}/v1"), "kind": format!("Kind{number}"), "metadata": {"name": "one"},
        "spec": {"target": "world"}});
    steps.push((
        "7 object created".to_owned(),
        meter.each(vec![Sent::post(objects, &object)]).await?.cpu,
    ));
    let path = format!("{CRDS}/kind{number}s.{group}");
    let delete = Sent::new("DELETE", path);
    steps.push((
        "8 definition deleted, with its object".to_owned(),
        meter.each(vec![delete]).await?.cpu,
    ));
    sleep(PUBLISHED).await;
    Ok(steps)
}

fn group(number: usize) -> String {
    format!("group{}.speed.example.com", number / OF_GROUP)
}

/// A definition with the fields of a small custom kind.
fn definition(number: usize) -> Value {
    let group = group(number);
    let text = json!({"type": "string", "description": "What it is about, in a sentence of the usual length."});
    let fields: BTreeMap<String, &Value> = (0..8).map(|field| (format!("field{field}"), &text)).collect();
    let mut spec = json!({"type": "object", "required": ["target"], "properties": fields});
    spec["properties"]["target"] = json!({"type": "string", "minLength": 1});
    let condition = json!({"type": "object", "required": ["type"], "properties": {"type": text, "status": text,
        "reason": text, "message": text, "lastTransitionTime": {"type": "string", "format": "date-time"}}});
    let conditions = json!({"type": "array", "items": condition, "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"]});
    let status = json!({"type": "object", "properties": {"conditions": conditions}});
    let schema = json!({"type": "object", "properties": {"spec": spec, "status": status}});
    let (kind, plural) = (format!("Kind{number}"), format!("kind{number}s"));
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
            "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": schema}}]}})
}
