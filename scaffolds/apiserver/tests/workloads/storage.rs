//! Claims and volumes.

use serde_json::{Value, json};

use crate::{
    cluster::{PODS, cluster, condition, template},
    common::Wire,
};

const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const VOLUMES: &str = "/api/v1/persistentvolumes";
const CLASSES: &str = "/apis/storage.k8s.io/v1/storageclasses";

fn claim(spec: &Value) -> Value {
    let mut claim = json!({
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    });
    for (field, value) in spec.as_object().unwrap() {
        claim["spec"][field] = value.clone();
    }
    claim
}

fn volume(name: &str, size: &str, class: &str) -> Value {
    json!({
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size}, "accessModes": ["ReadWriteOnce", "ReadOnlyMany"], "storageClassName": class,
            "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": "/data"},
        },
    })
}

impl Wire {
    async fn claim(&self) -> Value {
        self.object(&format!("{CLAIMS}/data")).await
    }

    async fn change_claim(&self, patch: &Value) -> Value {
        self.change(&format!("{CLAIMS}/data"), patch).await
    }

    async fn phases(&self) -> Vec<String> {
        let phase = |volume: &Value| volume["status"]["phase"].as_str().unwrap().to_owned();
        self.items(VOLUMES).await.iter().map(phase).collect()
    }

