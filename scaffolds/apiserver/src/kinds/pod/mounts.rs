//! Volumes and devices that containers mount.

use std::collections::BTreeSet;

use crate::kinds::{faults::Faults, located::Located, pod::context::PodContext, volume_source::no_backsteps};

pub(in crate::kinds) fn mounts(container: &Located<'_>, around: &PodContext<'_>, faults: &mut Faults) {
    let all = container.get("volumeMounts");
    let devices = container.get("volumeDevices");
    let mut paths = BTreeSet::new();
    for mount in all.items() {
        let (name, path) = (mount.get("name"), mount.get("mountPath"));
        if name.str().is_empty() {
            faults.required(&name, "");
        }
        if !around
            .volumes
            .iter()
            .any(|volume| volume.get("name").str() == name.str())
        {
            faults.not_found(&name);
        }
        if path.str().is_empty() {
            faults.required(&path, "");
        }
        if !paths.insert(path.str()) {
            faults.invalid(&path, "must be unique");
        }
        if devices.items().any(|device| device.get("name").str() == name.str()) {
            faults.invalid(&name, "must not already exist in volumeDevices");
        }
        if devices
            .items()
            .any(|device| device.get("devicePath").str() == path.str())
        {
            faults.invalid(&path, "must not already exist as a path in volumeDevices");
        }
        let (sub, expression) = (mount.get("subPath"), mount.get("subPathExpr"));
        // The server's paths omit the index here.
        descending(&sub.called(&format!("{}.subPath", all.path)), faults);
        if !expression.str().is_empty() && !sub.str().is_empty() {
            faults.invalid(&expression, "subPathExpr and subPath are mutually exclusive");
        }
        descending(&expression.called(&format!("{}.subPathExpr", all.path)), faults);
        propagation(
            container,
            &mount
                .get("mountPropagation")
                .called(&format!("{}.mountPropagation", all.path)),
            faults,
        );
    }
}

/// Checks a relative path that must not leave its parent.
pub(in crate::kinds) fn descending(at: &Located<'_>, faults: &mut Faults) {
    if at.str().starts_with('/') {
        faults.invalid(at, "must be a relative path");
    }
    no_backsteps(at, faults);
}

fn propagation(container: &Located<'_>, at: &Located<'_>, faults: &mut Faults) {
    if !at.is_set() {
        return;
    }
    faults.one_of(at, &["Bidirectional", "HostToContainer", "None"]);
    if at.str() == "Bidirectional" && !container.at("securityContext.privileged").is_true() {
        faults.forbidden(
            at,
            "Bidirectional mount propagation is available only to privileged containers",
        );
    }
}

pub(in crate::kinds) fn devices(container: &Located<'_>, around: &PodContext<'_>, faults: &mut Faults) {
    let mut paths = BTreeSet::new();
    for device in container.get("volumeDevices").items() {
        let (name, path) = (device.get("name"), device.get("devicePath"));
        let volume = around
            .volumes
            .iter()
            .find(|volume| volume.get("name").str() == name.str());
        if name.str().is_empty() {
            faults.required(&name, "");
        }
        match volume {
            None => faults.not_found(&name),
            Some(volume) if volume.get("persistentVolumeClaim").is_set() || volume.get("ephemeral").is_set() => {}
            Some(_) => faults.invalid(
                &name,
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
            ),
        }
        if path.str().is_empty() {
            faults.required(&path, "");
        }
        if !paths.insert(path.str()) {
            faults.invalid(&path, "must be unique");
        }
        if path.str().split('/').any(|part| part == "..") {
            faults.invalid(&path, "can not contain backsteps ('..')");
        }
    }
}
