//! Fields that are not available on a Pod's operating system (`spec.os`).

use crate::kinds::{faults::Faults, located::Located, pod::container::all};

/// Fields that are not available on Windows: of a Pod's security context, of the Pod, and of a container's security context.
const OF_POD: [&str; 11] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
];

const OF_SPEC: [&str; 4] = ["hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"];

const OF_CONTAINER: [&str; 10] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

pub(in crate::kinds) fn os(spec: &Located<'_>, faults: &mut Faults) {
    let os = spec.get("os");
    match os.get("name").str() {
        _ if !os.is_set() => {}
        "" => faults.required(&os.get("name"), ""),
        "linux" => linux(spec, faults),
        "windows" => windows(spec, faults),
        _ => faults.not_supported(&os.get("name").called(&os.path), &["linux", "windows"]),
    }
}

/// The security contexts of the containers.
pub(super) fn contexts<'a>(spec: &Located<'a>) -> impl Iterator<Item = Located<'a>> {
    all(spec).into_iter().map(|container| container.get("securityContext"))
}

fn linux(spec: &Located<'_>, faults: &mut Faults) {
    let contexts = [spec.get("securityContext")].into_iter().chain(contexts(spec));
    for options in contexts.map(|at| at.get("windowsOptions")).filter(Located::is_set) {
        faults.forbidden(&options, "windows options cannot be set for a linux pod");
    }
}

fn windows(spec: &Located<'_>, faults: &mut Faults) {
    let own = spec.get("securityContext");
    let of_pod = OF_POD.map(|name| own.get(name));
    let of_spec = OF_SPEC.map(|name| spec.get(name));
    let of_containers = contexts(spec).flat_map(|context| OF_CONTAINER.map(|name| context.get(name)));
    for at in of_pod
        .into_iter()
        .chain(of_spec)
        .chain(of_containers)
        .filter(Located::is_set)
    {
        faults.forbidden(&at, "cannot be set for a windows pod");
    }
}
