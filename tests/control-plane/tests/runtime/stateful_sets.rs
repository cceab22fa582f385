//! StatefulSets on the in-process API server and with kube-controller-manager: each step of a life ends in the same members,
//! claims, revisions and status, with the same names and hashes.

use anyhow::Result;
use control_plane::eventually;
use kube::Client;
use kubewright_apiserver::testing::kubelet::provisioned;
use serde_json::{Value, json};

use super::{
    PATIENCE,
    workloads::{self, Both, PODS, items, send},
};

const SETS: &str = "/apis/apps/v1/namespaces/default/statefulsets";
const SET: &str = "/apis/apps/v1/namespaces/default/statefulsets/db";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const VOLUMES: &str = "/api/v1/persistentvolumes";
const CLASSES: &str = "/apis/storage.k8s.io/v1/storageclasses";
const REVISIONS: &str = "/apis/apps/v1/namespaces/default/controllerrevisions";

/// The StatefulSets with their members, claims and revisions, without uids and times.
pub async fn state(client: &Client) -> Result<Value> {
    let mut all = Vec::new();
    for path in [SETS, REVISIONS, CLAIMS, VOLUMES] {
        let mut items = items(client, path).await?;
        // Those of DaemonSets, whose names have other hashes, are compared with them.
        items.retain(|it| it["metadata"]["annotations"]["deprecated.daemonset.template.generation"].is_null());
        items.iter_mut().for_each(plain);
        all.push(items);
    }
    let mut members = items(client, PODS).await?;
    // Pods of a DaemonSet have a revision too, and random names.
    members.retain(|pod| pod["metadata"]["labels"]["statefulset.kubernetes.io/pod-name"].is_string());
    members.iter_mut().for_each(member);
    // Volumes are named after the uids of their claims.
    let claim = |it: &Value| it["spec"]["claimRef"]["name"].to_string();
    all[3].sort_by_key(claim);
    Ok(json!({"sets": all[0], "revisions": all[1], "claims": all[2], "volumes": all[3], "members": members}))
}

/// Plays the provisioner and the resizer: creates the volumes that claims wait for, deletes them afterwards, and lets them
/// grow.
pub async fn provision(client: &Client) {
    let read = async |path: &str, kind: &str| {
        let mut items = items(client, path).await.unwrap_or_default();
        for item in &mut items {
            item["kind"] = json!(kind);
            item["apiVersion"] = json!("v1");
        }
        items
    };
    let claims = read(CLAIMS, "PersistentVolumeClaim").await;
    let volumes = read(VOLUMES, "PersistentVolume").await;
    let classes = items(client, CLASSES).await.unwrap_or_default();
    // Conflicts: the next round sees the new state.
    for claim in &claims {
        let class = classes
            .iter()
            .find(|it| it["metadata"]["name"] == claim["spec"]["storageClassName"]);
        let waits = claim["metadata"]["annotations"]["volume.kubernetes.io/storage-provisioner"].is_string();
        let volume = volumes
            .iter()
            .find(|it| it["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"]);
        match (class, volume) {
            (Some(class), None) if waits && claim["spec"]["volumeName"].is_null() => {
                drop(send(client, "POST", VOLUMES, &provisioned(claim, class)).await);
            }
            (_, Some(volume)) if claim["status"]["phase"] == "Bound" => grow(client, claim, volume).await,
            _ => {}
        }
    }
    for volume in volumes {
        let is_deleted = volume["spec"]["persistentVolumeReclaimPolicy"] == "Delete";
        if is_deleted && volume["status"]["phase"] == "Released" {
            let path = format!("{VOLUMES}/{}", volume["metadata"]["name"].as_str().unwrap_or_default());
            drop(send(client, "DELETE", &path, &Value::Null).await);
        }
    }
}

async fn grow(client: &Client, claim: &Value, volume: &Value) {
    let request = &claim["spec"]["resources"]["requests"]["storage"];
    let is_made_up = volume["metadata"]["annotations"]["pv.kubernetes.io/provisioned-by"].is_string();
    if !is_made_up || *request == claim["status"]["capacity"]["storage"] {
        return;
    }
    let capacity = json!({"capacity": {"storage": request}});
    let path = |collection: &str, object: &Value| {
        format!(
            "{collection}/{}",
            object["metadata"]["name"].as_str().unwrap_or_default()
        )
    };
    drop(send(client, "PATCH", &path(VOLUMES, volume), &json!({"spec": capacity})).await);
    let status = format!("{}/status", path(CLAIMS, claim));
    drop(send(client, "PATCH", &status, &json!({"status": capacity})).await);
}

