//! Defaults of the structs of Pods and Pod templates.

use serde_json::{Map, json};

use crate::kinds::{
    edit::{Fields, set, set_text, text, within},
    kind::StructDefault,
    pod::image::pull_policy,
};

/// The default functions, by definition.
pub(in crate::kinds) const STRUCTS: &[StructDefault] = &[
    ("core.v1.PodSpec", pod_spec),
    ("core.v1.Container", container),
    ("core.v1.EphemeralContainer", container),
    ("core.v1.Probe", probe),
    ("core.v1.HTTPGetAction", http_get),
    ("core.v1.Volume", volume),
    ("core.v1.SecretVolumeSource", default_mode),
    ("core.v1.ConfigMapVolumeSource", default_mode),
    ("core.v1.DownwardAPIVolumeSource", default_mode),
    ("core.v1.ProjectedVolumeSource", default_mode),
    ("core.v1.HostPathVolumeSource", |source| set(source, "type", "")),
    ("core.v1.ServiceAccountTokenProjection", |source| {
        set(source, "expirationSeconds", 3_600);
    }),
    ("core.v1.ObjectFieldSelector", |selector| {
        set_text(selector, "apiVersion", "v1")
    }),
];

fn default_mode(source: &mut Fields) {
    set(source, "defaultMode", 0o644);
}

pub(in crate::kinds) fn pod_spec(spec: &mut Fields) {
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

pub(in crate::kinds) fn container(container: &mut Fields) {
    let policy = pull_policy(text(container, "image"));
    set_text(container, "imagePullPolicy", policy);
    set_text(container, "terminationMessagePath", "/dev/termination-log");
    set_text(container, "terminationMessagePolicy", "File");
}

pub(in crate::kinds) fn probe(probe: &mut Fields) {
    for (name, value) in [
        ("timeoutSeconds", 1),
        ("periodSeconds", 10),
        ("successThreshold", 1),
        ("failureThreshold", 3),
    ] {
        set(probe, name, value);
    }
}

pub(in crate::kinds) fn http_get(action: &mut Fields) {
    set_text(action, "path", "/");
    set_text(action, "scheme", "HTTP");
}

pub(in crate::kinds) fn volume(volume: &mut Fields) {
    if volume.keys().all(|name| name == "name") {
        volume.insert("emptyDir".to_owned(), json!({}));
    }
    if let Some(image) = within(volume, "image") {
        let policy = pull_policy(text(image, "reference"));
        set_text(image, "pullPolicy", policy);
    }
}
