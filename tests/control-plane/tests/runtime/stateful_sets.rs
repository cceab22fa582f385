//! StatefulSets on the in-process API server and with kube-controller-manager: each step of a life ends in the same members,
//! claims, revisions and status, with the same names and hashes.

use anyhow::Result;
use kube::Client;
use serde_json::{Value, json};

use super::{
    controlled,
    workloads::{Both, PODS, items, kubelet, send},
};

const SETS: &str = "/apis/apps/v1/namespaces/default/statefulsets";
const SET: &str = "/apis/apps/v1/namespaces/default/statefulsets/db";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const REVISIONS: &str = "/apis/apps/v1/namespaces/default/controllerrevisions";

/// The StatefulSets with their members, claims and revisions, without uids and times.
pub async fn state(client: &Client) -> Result<Value> {
    let mut all = Vec::new();
    for path in [SETS, REVISIONS, CLAIMS] {
        let mut items = items(client, path).await?;
        items.iter_mut().for_each(plain);
        all.push(items);
    }
    let mut members = items(client, PODS).await?;
    members.retain(|pod| pod["metadata"]["labels"]["controller-revision-hash"].is_string());
    members.iter_mut().for_each(member);
    Ok(json!({"sets": all[0], "revisions": all[1], "claims": all[2], "members": members}))
}

fn plain(object: &mut Value) {
    let metadata = &object["metadata"];
    let owners: Vec<_> = metadata["ownerReferences"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| json!([it["kind"], it["name"], it["controller"], it["blockOwnerDeletion"]]))
        .collect();
    *object = json!({
        "name": metadata["name"], "labels": metadata["labels"], "annotations": metadata["annotations"], "owners": owners,
        "generation": metadata["generation"], "finalizers": metadata["finalizers"], "status": object["status"],
        "spec": object["spec"], "data": object["data"], "revision": object["revision"],
    });
}

fn member(pod: &mut Value) {
    let (spec, phase) = (pod["spec"].clone(), pod["status"]["phase"].clone());
    let prefix = pod["metadata"]["generateName"].clone();
    plain(pod);
    let mut volumes: Vec<Value> = spec["volumes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|it| it["projected"].is_null())
        .cloned()
        .collect();
    // kube-controller-manager adds them in random order.
    volumes.sort_by_key(Value::to_string);
    for (field, value) in [
        ("status", phase),
        ("prefix", prefix),
        ("generation", Value::Null),
        (
            "spec",
            json!([
                spec["hostname"],
                spec["subdomain"],
                volumes,
                spec["containers"][0]["image"]
            ]),
        ),
    ] {
        pod[field] = value;
    }
}

fn template(image: u32, behaviour: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "db"}, "annotations": {"kubewright.dev/kubelet": behaviour, "note": "a<b>&c"}},
        "spec": {
            "containers": [{"name": "main", "image": format!("example.com/main:{image}"), "ports": [{"containerPort": 80}]}],
        },
    })
}

fn rolled(image: u32, behaviour: &str) -> Value {
    json!({"spec": {"template": template(image, behaviour)}})
}

fn set(replicas: u32) -> Value {
    let claim = |name: &str| {
        json!({
            "metadata": {"name": name, "labels": {"tier": "gold"}},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        })
    };
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "annotations": {"team": "a"}},
        "spec": {
            "replicas": replicas, "serviceName": "members", "revisionHistoryLimit": 1,
            "selector": {"matchLabels": {"app": "db"}}, "template": template(1, "ready-after=1s"),
            "volumeClaimTemplates": [claim("data"), claim("log")],
        },
    })
}

fn strategy(fields: &Value) -> Value {
    json!({"spec": {"updateStrategy": fields}})
}

/// Runs a part of a life on both servers, if there are programs.
async fn on_both(part: impl AsyncFnOnce(&Both) -> Result<()>) -> Result<()> {
    let Some(plane) = controlled().await? else {
        return Ok(());
    };
    let both = Both::of(&plane).await?;
    let kubelet = tokio::spawn(kubelet(both.real.clone()));
    let done = part(&both).await;
    kubelet.abort();
    done
}

#[tokio::test]
async fn updates_of_stateful_sets_end_as_with_kube_controller_manager() -> Result<()> {
    on_both(updates).await
}

#[tokio::test]
async fn claims_of_stateful_sets_end_as_with_kube_controller_manager() -> Result<()> {
    on_both(claims).await
}

#[tokio::test]
async fn adopted_and_parallel_members_end_as_with_kube_controller_manager() -> Result<()> {
    on_both(async |both| {
        owners(both).await?;
        parallel(both).await
    })
    .await
}

