//! What the server does to objects before it checks them: statuses, finalizers and labels that it gives itself.

use serde_json::{Map, Value, json};

use super::{
    at::At,
    base64,
    kind::{keep, keep_metadata},
};

type Fields = Map<String, Value>;

fn within<'a>(object: &'a mut Value, name: &str) -> Option<&'a mut Fields> {
    object
        .as_object_mut()?
        .entry(name)
        .or_insert_with(|| json!({}))
        .as_object_mut()
}

/// `stringData` becomes part of `data`.
pub(super) fn secret(object: &mut Value) {
    let Some(fields) = object.as_object_mut() else { return };
    let Some(Value::Object(texts)) = fields.remove("stringData") else {
        return;
    };
    if texts.is_empty() {
        return;
    }
    let Some(data) = within(object, "data") else { return };
    for (key, text) in texts {
        let bytes = text.as_str().unwrap_or_default().as_bytes();
        data.insert(key, json!(base64::encode(bytes)));
    }
}

pub(super) fn namespace(object: &mut Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert("status".to_owned(), json!({"phase": "Active"}));
    }
    let Some(spec) = within(object, "spec") else { return };
    let finalizers = spec.entry("finalizers").or_insert_with(|| json!([]));
    if let Some(names) = finalizers.as_array_mut()
        && !names.iter().any(|name| name == "kubernetes")
    {
        names.push(json!("kubernetes"));
    }
}

/// Finalizers of a Namespace's spec are changed by their own subresource.
pub(super) fn namespace_update(new: &mut Value, old: &Value) {
    keep(new, old, "spec");
}

/// A finalizer that the server adds to what Pods may be using.
fn finalizer(object: &mut Value, name: &str) {
    let Some(metadata) = within(object, "metadata") else {
        return;
    };
    let finalizers = metadata.entry("finalizers").or_insert_with(|| json!([]));
    if let Some(names) = finalizers.as_array_mut()
        && !names.iter().any(|other| other == name)
    {
        names.push(json!(name));
    }
}

pub(super) fn volume(object: &mut Value) {
    finalizer(object, "kubernetes.io/pv-protection");
    let created = object.pointer("/metadata/creationTimestamp").cloned();
    let Some(status) = within(object, "status") else { return };
    status.insert("phase".to_owned(), json!("Pending"));
    if let Some(created) = created {
        status.insert("lastPhaseTransitionTime".to_owned(), created);
    }
}

pub(super) fn claim(object: &mut Value) {
    finalizer(object, "kubernetes.io/pvc-protection");
    if let Some(status) = within(object, "status") {
        status.insert("phase".to_owned(), json!("Pending"));
    }
    let Some(spec) = within(object, "spec") else { return };
    // Sources of other kinds than these two are forgotten, for old clients' sake.
    let known = [
        ("", "PersistentVolumeClaim"),
        ("snapshot.storage.k8s.io", "VolumeSnapshot"),
    ];
    let is_known = spec.get("dataSource").is_none_or(|source| {
        let at = At::root(source);
        known.contains(&(at.get("apiGroup").str(), at.get("kind").str()))
    });
    if !is_known && !spec.contains_key("dataSourceRef") {
        spec.remove("dataSource");
    }
    match (spec.get("dataSource").cloned(), spec.get("dataSourceRef").cloned()) {
        (Some(source), None) => _ = spec.insert("dataSourceRef".to_owned(), source),
        (None, Some(reference)) if reference.get("namespace").is_none() => {
            spec.insert("dataSource".to_owned(), reference);
        }
        _ => {}
    }
}

/// Of a Lease go the fields that belong to a feature that is off.
pub(super) fn lease(object: &mut Value) {
    if let Some(spec) = within(object, "spec") {
        spec.remove("strategy");
        spec.remove("preferredHolder");
    }
}

/// A new node is not ready.
pub(super) fn node(object: &mut Value) {
    let Some(spec) = within(object, "spec") else { return };
    let taints = spec.entry("taints").or_insert_with(|| json!([]));
    let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
    if let Some(taints) = taints.as_array_mut()
        && !taints.contains(&taint)
    {
        taints.push(taint);
    }
}

const GENERATION: &str = "deprecated.daemonset.template.generation";

/// The template's generation is kept in an annotation.
fn template_generation(object: &mut Value, generation: i64) {
    let annotations =
        within(object, "metadata").map(|metadata| metadata.entry("annotations").or_insert_with(|| json!({})));
    if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
        annotations.insert(GENERATION.to_owned(), json!(generation.to_string()));
    }
}

fn generation_of(object: &Value) -> i64 {
    let annotations = object
        .pointer("/metadata/annotations")
        .and_then(|annotations| annotations.get(GENERATION));
    annotations
        .and_then(Value::as_str)
        .and_then(|text| text.parse().ok())
        .unwrap_or_default()
}

/// The generation is a field to the server, so the annotation is there from the start, and its writer's.
pub(super) fn daemon_set_decoded(object: &mut Value) {
    template_generation(object, generation_of(object));
}

pub(super) fn daemon_set(object: &mut Value) {
    let generation = generation_of(object).max(1);
    template_generation(object, generation);
}

pub(super) fn daemon_set_update(new: &mut Value, old: &Value) {
    let template = |object| At::root(object).at("spec.template");
    let changed = !template(new).is_like(&template(old));
    template_generation(new, generation_of(old) + i64::from(changed));
}