    /// A Pod that uses the claim.
    async fn make_user(&self) -> String {
        let mut pod = template("user", "");
        pod["metadata"]["name"] = json!("user");
        pod["spec"]["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
        self.make(PODS, &pod).await;
        format!("{PODS}/user")
    }
}

fn grown(size: &str) -> Value {
    json!({"spec": {"resources": {"requests": {"storage": size}}}})
}

#[tokio::test(start_paused = true)]
async fn a_claim_is_bound_to_a_new_volume_of_the_default_class_which_goes_with_it() {
    let wire = cluster();
    wire.pass(1).await;
    wire.make(CLAIMS, &claim(&json!({}))).await;
    wire.pass(1).await;
    let mut claim = wire.claim().await;
    assert!(claim["status"].as_object_mut().unwrap().remove("conditions").is_some());
    assert_eq!(
        claim["status"],
        json!({"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}})
    );
    assert_eq!(claim["spec"]["storageClassName"], "standard");
    let name = claim["spec"]["volumeName"].as_str().unwrap();
    let volume = wire.object(&format!("{VOLUMES}/{name}")).await;
    assert_eq!(
        (&volume["status"]["phase"], &volume["spec"]["claimRef"]["name"]),
        (&json!("Bound"), &json!("data"))
    );
    assert_eq!(volume["metadata"]["finalizers"], json!(["kubernetes.io/pv-protection"]));
    wire.send("DELETE", &format!("{CLAIMS}/data"), "").await;
    wire.pass(1).await;
    assert!(wire.items(VOLUMES).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_bound_claim_says_whether_a_pod_names_it() {
    let wire = cluster();
    wire.pass(1).await;
    wire.make(CLAIMS, &claim(&json!({}))).await;
    wire.pass(1).await;
    let unused = async || condition(&wire.claim().await, "Unused");
    assert_eq!(unused().await, "True NoPodsUsingPVC");
    let user = wire.make_user().await;
    wire.pass(1).await;
    assert_eq!(unused().await, "False PodUsingPVC");
    wire.send("DELETE", &user, "").await;
    wire.pass(60).await;
    assert_eq!(unused().await, "True NoPodsUsingPVC");
}

#[tokio::test(start_paused = true)]
async fn a_bound_claim_shows_the_attributes_that_its_volume_had() {
    let wire = cluster();
    wire.pass(1).await;
    let mut volume = volume("fast", "1Gi", "");
    volume["spec"].as_object_mut().unwrap().remove("hostPath");
    volume["spec"]["csi"] = json!({"driver": "csi.example.com", "volumeHandle": "fast"});
    volume["spec"]["volumeAttributesClassName"] = json!("gold");
    wire.make(VOLUMES, &volume).await;
    let spec = json!({"storageClassName": "", "volumeAttributesClassName": "gold"});
    wire.make(CLAIMS, &claim(&spec)).await;
    wire.pass(1).await;
    let current = |claim: Value| claim["status"]["currentVolumeAttributesClassName"].clone();
    assert_eq!(current(wire.claim().await), "gold");
    wire.change_claim(&json!({"spec": {"volumeAttributesClassName": "silver"}}))
        .await;
    wire.pass(1).await;
    assert_eq!(current(wire.claim().await), "gold");
}

#[tokio::test(start_paused = true)]
async fn a_claim_grows_where_its_class_allows_that() {
    let wire = cluster();
    wire.pass(1).await;
    wire.make(CLAIMS, &claim(&json!({}))).await;
    wire.pass(1).await;
    wire.change_claim(&grown("3Gi")).await;
    wire.pass(1).await;
    assert_eq!(wire.claim().await["status"]["capacity"]["storage"], "3Gi");
    assert_eq!(wire.items(VOLUMES).await[0]["spec"]["capacity"]["storage"], "3Gi");
    let class = json!({"allowVolumeExpansion": false});
    wire.change(&format!("{CLASSES}/standard"), &class).await;
    let merge = wire.with("content-type", "application/merge-patch+json");
    let answer = merge
        .send("PATCH", &format!("{CLAIMS}/data"), grown("5Gi").to_string())
        .await;
    assert_eq!(answer.code, 403, "{}", answer.text);
}

#[tokio::test(start_paused = true)]
async fn a_claim_loses_its_volume_and_its_pod_cannot_start_again() {
    let wire = cluster();
    wire.pass(1).await;
    wire.make(CLAIMS, &claim(&json!({}))).await;
    let user = wire.make_user().await;
    wire.pass(1).await;
    assert_eq!(condition(&wire.object(&user).await, "Ready"), "True");
    wire.change_claim(&json!({"metadata": {"annotations": {"kubewright.dev/volume": "lost"}}}))
        .await;
    wire.pass(1).await;
    let status = wire.claim().await["status"].clone();
    assert_eq!((&status["phase"], &status["capacity"]), (&json!("Lost"), &Value::Null));
    assert!(wire.items(VOLUMES).await.is_empty());
    wire.send("DELETE", &user, "").await;
    wire.pass(1).await;
    wire.make_user().await;
    wire.pass(1).await;
    assert_eq!(
        condition(&wire.object(&user).await, "PodScheduled"),
        "False Unschedulable"
    );
    // A new claim of the same name gets a new volume, once the Pod that waits for the old one is gone.
    wire.send("DELETE", &format!("{CLAIMS}/data"), "").await;
    wire.pass(1).await;
    wire.make(CLAIMS, &claim(&json!({}))).await;
    wire.pass(1).await;
    assert_eq!(condition(&wire.object(&user).await, "Ready"), "True");
}

#[tokio::test(start_paused = true)]
async fn a_claim_waits_for_its_class_or_for_a_volume_that_fits() {
    let wire = cluster();
    wire.pass(1).await;
    wire.make(CLAIMS, &claim(&json!({"storageClassName": "fast"}))).await;
    let user = wire.make_user().await;
    wire.pass(1).await;
    assert_eq!(wire.claim().await["status"]["phase"], "Pending");
    assert_eq!(
        condition(&wire.object(&user).await, "PodScheduled"),
        "False Unschedulable"
    );
    wire.make(VOLUMES, &volume("large", "9Gi", "fast")).await;
    wire.pass(1).await;
    assert_eq!(wire.claim().await["spec"]["volumeName"], "large");
    assert_eq!(wire.claim().await["status"]["capacity"]["storage"], "9Gi");
    assert_eq!(condition(&wire.object(&user).await, "Ready"), "True");

    let class = json!({"metadata": {"name": "slow"}, "provisioner": "csi.example.com"});
    let mut other = claim(&json!({"storageClassName": "slow"}));
    other["metadata"]["name"] = json!("other");
    wire.make(CLAIMS, &other).await;
    wire.pass(1).await;
    wire.make(CLASSES, &class).await;
    wire.pass(1).await;
    assert_eq!(
        wire.object(&format!("{CLAIMS}/other")).await["status"]["phase"],
        "Bound"
    );
}

#[tokio::test(start_paused = true)]
async fn the_smallest_volume_that_fits_is_taken_and_kept_after_its_claim() {
    let wire = cluster();
    for (name, size, class) in [
        ("small", "1Mi", ""),
        ("large", "9Gi", ""),
        ("fitting", "2Gi", ""),
        ("foreign", "1Gi", "x"),
    ] {
        wire.make(VOLUMES, &volume(name, size, class)).await;
    }
    wire.pass(1).await;
    assert_eq!(wire.phases().await, ["Available"; 4]);
    wire.make(CLAIMS, &claim(&json!({"storageClassName": ""}))).await;
    wire.pass(1).await;
    assert_eq!(wire.claim().await["spec"]["volumeName"], "fitting");
    wire.send("DELETE", &format!("{CLAIMS}/data"), "").await;
    wire.pass(1).await;
    assert_eq!(wire.phases().await, ["Released", "Available", "Available", "Available"]);
}

#[tokio::test(start_paused = true)]
async fn a_claim_and_a_volume_that_name_each_other_are_bound() {
    let wire = cluster();
    wire.pass(1).await;
    wire.make(CLAIMS, &claim(&json!({"volumeName": "mine", "storageClassName": ""})))
        .await;
    wire.pass(1).await;
    assert_eq!(wire.claim().await["status"]["phase"], "Pending");
    let mut mine = volume("mine", "1Gi", "");
    mine["spec"]["claimRef"] = json!({"namespace": "default", "name": "data"});
    wire.make(VOLUMES, &mine).await;
    wire.pass(1).await;
    assert_eq!(wire.claim().await["status"]["phase"], "Bound");
    assert_eq!(wire.phases().await, ["Bound"]);
}

#[tokio::test(start_paused = true)]
async fn a_volume_goes_once_it_is_not_bound() {
    let wire = cluster();
    wire.make(VOLUMES, &volume("disk", "1Gi", "")).await;
    wire.make(CLAIMS, &claim(&json!({"storageClassName": ""}))).await;
    wire.pass(1).await;
    wire.send("DELETE", &format!("{VOLUMES}/disk"), "").await;
    wire.pass(60).await;
    assert_eq!(wire.phases().await, ["Bound"]);
    wire.send("DELETE", &format!("{CLAIMS}/data"), "").await;
    wire.pass(1).await;
    assert!(wire.items(VOLUMES).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_claim_without_a_class_gets_the_default_class_once_there_is_one() {
    let wire = cluster();
    wire.pass(1).await;
    wire.send("DELETE", &format!("{CLASSES}/standard"), "").await;
    wire.make(CLAIMS, &claim(&json!({}))).await;
    wire.pass(1).await;
    assert_eq!(wire.claim().await["status"]["phase"], "Pending");
    let annotations = json!({"storageclass.kubernetes.io/is-default-class": "true"});
    let class = json!({"metadata": {"name": "fast", "annotations": annotations}, "provisioner": "csi.example.com"});
    wire.make(CLASSES, &class).await;
    wire.pass(1).await;
    assert_eq!(wire.claim().await["spec"]["storageClassName"], "fast");
    assert_eq!(wire.claim().await["status"]["phase"], "Bound");
}