fn plain(object: &mut Value) {
    let is_volume = object["spec"]["claimRef"].is_object();
    for (pointer, field) in [
        ("/spec/claimRef", "uid"),
        ("/spec/claimRef", "resourceVersion"),
        ("/spec", "hostPath"),
        ("/spec", "volumeName"),
        ("/status", "lastPhaseTransitionTime"),
    ] {
        if let Some(fields) = object.pointer_mut(pointer).and_then(Value::as_object_mut) {
            fields.remove(field);
        }
    }
    if is_volume {
        object["metadata"]["name"] = Value::Null;
    }
    let conditions = object.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
    for condition in conditions.into_iter().flatten() {
        condition["lastTransitionTime"] = Value::Null;
    }
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
    Both::with(workloads::state, async |both| {
        add_class(both).await?;
        part(both).await
    })
    .await
}

/// Gives kube-apiserver the class that the in-process server has.
async fn add_class(both: &Both) -> Result<()> {
    let mut class = eventually("the class", PATIENCE, async || {
        Ok(items(&both.ours, CLASSES).await?.into_iter().next())
    })
    .await?;
    class["metadata"] = json!({"name": class["metadata"]["name"], "annotations": class["metadata"]["annotations"]});
    send(&both.real, "POST", CLASSES, &class).await?;
    Ok(())
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
async fn claims_and_volumes_end_as_with_kube_controller_manager() -> Result<()> {
    on_both(volumes).await
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

/// Binding to made-up and to present volumes, growth, loss, release.
async fn volumes(both: &Both) -> Result<()> {
    let claim = |name: &str, class: Value| {
        json!({
            "metadata": {"name": name},
            "spec": {
                "accessModes": ["ReadWriteOnce"], "storageClassName": class,
                "resources": {"requests": {"storage": "1Gi"}},
            },
        })
    };
    let volume = |name: &str, size: &str| {
        json!({
            "metadata": {"name": name},
            "spec": {
                "capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": "own",
                "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": "/data"},
            },
        })
    };
    let path = |name: &str| format!("{CLAIMS}/{name}");
    both.step(
        "a claim of the default class",
        ["POST", CLAIMS],
        claim("a", Value::Null),
    )
    .await?;
    let larger = json!({"spec": {"resources": {"requests": {"storage": "2Gi"}}}});
    both.step("a larger claim", ["PATCH", &path("a")], larger).await?;
    both.step(
        "a claim that nothing fulfils",
        ["POST", CLAIMS],
        claim("b", json!("own")),
    )
    .await?;
    both.step("a volume that is too small", ["POST", VOLUMES], volume("small", "1Mi"))
        .await?;
    both.step("a volume that fits", ["POST", VOLUMES], volume("fitting", "3Gi"))
        .await?;
    let mut reserved = volume("reserved", "5Gi");
    reserved["spec"]["claimRef"] = json!({"namespace": "default", "name": "c"});
    both.step("a volume for a claim to come", ["POST", VOLUMES], reserved)
        .await?;
    both.step("that claim", ["POST", CLAIMS], claim("c", json!("own")))
        .await?;
    both.step(
        "a volume in use is deleted",
        ["DELETE", &format!("{VOLUMES}/fitting")],
        Value::Null,
    )
    .await?;
    let unprotected = json!({"metadata": {"finalizers": null}});
    both.step("and lost", ["PATCH", &format!("{VOLUMES}/fitting")], unprotected)
        .await?;
    both.step(
        "a claim is deleted, its volume retained",
        ["DELETE", &path("c")],
        Value::Null,
    )
    .await?;
    both.step("and one with its volume", ["DELETE", &path("a")], Value::Null)
        .await?;
    let mut named = claim("d", json!("own"));
    named["spec"]["volumeName"] = json!("small");
    both.step("a claim names a volume that is too small", ["POST", CLAIMS], named)
        .await?;
    Ok(())
}
