//! Volumes and devices that containers mount.

use std::collections::{BTreeMap, BTreeSet};

use crate::kinds::{faults::Faults, located::Located, pod::context::PodContext, volume_source::no_backsteps};

/// The last path of each name.
fn paths_by_name<'v>(list: &Located<'v>, path: &str) -> BTreeMap<&'v str, &'v str> {
    list.items()
        .map(|it| (it.get("name").str(), it.get(path).str()))
        .collect()
}

pub(in crate::kinds) fn mounts(container: &Located<'_>, around: &PodContext<'_>, faults: &mut Faults) {
    let all = container.get("volumeMounts");
    let devices = paths_by_name(&container.get("volumeDevices"), "devicePath");
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
        if devices.contains_key(name.str()) {
            faults.invalid(&name, "must not already exist in volumeDevices");
        }
        if devices.values().any(|device| *device == path.str()) {
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
        recursion(&mount, &format!("{}.recursiveReadOnly", all.path), faults);
    }
}

fn recursion(mount: &Located<'_>, path: &str, faults: &mut Faults) {
    let at = mount.get("recursiveReadOnly").called(path);
    match at.str() {
        _ if !at.is_set() => {}
        "Disabled" => {}
        "Enabled" | "IfPossible" => {
            if !mount.get("readOnly").is_true() {
                faults.forbidden(&at, "may only be specified when readOnly is true");
            }
            if !matches!(mount.get("mountPropagation").str(), "" | "None") {
                let detail = "may only be specified when mountPropagation is None or not specified";
                faults.forbidden(&at, detail);
            }
        }
        _ => faults.not_supported(&at, &["Disabled", "Enabled", "IfPossible"]),
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
    let mounts = paths_by_name(&container.get("volumeMounts"), "mountPath");
    let (mut names, mut paths) = (BTreeSet::new(), BTreeSet::new());
    for device in container.get("volumeDevices").items() {
        let (name, path) = (device.get("name"), device.get("devicePath"));
        let volume = around
            .volumes
            .iter()
            .find(|volume| volume.get("name").str() == name.str());
        if name.str().is_empty() {
            faults.required(&name, "");
        } else if !names.insert(name.str()) {
            faults.invalid(&name, "must be unique");
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
        if paths.contains(path.str()) {
            faults.invalid(&path, "must be unique");
        }
        if path.str().split('/').any(|part| part == "..") {
            faults.invalid(&path, "can not contain backsteps ('..')");
        } else {
            paths.insert(path.str());
        }
        if mounts.contains_key(name.str()) {
            faults.invalid(&name, "must not already exist in volumeMounts");
        }
        if mounts.values().any(|mount| *mount == path.str()) {
            faults.invalid(&path, "must not already exist as a path in volumeMounts");
        }
    }
}
