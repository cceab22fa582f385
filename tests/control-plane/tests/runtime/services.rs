//! EndpointSlices and Endpoints on the in-process API server and with kube-controller-manager: the same Pods are endpoints
//! in the same state.

use anyhow::Result;
use futures::future::BoxFuture;
use kube::Client;
use serde_json::{Value, json};

use super::workloads::{Both, PODS, items, send};

const SERVICES: &str = "/api/v1/namespaces/default/services";
const SERVICE: &str = "/api/v1/namespaces/default/services/web";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const ENDPOINTS: &str = "/api/v1/namespaces/default/endpoints";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/web";
const SETS: &str = "/apis/apps/v1/namespaces/default/statefulsets";
/// The Service of the API server itself, whose address differs.
const OWN: &str = "kubernetes";

/// Without names and addresses of Pods, and in one order: kube-controller-manager's follows from hashes.
pub(super) fn state(client: &Client) -> BoxFuture<'_, Result<Value>> {
    Box::pin(async {
        let mut slices = Vec::new();
        for mut slice in items(client, SLICES).await? {
            if slice["metadata"]["labels"]["kubernetes.io/service-name"] == OWN {
                continue;
            }
            metadata(&mut slice);
            let ports = sorted(&slice["ports"], |_| {});
            let endpoints = sorted(&slice["endpoints"], endpoint);
            slices.push(json!([slice["metadata"], slice["addressType"], ports, endpoints]));
        }
        let mut all = Vec::new();
        for mut object in items(client, ENDPOINTS).await? {
            if object["metadata"]["name"] == OWN {
                continue;
            }
            let name = object["metadata"]["name"].clone();
            metadata(&mut object);
            let subsets = sorted(&object["subsets"], |subset| {
                subset["ports"] = sorted(&subset["ports"], |_| {});
                for list in ["addresses", "notReadyAddresses"] {
                    subset[list] = sorted(&subset[list], endpoint);
                }
            });
            all.push(json!([name, object["metadata"], subsets]));
        }
        for list in [&mut slices, &mut all] {
            list.sort_by_key(Value::to_string);
        }
        Ok(json!({"slices": slices, "endpoints": all}))
    })
}

fn sorted(list: &Value, change: fn(&mut Value)) -> Value {
    let mut list = list.as_array().cloned().unwrap_or_default();
    list.iter_mut().for_each(change);
    list.sort_by_key(Value::to_string);
    list.into()
}

fn metadata(object: &mut Value) {
    let metadata = object["metadata"].clone();
    let mut annotations = metadata["annotations"].clone();
    if let Some(annotations) = annotations.as_object_mut() {
        annotations.remove("endpoints.kubernetes.io/last-change-trigger-time");
    }
    let annotations = annotations.as_object().filter(|it| !it.is_empty());
    let owner = &metadata["ownerReferences"][0];
    object["metadata"] = json!([
        metadata["labels"],
        annotations,
        metadata["generateName"],
        owner["kind"],
        owner["controller"],
        owner["blockOwnerDeletion"]
    ]);
}

fn endpoint(endpoint: &mut Value) {
    let count = endpoint["addresses"].as_array().map(Vec::len);
    let reference = &endpoint["targetRef"];
    let reference = json!([reference["kind"], reference["namespace"]]);
    for (field, value) in [
        ("addresses", json!(count)),
        ("ip", Value::Null),
        ("targetRef", reference),
    ] {
        endpoint[field] = value;
    }
}

fn template(behaviour: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}, "annotations": {"kubewright.dev/kubelet": behaviour}},
        "spec": {
            "terminationGracePeriodSeconds": 3600,
            "containers": [{"name": "main", "image": "example.com/main:1", "ports": [
                {"name": "http", "containerPort": 8080}, {"name": "dns", "containerPort": 53, "protocol": "UDP"},
            ]}],
        },
    })
}

fn deployment(replicas: u32, behaviour: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template(behaviour)},
    })
}