/// Creation, scaling, partitions, stuck updates, rollback, deletion by hand.
async fn updates(both: &Both) -> Result<()> {
    let ready = "ready-after=1s";
    let patch = ["PATCH", SET];
    both.step("created", ["POST", SETS], set(2)).await?;
    both.step("scaled up", patch, json!({"spec": {"replicas": 3}})).await?;
    let partition = json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 2}});
    both.step("divided", patch, strategy(&partition)).await?;
    let divided = both.step("changed from the partition", patch, rolled(2, ready)).await?;
    assert_eq!(divided["stateful"]["sets"][0]["status"]["updatedReplicas"], 1);
    both.step(
        "a member before the partition is deleted",
        ["DELETE", &format!("{PODS}/db-0")],
        Value::Null,
    )
    .await?;
    let whole = json!({"rollingUpdate": {"partition": 0}});
    both.step("changed as a whole", patch, strategy(&whole)).await?;
    both.step("rolled back", patch, rolled(1, ready)).await?;
    both.step("stuck", patch, rolled(3, "image-pull-fails")).await?;
    both.step("mended, but stuck", patch, rolled(4, ready)).await?;
    both.step(
        "the stuck member is deleted",
        ["DELETE", &format!("{PODS}/db-2")],
        Value::Null,
    )
    .await?;
    both.step("scaled down", patch, json!({"spec": {"replicas": 1}}))
        .await?;
    let by_hand = json!({"type": "OnDelete", "rollingUpdate": null});
    both.step("by hand", patch, strategy(&by_hand)).await?;
    both.step("changed by hand", patch, rolled(5, ready)).await?;
    both.step("deleted by hand", ["DELETE", &format!("{PODS}/db-0")], Value::Null)
        .await?;
    let failed = json!({"status": {"phase": "Failed"}});
    let status = format!("{PODS}/db-0/status");
    both.step("a member fails", ["PATCH", &status], failed).await?;
    let without_parameters = strategy(&json!({"type": "RollingUpdate"}));
    both.step("rolling without parameters", patch, without_parameters)
        .await?;
    both.step("changed again", patch, rolled(6, ready)).await?;
    Ok(())
}

/// Retention of claims.
async fn claims(both: &Both) -> Result<()> {
    let patch = ["PATCH", SET];
    let policy = |scaled: &str, deleted: &str, replicas: u32| {
        let policy = json!({"whenScaled": scaled, "whenDeleted": deleted});
        json!({"spec": {"persistentVolumeClaimRetentionPolicy": policy, "replicas": replicas}})
    };
    both.step("created", ["POST", SETS], set(2)).await?;
    both.step("owned by the set", patch, policy("Retain", "Delete", 3))
        .await?;
    both.step("owned and scaled", patch, policy("Delete", "Delete", 1))
        .await?;
    both.step("scaled up again", patch, policy("Delete", "Delete", 2))
        .await?;
    both.step("only with members", patch, policy("Delete", "Retain", 2))
        .await?;
    both.step("without members", patch, policy("Delete", "Retain", 1))
        .await?;
    both.step("retained", patch, policy("Retain", "Retain", 2)).await?;
    let lost = ["DELETE", &format!("{CLAIMS}/data-db-1")];
    both.step("a claim is deleted while it is used", lost, Value::Null)
        .await?;
    both.step(
        "and goes with its member",
        ["DELETE", &format!("{PODS}/db-1")],
        Value::Null,
    )
    .await?;
    Ok(())
}

/// Orphans, adoption, release.
async fn owners(both: &Both) -> Result<()> {
    both.step("created", ["POST", SETS], set(2)).await?;
    let orphan = ["DELETE", &format!("{SET}?propagationPolicy=Orphan")];
    let left = both.step("orphaned", orphan, Value::Null).await?;
    assert_eq!(left["stateful"]["members"][0]["owners"], json!([]));
    let mut next = set(3);
    next["spec"]["template"] = template(2, "ready-after=1s");
    let mut foreign = template(2, "");
    foreign["metadata"]["name"] = json!("foreign");
    both.step("a foreign Pod", ["POST", PODS], foreign).await?;
    both.step("adopted", ["POST", SETS], next).await?;
    let labels = json!({"metadata": {"labels": {"app": "other"}}});
    both.step("released", ["PATCH", &format!("{PODS}/db-1")], labels)
        .await?;
    for client in [&both.ours, &both.real] {
        send(
            client,
            "DELETE",
            &format!("{PODS}/db-1?gracePeriodSeconds=0"),
            &Value::Null,
        )
        .await?;
    }
    let identity = json!({"metadata": {"labels": {"statefulset.kubernetes.io/pod-name": null}}});
    both.step(
        "replaced, and a label removed",
        ["PATCH", &format!("{PODS}/db-0")],
        identity,
    )
    .await?;
    both.step("deleted", ["DELETE", SET], Value::Null).await?;
    Ok(())
}

/// Parallel Pod management, and other ordinals.
async fn parallel(both: &Both) -> Result<()> {
    let patch = ["PATCH", SET];
    let mut parallel = set(3);
    parallel["spec"]["podManagementPolicy"] = json!("Parallel");
    parallel["spec"]["ordinals"] = json!({"start": 4});
    parallel["spec"]["minReadySeconds"] = json!(2);
    both.step("parallel", ["POST", SETS], parallel).await?;
    both.step("updated in order", patch, rolled(2, "ready-after=1s"))
        .await?;
    both.step(
        "other ordinals",
        patch,
        json!({"spec": {"ordinals": {"start": 5}, "replicas": 2}}),
    )
    .await?;
    both.step("stuck while parallel", patch, rolled(3, "never-ready"))
        .await?;
    both.step("scaled to nothing", patch, json!({"spec": {"replicas": 0}}))
        .await?;
    both.step("gone", ["DELETE", SET], Value::Null).await?;
    Ok(())
}
