//! Lists with selectors, and the deletion of a whole collection, for growing numbers of objects.

use anyhow::Result;
use kube::Config;
use serde_json::json;
use std::collections::BTreeMap;

use crate::{meter::Meter, report, wire::Sent};

const ROUNDS: usize = 5;

/// Measures collections of these sizes, in a namespace that each round creates again.
pub async fn measure(config: &Config, name: &str, counts: &[usize], pids: &[u32]) -> Result<()> {
    let mut meter = Meter::on(config, pids).await?;
    for count in counts {
        let mut steps: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for round in 0..ROUNDS {
            let namespace = format!("collection-{count}-{round}");
            for (step, cpu) in self::round(&mut meter, &namespace, *count).await? {
                steps.entry(step).or_default().push(cpu);
            }
        }
        let name = format!("{name}, {count} objects");
        for (step, times) in steps {
            let for_each = times.iter().map(|time| time / *count as f64).collect();
            report(&name, &format!("{step}, CPU of the server, µs"), times);
            report(
                &name,
                &format!("{step}, CPU of the server for each object, µs"),
                for_each,
            );
        }
    }
    Ok(())
}

async fn round(meter: &mut Meter, namespace: &str, count: usize) -> Result<Vec<(&'static str, f64)>> {
    let made = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
    meter.one(Sent::post("/api/v1/namespaces", &made)).await?;
    let maps = format!("/api/v1/namespaces/{namespace}/configmaps");
    let map = |number: usize| {
        let labels = json!({"one": if number == count / 2 { "yes" } else { "no" }});
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"target": "world"},
            "metadata": {"name": format!("map-{number:06}"), "labels": labels}})
    };
    let all = (0..count).map(|number| Sent::post(maps.as_str(), &map(number)));
    meter.fill(all.collect()).await?;
    meter.settle().await;
    meter.look_idle().await?;
    let mut steps = Vec::new();
    let asked = [
        ("1 list of all", maps.clone()),
        (
            "2 list by a label that one has, first",
            format!("{maps}?labelSelector=one%3Dyes"),
        ),
        (
            "3 list by a label that one has, again",
            format!("{maps}?labelSelector=one%3Dyes"),
        ),
        (
            "4 list by name",
            format!("{maps}?fieldSelector=metadata.name%3Dmap-000001"),
        ),
        ("5 page of ten", format!("{maps}?limit=10")),
    ];
    for (step, path) in asked {
        steps.push((step, meter.each(vec![Sent::new("GET", path)]).await?.cpu));
    }
    let taken = meter.each(vec![Sent::new("DELETE", maps)]).await?;
    steps.push(("6 deletion of all", taken.cpu));
    Ok(steps)
}
