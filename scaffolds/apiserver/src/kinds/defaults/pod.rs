//! Defaults of Pods, Pod templates and what they are made of.

use serde_json::{Map, Value, json};

use super::{Fields, each, made, set, set_text, text, within};
use crate::kinds::image;

pub(super) fn rule(kind: &str) -> Option<fn(&mut Fields)> {
    Some(match kind {
        "Pod" => pod,
        "PodSpec" => pod_spec,
        "Container" | "EphemeralContainer" => container,
        "Probe" => probe,
        "HTTPGetAction" => http_get,
        "GRPCAction" => |action| set(action, "service", ""),
        "Volume" => volume,
        "SecretVolumeSource" | "ConfigMapVolumeSource" | "DownwardAPIVolumeSource" | "ProjectedVolumeSource" => {
            |source| set(source, "defaultMode", 0o644)
        }
        "HostPathVolumeSource" => |source| set(source, "type", ""),
        "ServiceAccountTokenProjection" => |source| set(source, "expirationSeconds", 3_600),
        "ObjectFieldSelector" => |selector| set_text(selector, "apiVersion", "v1"),
        _ => return None,
    })
}

fn pod(object: &mut Fields) {
    let Some(spec) = within(object, "spec") else { return };
    set(spec, "enableServiceLinks", true);
    let on_host = spec.get("hostNetwork").and_then(Value::as_bool).unwrap_or_default();
    for list in ["containers", "initContainers"] {
        for container in each(spec, list) {
            if let Some(resources) = within(container, "resources") {
                requests(resources);
            }
            for port in each(container, "ports").filter(|_| on_host) {
                let number = port.get("containerPort").cloned().unwrap_or_default();
                if port.get("hostPort").and_then(Value::as_i64).unwrap_or_default() == 0 {
                    port.insert("hostPort".to_owned(), number);
                }
            }
        }
    }
}

/// What is limited but not requested is requested to the limit.
fn requests(resources: &mut Fields) {
    let Some(Value::Object(limits)) = resources.get("limits").cloned() else {
        return;
    };
    if let Some(requests) = made(resources, "requests") {
        limits
            .into_iter()
            .for_each(|(name, amount)| set(requests, &name, amount));
    }
}

fn pod_spec(spec: &mut Fields) {
    set_text(spec, "dnsPolicy", "ClusterFirst");
    set_text(spec, "restartPolicy", "Always");
    set(spec, "securityContext", Map::new());
    set(spec, "terminationGracePeriodSeconds", 30);
    set_text(spec, "schedulerName", "default-scheduler");
    let names = ["serviceAccountName", "serviceAccount"].map(|name| text(spec, name).to_owned());
    if let Some(account) = names.into_iter().find(|name| !name.is_empty()) {
        spec.insert("serviceAccountName".to_owned(), json!(account));
        spec.insert("serviceAccount".to_owned(), json!(account));
    }
}

fn container(container: &mut Fields) {
    let policy = image::pull_policy(text(container, "image"));
    set_text(container, "imagePullPolicy", policy);
    set_text(container, "terminationMessagePath", "/dev/termination-log");
    set_text(container, "terminationMessagePolicy", "File");
}

fn probe(probe: &mut Fields) {
    for (name, value) in [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ] {
        set(probe, name, value);
    }
}

fn http_get(action: &mut Fields) {
    set_text(action, "path", "/");
    set_text(action, "scheme", "HTTP");
}

fn volume(volume: &mut Fields) {
    if volume.keys().all(|name| name == "name") {
        volume.insert("emptyDir".to_owned(), json!({}));
    }
    if let Some(image) = within(volume, "image") {
        let policy = image::pull_policy(text(image, "reference"));
        set_text(image, "pullPolicy", policy);
    }
}
