//! StatefulSets: order, identity, claims, revisions.

use serde_json::{Value, json};

use crate::{
    cluster::{PODS, cluster, image, template},
    common::Wire,
};

const SETS: &str = "/apis/apps/v1/namespaces/default/statefulsets";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const REVISIONS: &str = "/apis/apps/v1/namespaces/default/controllerrevisions";

/// A StatefulSet `db`, with an annotation of its Pods for the kubelet.
fn set(replicas: i64, behaviour: &str) -> Value {
    json!({
        "metadata": {"name": "db"},
        "spec": {
            "replicas": replicas, "serviceName": "members", "selector": {"matchLabels": {"app": "db"}},
            "template": template("db", behaviour),
        },
    })
}

fn with_claims(mut set: Value, policy: &Value) -> Value {
    set["spec"]["volumeClaimTemplates"] = json!([{
        "metadata": {"name": "data", "labels": {"tier": "gold"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }]);
    set["spec"]["persistentVolumeClaimRetentionPolicy"] = policy.clone();
    set
}

fn names(items: &[Value]) -> Vec<&str> {
    items
        .iter()
        .map(|it| it["metadata"]["name"].as_str().unwrap())
        .collect()
}

impl Wire {
    async fn set(&self) -> Value {
        self.object(&format!("{SETS}/db")).await
    }

    async fn change_set(&self, patch: &Value) -> Value {
        self.change(&format!("{SETS}/db"), patch).await
    }

    /// The number of each member's image and whether it is ready.
    async fn members(&self) -> Vec<(String, bool)> {
        let member = |pod: &Value| {
            let ready = crate::cluster::condition(pod, "Ready") == "True";
            let image = pod["spec"]["containers"][0]["image"].as_str().unwrap();
            (image.rsplit(':').next().unwrap().to_owned(), ready)
        };
        self.items(PODS).await.iter().map(member).collect()
    }

    async fn images(&self) -> Vec<String> {
        self.members().await.into_iter().map(|member| member.0).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn members_are_created_in_order_and_know_who_they_are() {
    let wire = cluster();
    wire.make(SETS, &set(3, "ready-after=10s")).await;
    for count in 1..=3 {
        wire.pass(1).await;
        assert_eq!(wire.items(PODS).await.len(), count);
        wire.pass(10).await;
    }
    let pods = wire.items(PODS).await;
    assert_eq!(names(&pods), ["db-0", "db-1", "db-2"]);
    let labels = &pods[1]["metadata"]["labels"];
    assert_eq!(
        (
            &labels["apps.kubernetes.io/pod-index"],
            &labels["statefulset.kubernetes.io/pod-name"]
        ),
        (&json!("1"), &json!("db-1"))
    );
    assert_eq!(
        (&pods[1]["spec"]["hostname"], &pods[1]["spec"]["subdomain"]),
        (&json!("db-1"), &json!("members"))
    );
    let revision = labels["controller-revision-hash"].clone();
    let status = json!({
        "observedGeneration": 1, "replicas": 3, "readyReplicas": 3, "currentReplicas": 3, "updatedReplicas": 3,
        "availableReplicas": 3, "currentRevision": revision, "updateRevision": revision, "collisionCount": 0,
    });
    assert_eq!(wire.set().await["status"], status);
}

#[tokio::test(start_paused = true)]
async fn members_are_removed_in_reverse_order_each_once_the_one_before_is_gone() {
    let wire = cluster();
    wire.make(SETS, &set(3, "stop-after=10s")).await;
    wire.pass(1).await;
    wire.change_set(&json!({"spec": {"replicas": 1}})).await;
    wire.pass(5).await;
    assert_eq!(names(&wire.items(PODS).await), ["db-0", "db-1", "db-2"]);
    wire.pass(8).await;
    assert_eq!(names(&wire.items(PODS).await), ["db-0", "db-1"]);
    wire.pass(10).await;
    assert_eq!(names(&wire.items(PODS).await), ["db-0"]);
    assert_eq!(wire.set().await["status"]["replicas"], 1);
}

#[tokio::test(start_paused = true)]
async fn parallel_members_are_created_and_removed_at_once_but_replaced_one_by_one() {
    let wire = cluster();
    let mut parallel = set(3, "ready-after=10s");
    parallel["spec"]["podManagementPolicy"] = json!("Parallel");
    parallel["spec"]["ordinals"] = json!({"start": 5});
    wire.make(SETS, &parallel).await;
    wire.pass(1).await;
    assert_eq!(names(&wire.items(PODS).await), ["db-5", "db-6", "db-7"]);
    wire.pass(10).await;
    wire.change_set(&image(2)).await;
    wire.pass(1).await;
    assert_eq!(wire.images().await, ["1", "1", "2"]);
    wire.pass(30).await;
    assert_eq!(wire.images().await, ["2", "2", "2"]);
    wire.change_set(&json!({"spec": {"replicas": 0}})).await;
    wire.pass(1).await;
    assert!(wire.items(PODS).await.is_empty());
}

/// As in Kubernetes 1.37.
#[tokio::test(start_paused = true)]
async fn as_many_members_are_replaced_at_once_as_may_be_unavailable() {
    for (policy, broken, at_once) in [
        ("OrderedReady", false, ["1", "2", "-"]),
        ("Parallel", false, ["1", "2", "2"]),
        ("Parallel", true, ["2", "2", "2"]),
    ] {
        let wire = cluster();
        let mut rolled = set(3, if broken { "never-ready" } else { "ready-after=10s" });
        rolled["spec"]["podManagementPolicy"] = json!(policy);
        rolled["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] = json!("70%");
        wire.make(SETS, &rolled).await;
        wire.pass(60).await;
        wire.change_set(&image(2)).await;
        wire.pass(1).await;
        let mut images = wire.images().await;
        images.resize(3, "-".to_owned());
        assert_eq!(images, at_once, "{policy} {broken}");
        wire.pass(60).await;
        assert_eq!(wire.images().await, ["2", "2", "2"], "{policy} {broken}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_rolling_update_goes_from_the_last_member_to_the_partition_and_back() {
    let wire = cluster();
    wire.make(SETS, &set(3, "ready-after=5s")).await;
    wire.pass(20).await;
    let before = wire.set().await["status"]["updateRevision"].clone();
    let partition = |number: u32| json!({"spec": {"updateStrategy": {"rollingUpdate": {"partition": number}}}});
    wire.change_set(&partition(2)).await;
    wire.change_set(&image(2)).await;
    wire.pass(30).await;
    assert_eq!(wire.images().await, ["1", "1", "2"]);
    let status = wire.set().await["status"].clone();
    assert_eq!(
        (
            &status["currentRevision"],
            &status["currentReplicas"],
            &status["updatedReplicas"]
        ),
        (&before, &json!(2), &json!(1))
    );
    // A member before the partition comes back with the former template.
    wire.send("DELETE", &format!("{PODS}/db-0"), "").await;
    wire.pass(10).await;
    assert_eq!(wire.images().await, ["1", "1", "2"]);
    wire.change_set(&partition(0)).await;
    wire.pass(2).await;
    assert_eq!(
        wire.members().await,
        [("1".into(), true), ("2".into(), false), ("2".into(), true)]
    );
    wire.pass(30).await;
    let status = wire.set().await["status"].clone();
    assert_eq!(status["currentRevision"], status["updateRevision"]);
    wire.change_set(&image(1)).await;
    wire.pass(30).await;
    assert_eq!(wire.set().await["status"]["currentRevision"], before);
    let numbers: Vec<Value> = wire
        .items(REVISIONS)
        .await
        .iter()
        .map(|it| it["revision"].clone())
        .collect();
    assert!(
        numbers.len() == 2 && numbers.contains(&json!(2)) && numbers.contains(&json!(3)),
        "{numbers:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_broken_update_stops_at_its_first_member_and_goes_on_once_that_is_deleted() {
    let wire = cluster();
    wire.make(SETS, &set(2, "")).await;
    wire.pass(1).await;
    let mut broken = image(2);
    broken["spec"]["template"]["metadata"] = json!({"annotations": {"kubewright.dev/kubelet": "image-pull-fails"}});
    wire.change_set(&broken).await;
    wire.pass(60).await;
    assert_eq!(wire.members().await, [("1".into(), true), ("2".into(), false)]);
    let mut mended = image(3);
    mended["spec"]["template"]["metadata"] = json!({"annotations": {"kubewright.dev/kubelet": ""}});
    wire.change_set(&mended).await;
    wire.pass(60).await;
    // As in a cluster, the stuck member has to be deleted by hand.
    assert_eq!(wire.images().await, ["1", "2"]);
    wire.send("DELETE", &format!("{PODS}/db-1"), "").await;
    wire.pass(5).await;
    assert_eq!(wire.images().await, ["3", "3"]);
}

#[tokio::test(start_paused = true)]
async fn members_are_replaced_on_deletion_only_where_the_set_says_so() {
    let wire = cluster();
    let mut manual = set(2, "");
    manual["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
    manual["spec"]["revisionHistoryLimit"] = json!(1);
    wire.make(SETS, &manual).await;
    wire.pass(1).await;
    for version in 2..6 {
        wire.change_set(&image(version)).await;
        wire.pass(1).await;
    }
    assert_eq!(wire.images().await, ["1", "1"]);
    // In use, present, and one former revision.
    assert_eq!(wire.items(REVISIONS).await.len(), 3);
    wire.send("DELETE", &format!("{PODS}/db-1"), "").await;
    wire.pass(2).await;
    assert_eq!(wire.images().await, ["1", "5"]);
}

#[tokio::test(start_paused = true)]
async fn the_next_member_waits_for_the_seconds_of_readiness() {
    let wire = cluster();
    let mut slow = set(2, "");
    slow["spec"]["minReadySeconds"] = json!(30);
    wire.make(SETS, &slow).await;
    wire.pass(20).await;
    let status = wire.set().await["status"].clone();
    assert_eq!(
        (&status["readyReplicas"], &status["availableReplicas"]),
        (&json!(1), &json!(0))
    );
    wire.pass(15).await;
    assert_eq!(wire.items(PODS).await.len(), 2);
    wire.pass(31).await;
    assert_eq!(wire.set().await["status"]["availableReplicas"], 2);
}

#[tokio::test(start_paused = true)]
async fn a_failed_member_and_one_that_is_lost_are_replaced() {
    let wire = cluster();
    wire.make(SETS, &set(2, "")).await;
    wire.pass(1).await;
    let uids = |pods: Vec<Value>| -> Vec<Value> { pods.iter().map(|pod| pod["metadata"]["uid"].clone()).collect() };
    let before = uids(wire.items(PODS).await);
    let status = wire.with("content-type", "application/merge-patch+json");
    let failed = json!({"status": {"phase": "Failed"}}).to_string();
    status.send("PATCH", &format!("{PODS}/db-0/status"), failed).await;
    wire.send("DELETE", &format!("{PODS}/db-1?gracePeriodSeconds=0"), "")
        .await;
    wire.pass(5).await;
    let after = uids(wire.items(PODS).await);
    assert!(after.len() == 2 && before.iter().all(|uid| !after.contains(uid)));
}

#[tokio::test(start_paused = true)]
async fn each_member_gets_its_claims_and_keeps_them() {
    let wire = cluster();
    wire.make(SETS, &with_claims(set(2, ""), &Value::Null)).await;
    wire.pass(1).await;
    let claims = wire.items(CLAIMS).await;
    assert_eq!(names(&claims), ["data-db-0", "data-db-1"]);
    assert_eq!(claims[0]["metadata"]["labels"], json!({"app": "db", "tier": "gold"}));
    let pod = wire.object(&format!("{PODS}/db-1")).await;
    assert_eq!(
        pod["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"],
        "data-db-1"
    );
    wire.change_set(&json!({"spec": {"replicas": 1}})).await;
    wire.pass(1).await;
    wire.send("DELETE", &format!("{SETS}/db"), "").await;
    wire.pass(1).await;
    assert_eq!((wire.items(PODS).await.len(), wire.items(CLAIMS).await.len()), (0, 2));
}

#[tokio::test(start_paused = true)]
async fn claims_go_with_their_member_or_with_the_set_where_the_policy_says_so() {
    let wire = cluster();
    let policy = json!({"whenScaled": "Delete", "whenDeleted": "Delete"});
    wire.make(SETS, &with_claims(set(3, ""), &policy)).await;
    wire.pass(1).await;
    let owner = |claim: &Value| claim["metadata"]["ownerReferences"][0]["kind"].clone();
    let owners = |claims: &[Value]| claims.iter().map(owner).collect::<Vec<_>>();
    assert_eq!(owners(&wire.items(CLAIMS).await), vec![json!("StatefulSet"); 3]);
    wire.change_set(&json!({"spec": {"replicas": 1}})).await;
    wire.pass(2).await;
    assert_eq!(names(&wire.items(CLAIMS).await), ["data-db-0"]);
    wire.change_set(&json!({"spec": {"replicas": 2}})).await;
    wire.pass(2).await;
    assert_eq!(names(&wire.items(CLAIMS).await), ["data-db-0", "data-db-1"]);
    wire.change_set(&json!({"spec": {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain"}}}))
        .await;
    wire.pass(2).await;
    assert_eq!(owners(&wire.items(CLAIMS).await), [Value::Null, Value::Null]);
    wire.change_set(&json!({"spec": {"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}}}))
        .await;
    wire.pass(2).await;
    wire.send("DELETE", &format!("{SETS}/db"), "").await;
    wire.pass(2).await;
    assert!(wire.items(CLAIMS).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_member_waits_until_its_deleted_claim_is_gone_and_gets_a_new_one() {
    let wire = cluster();
    wire.make(SETS, &with_claims(set(1, ""), &Value::Null)).await;
    wire.pass(1).await;
    let claim = format!("{CLAIMS}/data-db-0");
    let uid = wire.object(&claim).await["metadata"]["uid"].clone();
    wire.change(&claim, &json!({"metadata": {"finalizers": ["test.example.com/keep"]}}))
        .await;
    wire.send("DELETE", &claim, "").await;
    wire.send("DELETE", &format!("{PODS}/db-0"), "").await;
    wire.pass(60).await;
    assert!(wire.items(PODS).await.is_empty());
    wire.change(&claim, &json!({"metadata": {"finalizers": null}})).await;
    wire.pass(2).await;
    assert_eq!(names(&wire.items(PODS).await), ["db-0"]);
    assert_ne!(wire.object(&claim).await["metadata"]["uid"], uid);
}

#[tokio::test(start_paused = true)]
async fn orphans_of_a_deleted_set_are_adopted_with_their_revisions_and_only_under_the_names_of_members() {
    let wire = cluster();
    wire.make(SETS, &set(2, "")).await;
    wire.pass(1).await;
    let uid = |pods: &[Value]| {
        pods.iter()
            .map(|pod| pod["metadata"]["uid"].clone())
            .collect::<Vec<_>>()
    };
    let before = uid(&wire.items(PODS).await);
    wire.send("DELETE", &format!("{SETS}/db?propagationPolicy=Orphan"), "")
        .await;
    wire.pass(1).await;
    let mut foreign = template("db", "");
    foreign["metadata"]["name"] = json!("other");
    wire.make(PODS, &foreign).await;
    let owners = |pods: Vec<Value>| -> Vec<bool> {
        pods.iter()
            .map(|pod| pod["metadata"]["ownerReferences"].is_array())
            .collect()
    };
    assert_eq!(owners(wire.items(PODS).await), [false, false, false]);
    wire.make(SETS, &set(2, "")).await;
    wire.pass(1).await;
    let pods = wire.items(PODS).await;
    assert_eq!(uid(&pods[..2]), before);
    assert_eq!(owners(pods), [true, true, false]);
    assert_eq!(owners(wire.items(REVISIONS).await), [true]);
    let labels = json!({"metadata": {"labels": {"app": "gone"}}});
    wire.change(&format!("{PODS}/db-1"), &labels).await;
    wire.pass(1).await;
    // The name is taken until the released Pod is gone.
    assert_eq!(owners(wire.items(PODS).await), [true, false, false]);
    wire.send("DELETE", &format!("{PODS}/db-1"), "").await;
    wire.pass(70).await;
    assert_eq!(owners(wire.items(PODS).await), [true, true, false]);
}

#[tokio::test(start_paused = true)]
async fn a_claim_template_may_be_applied_with_another_form_of_its_quantity() {
    let wire = cluster();
    wire.make(SETS, &with_claims(set(1, ""), &Value::Null)).await;
    wire.pass(1).await;
    let mut again = wire.set().await;
    again["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"] = json!("1073741824");
    let answer = wire.send("PUT", &format!("{SETS}/db"), again.to_string()).await;
    assert_eq!(answer.code, 200, "{}", answer.text);
}