fn service(name: &str, ports: &Value) -> Value {
    json!({
        "metadata": {"name": name, "labels": {"team": "a", "service.kubernetes.io/headless": "x"}},
        "spec": {"selector": {"app": "web"}, "ports": ports},
    })
}

#[tokio::test]
async fn endpoints_of_services_end_as_with_kube_controller_manager() -> Result<()> {
    Both::with(state, async |both| {
        send(
            &both.real,
            "POST",
            "/api/v1/nodes",
            &json!({"metadata": {"name": "dev"}}),
        )
        .await?;
        pods(both).await?;
        services(both).await?;
        members(both).await
    })
    .await
}

/// Pods that become ready, stay unready and terminate.
async fn pods(both: &Both) -> Result<()> {
    let ports = json!([{"name": "http", "port": 80, "targetPort": "http", "appProtocol": "http"}]);
    both.step("without Pods", ["POST", SERVICES], service("web", &ports))
        .await?;
    both.step(
        "two Pods",
        ["POST", DEPLOYMENTS],
        deployment(2, "ready-after=1s,stop-after=3000s"),
    )
    .await?;
    let stuck = json!({"spec": {"template": template("never-ready,stop-after=3000s")}});
    both.step("one more that is not ready", ["PATCH", DEPLOYMENT], stuck)
        .await?;
    let none = both.step("all terminate", ["PATCH", DEPLOYMENT], json!({"spec": {"replicas": 0}}));
    assert!(none.await?.to_string().contains(r#""terminating":true"#));
    let force = ["DELETE", &format!("{PODS}?gracePeriodSeconds=0")];
    both.step("none is left", force, Value::Null).await?;
    Ok(())
}

/// Services that change.
async fn services(both: &Both) -> Result<()> {
    let patch = ["PATCH", SERVICE];
    let started = json!({"spec": {"replicas": 2, "template": template("never-ready")}});
    both.step("two Pods that are not ready", ["PATCH", DEPLOYMENT], started)
        .await?;
    let published = json!({"spec": {"publishNotReadyAddresses": true}});
    both.step("published all the same", patch, published).await?;
    let ports = json!({"spec": {"ports": [
        {"name": "b", "port": 1, "targetPort": 9}, {"name": "a", "port": 2, "targetPort": "dns", "protocol": "UDP"},
        {"name": "c", "port": 3, "targetPort": "missing"},
    ]}});
    both.step("other ports", patch, ports).await?;
    both.step(
        "other labels",
        patch,
        json!({"metadata": {"labels": {"team": "b", "tier": "c"}}}),
    )
    .await?;
    let mut other = template("");
    other["metadata"]["name"] = json!("other");
    other["spec"]["containers"][0]["ports"] = json!([{"name": "dns", "containerPort": 5353, "protocol": "UDP"}]);
    both.step("a Pod with another port", ["POST", PODS], other).await?;
    let selector = |name: Value| json!({"spec": {"selector": {"app": name}}});
    both.step("another selector", patch, selector(json!("nobody"))).await?;
    both.step("selected again", patch, selector(json!("web"))).await?;
    both.step("without a selector", patch, json!({"spec": {"selector": null}}))
        .await?;
    both.step("deleted", ["DELETE", SERVICE], Value::Null).await?;
    let gone = ["DELETE", &format!("{PODS}/other?gracePeriodSeconds=0")];
    both.step("a Pod is deleted", gone, Value::Null).await?;
    Ok(())
}

/// Members of a StatefulSet, by host name.
async fn members(both: &Both) -> Result<()> {
    both.step("no Pods", ["DELETE", DEPLOYMENT], Value::Null).await?;
    let mut headless = service("members", &Value::Null);
    headless["spec"]["clusterIP"] = json!("None");
    both.step("a headless Service", ["POST", SERVICES], headless).await?;
    let set = json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"},
        "spec": {
            "replicas": 2, "serviceName": "members", "selector": {"matchLabels": {"app": "web"}},
            "template": template("ready-after=1s"),
        },
    });
    let named = both.step("members", ["POST", SETS], set).await?;
    assert!(named.to_string().contains(r#""hostname":"db-1""#), "{named}");
    Ok(())
}