/// The labels of a Job's Pods, and the selector that finds them.
pub(super) fn job(object: &mut Value) {
    let at = At::root(object);
    if at.at("spec.manualSelector").is_true() {
        return;
    }
    let (uid, name) = (
        at.at("metadata.uid").value.clone(),
        at.at("metadata.name").value.clone(),
    );
    // Without labels of its own a Job has those of its template, also those that are added now.
    let found = at.at("metadata.labels");
    let shared = !found.is_set() || found.value == at.at("spec.template.metadata.labels").value;
    let metadata = object.pointer_mut("/spec/template/metadata");
    let Some(labels) = metadata.and_then(|metadata| within(metadata, "labels")) else {
        return;
    };
    for (key, value) in [
        ("controller-uid", &uid),
        ("job-name", &name),
        ("batch.kubernetes.io/controller-uid", &uid),
        ("batch.kubernetes.io/job-name", &name),
    ] {
        labels.entry(key).or_insert_with(|| value.clone());
    }
    let labels = labels.clone();
    if let (true, Some(metadata)) = (shared, within(object, "metadata")) {
        metadata.insert("labels".to_owned(), Value::Object(labels));
    }
    let selector = within(object, "spec").map(|spec| spec.entry("selector").or_insert_with(|| json!({})));
    if let Some(labels) = selector.and_then(|selector| within(selector, "matchLabels"))
        && !labels.contains_key("batch.kubernetes.io/controller-uid")
    {
        labels.insert("batch.kubernetes.io/controller-uid".to_owned(), uid);
    }
}

pub(super) fn pod(object: &mut Value) {
    let class = quality(&At::root(object).get("spec"));
    if let Some(fields) = object.as_object_mut() {
        fields.insert("status".to_owned(), json!({"phase": "Pending", "qosClass": class}));
    }
    let Some(spec) = within(object, "spec") else { return };
    spec.entry("priority").or_insert_with(|| json!(0));
    spec.entry("preemptionPolicy")
        .or_insert_with(|| json!("PreemptLowerPriority"));
    let grace = spec.get("terminationGracePeriodSeconds").and_then(Value::as_i64);
    if grace.is_some_and(|grace| grace < 0) {
        spec.insert("terminationGracePeriodSeconds".to_owned(), json!(1));
    }
    if spec
        .get("schedulingGates")
        .and_then(Value::as_array)
        .is_some_and(|gates| !gates.is_empty())
    {
        gated(object);
    }
    let Some(spec) = within(object, "spec") else { return };
    tolerate(spec, "node.kubernetes.io/not-ready");
    tolerate(spec, "node.kubernetes.io/unreachable");
}

/// An update keeps the priority and gets the tolerations of every Pod.
pub(super) fn pod_update(new: &mut Value, old: &Value) {
    let Some(spec) = within(new, "spec") else { return };
    for name in ["priority", "preemptionPolicy"] {
        let before = old.get("spec").and_then(|spec| spec.get(name));
        if let (None, Some(value)) = (spec.get(name), before) {
            spec.insert(name.to_owned(), value.clone());
        }
    }
    tolerate(spec, "node.kubernetes.io/not-ready");
    tolerate(spec, "node.kubernetes.io/unreachable");
}

fn gated(object: &mut Value) {
    let now = object
        .pointer("/metadata/creationTimestamp")
        .cloned()
        .unwrap_or_default();
    let condition = json!({
        "type": "PodScheduled",
        "status": "False",
        "lastProbeTime": null,
        "lastTransitionTime": now,
        "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates",
    });
    if let Some(status) = within(object, "status") {
        status.insert("conditions".to_owned(), json!([condition]));
    }
}

/// A Pod stays for five minutes on a node that fails.
fn tolerate(spec: &mut Fields, key: &str) {
    let tolerations = spec.entry("tolerations").or_insert_with(|| json!([]));
    let Some(tolerations) = tolerations.as_array_mut() else {
        return;
    };
    let covers = |toleration: &Value| {
        let at = At::root(toleration);
        let (name, effect) = (at.get("key").str(), at.get("effect").str());
        (name == key || name.is_empty()) && matches!(effect, "NoExecute" | "")
    };
    if !tolerations.iter().any(covers) {
        let toleration = json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
        tolerations.push(toleration);
    }
}

/// The class of service that follows from requests and limits.
fn quality(spec: &At<'_>) -> &'static str {
    let lists = ["containers", "initContainers"].map(|name| spec.get(name));
    let containers: Vec<At<'_>> = lists.iter().flat_map(At::items).collect();
    let amounts = |container: &At<'_>, name: &str| {
        let list = container.get("resources").get(name);
        ["cpu", "memory"]
            .map(|resource| list.get(resource).str().to_owned())
            .map(|text| if text == "0" { String::new() } else { text })
    };
    let (mut any, mut guaranteed) = (false, true);
    for container in &containers {
        let (requests, limits) = (amounts(container, "requests"), amounts(container, "limits"));
        any |= requests.iter().chain(&limits).any(|text| !text.is_empty());
        guaranteed &= requests == limits && limits.iter().all(|text| !text.is_empty());
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// A status update changes neither owners nor the time of deletion.
pub(super) fn pod_status(new: &mut Value, old: &Value) {
    keep_metadata(new, old, "ownerReferences");
    let class = old.pointer("/status/qosClass").cloned();
    if let (Some(class), Some(status)) = (class, within(new, "status")) {
        status.entry("qosClass").or_insert(class);
    }
}
