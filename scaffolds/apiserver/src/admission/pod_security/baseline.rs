//! The checks of the level `baseline`: known ways from a Pod to its node.

use std::collections::BTreeSet;

use serde_json::Value;

use super::checked::{
    CheckedPod, Violation, context, items, listed, nonempty, phrase, plural, quoted, text, violation,
};

/// The capabilities that containers may add.
const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];
/// The types of SELinux labels, in the order in which they were allowed.
const LABEL_TYPES: [&str; 4] = [
    "container_t",
    "container_init_t",
    "container_kvm_t",
    "container_engine_t",
];
/// The safe sysctls, in the order in which they were allowed.
const SYSCTLS: [&str; 14] = [
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_notsent_lowat",
];
/// The handlers of a container that may name a host.
const HANDLERS: [&str; 5] = [
    "/livenessProbe",
    "/readinessProbe",
    "/startupProbe",
    "/lifecycle/postStart",
    "/lifecycle/preStop",
];
const APP_ARMOR: &str = "/appArmorProfile/type";
const APP_ARMOR_ANNOTATION: &str = "container.apparmor.security.beta.kubernetes.io/";
const SECCOMP_ANNOTATION: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_ANNOTATIONS: &str = "container.seccomp.security.alpha.kubernetes.io/";
pub(super) const SECCOMP: &str = "seccompProfile";
const SE_LINUX: &str = "/seLinuxOptions";

pub(super) fn app_armor(pod: &CheckedPod<'_>) -> Option<Violation> {
    let is_allowed = |value: &str| value.is_empty() || value == "runtime/default" || value.starts_with("localhost/");
    let annotations = pod.annotations(|name, value| name.starts_with(APP_ARMOR_ANNOTATION) && !is_allowed(value));
    let setters = pod.setters(APP_ARMOR, is_other_profile);
    let who = match (setters, plural(annotations.len(), "annotation", "annotations")) {
        (None, _) if annotations.is_empty() => return None,
        (None, noun) => noun.to_owned(),
        (Some(setters), _) if annotations.is_empty() => setters,
        (Some(setters), noun) => format!("{setters} and {noun}"),
    };
    let profiles = pod.texts(APP_ARMOR, is_other_profile);
    let reason = match profiles.len() + annotations.len() {
        1 => "forbidden AppArmor profile",
        _ => "forbidden AppArmor profiles",
    };
    let values = profiles.into_iter().map(str::to_owned).chain(annotations);
    let detail = format!("{who} must not set AppArmor profile type to {}", quoted(values));
    violation(reason, detail)
}

/// Whether the type of an AppArmor or seccomp profile is not allowed.
pub(super) fn is_other_profile(kind: &Value) -> bool {
    kind != "RuntimeDefault" && kind != "Localhost"
}

pub(super) fn capabilities(pod: &CheckedPod<'_>) -> Option<Violation> {
    violation("non-default capabilities", added(pod, &CAPABILITIES)?)
}

/// The detail for containers that add capabilities outside `allowed`.
pub(super) fn added(pod: &CheckedPod<'_>, allowed: &[&str]) -> Option<String> {
    let other = |it| {
        let added = context(it, "/capabilities/add").and_then(Value::as_array);
        let added = added.into_iter().flatten().filter_map(Value::as_str);
        added.filter(|name| !allowed.contains(name))
    };
    let who = pod.containers_with(|it| other(it).next().is_some())?;
    let added = quoted(pod.containers().flat_map(other).collect::<BTreeSet<_>>());
    Some(format!(
        "{who} must not include {added} in securityContext.capabilities.add"
    ))
}

pub(super) fn host_namespaces(pod: &CheckedPod<'_>) -> Option<Violation> {
    let fields = ["hostNetwork", "hostPID", "hostIPC"].into_iter();
    let set = fields.filter(|field| pod.spec.get(field) == Some(&Value::Bool(true)));
    let set: Vec<_> = set.map(|field| format!("{field}=true")).collect();
    violation("host namespaces", nonempty(set)?.join(", "))
}

pub(super) fn host_path_volumes(pod: &CheckedPod<'_>) -> Option<Violation> {
    let of_host = items(pod.spec, "volumes").filter(|it| it.get("hostPath").is_some_and(|path| !path.is_null()));
    let names = nonempty(of_host.map(|it| text(it, "name")).collect())?;
    let noun = plural(names.len(), "volume", "volumes");
    violation("hostPath volumes", format!("{noun} {}", quoted(names)))
}

pub(super) fn host_ports(pod: &CheckedPod<'_>) -> Option<Violation> {
    let ports = |it| {
        let ports = items(it, "ports").filter_map(|port| port.get("hostPort")?.as_i64());
        ports.filter(|port| *port != 0)
    };
    let names = nonempty(pod.names(|it| ports(it).next().is_some()))?;
    let ports: BTreeSet<_> = pod.containers().flat_map(ports).map(|port| port.to_string()).collect();
    let (verb, noun) = (
        plural(names.len(), "uses", "use"),
        plural(ports.len(), "hostPort", "hostPorts"),
    );
    let detail = format!("{} {verb} {noun} {}", phrase(&names), listed(ports));
    violation("hostPort", detail)
}

pub(super) fn host_probes(pod: &CheckedPod<'_>) -> Option<Violation> {
    let hosts = |it: &'_ Value| -> BTreeSet<String> {
        let handlers = HANDLERS.iter().filter_map(|handler| it.pointer(handler));
        let actions = handlers.flat_map(|it| [it.get("httpGet"), it.get("tcpSocket")]);
        let hosts = actions.flatten().map(|action| text(action, "host"));
        hosts.filter(|host| !host.is_empty()).map(str::to_owned).collect()
    };
    let mut names = nonempty(pod.names(|it| !hosts(it).is_empty()))?;
    names.sort_unstable();
    let hosts: BTreeSet<_> = pod.containers().flat_map(hosts).collect();
    let (verb, noun) = (
        plural(names.len(), "uses", "use"),
        plural(hosts.len(), "probe or lifecycle host", "probe or lifecycle hosts"),
    );
    let detail = format!("{} {verb} {noun} {}", phrase(&names), quoted(hosts));
    violation("probe or lifecycle host", detail)
}

pub(super) fn privileged(pod: &CheckedPod<'_>) -> Option<Violation> {
    let who = pod.containers_with(|it| context(it, "/privileged") == Some(&Value::Bool(true)))?;
    violation(
        "privileged",
        format!("{who} must not set securityContext.privileged=true"),
    )
}

pub(super) fn proc_mount(pod: &CheckedPod<'_>) -> Option<Violation> {
    let other = |it| context(it, "/procMount").filter(|kind| *kind != "Default");
    let who = pod.containers_with(|it| other(it).is_some())?;
    let kinds: BTreeSet<_> = pod.containers().filter_map(|it| other(it)?.as_str()).collect();
    let detail = format!("{who} must not set securityContext.procMount to {}", quoted(kinds));
    violation("procMount", detail)
}

/// `allowed` is the number of types, from the beginning of [`LABEL_TYPES`], that are allowed.
pub(super) fn se_linux(pod: &CheckedPod<'_>, allowed: usize) -> Option<Violation> {
    let allowed = LABEL_TYPES.get(..allowed).unwrap_or(&LABEL_TYPES);
    let is_other = |kind: &str| !kind.is_empty() && !allowed.contains(&kind);
    let sets = |options: &Value, field: &str| !text(options, field).is_empty();
    let who = pod.setters(SE_LINUX, |options| {
        is_other(text(options, "type")) || sets(options, "user") || sets(options, "role")
    })?;
    let kinds = pod.values(SE_LINUX).map(|options| text(options, "type"));
    let kinds: BTreeSet<_> = kinds.filter(|kind| is_other(kind)).collect();
    let kinds = (!kinds.is_empty()).then(|| format!("{} {}", plural(kinds.len(), "type", "types"), quoted(&kinds)));
    let is_set = |field: &&str| pod.values(SE_LINUX).any(|options| sets(options, field));
    let others = ["user", "role"].into_iter().filter(is_set);
    let others = others.map(|field| format!("{field} may not be set"));
    let set: Vec<_> = kinds.into_iter().chain(others).collect();
    let detail = format!("{who} set forbidden securityContext.seLinuxOptions: {}", set.join("; "));
    violation("seLinuxOptions", detail)
}

pub(super) fn seccomp_annotations(pod: &CheckedPod<'_>) -> Option<Violation> {
    let containers = pod.names(|_| true);
    let is_allowed =
        |value: &str| ["runtime/default", "docker/default"].contains(&value) || value.starts_with("localhost/");
    let concerns = |name: &str| match name.strip_prefix(SECCOMP_ANNOTATIONS) {
        Some(container) => containers.contains(&container),
        None => name == SECCOMP_ANNOTATION,
    };
    let forbidden = pod.annotations(|name, value| concerns(name) && !is_allowed(value));
    if forbidden.is_empty() {
        return None;
    }
    let noun = plural(forbidden.len(), "annotation", "annotations");
    violation(SECCOMP, format!("forbidden {noun} {}", listed(forbidden)))
}

pub(super) fn seccomp(pod: &CheckedPod<'_>) -> Option<Violation> {
    const FIELD: &str = "/seccompProfile/type";
    let who = pod.setters(FIELD, is_other_profile)?;
    let kinds = quoted(pod.texts(FIELD, is_other_profile));
    let detail = format!("{who} must not set securityContext.seccompProfile.type to {kinds}");
    violation(SECCOMP, detail)
}

/// `allowed` is the number of sysctls, from the beginning of [`SYSCTLS`], that are allowed.
pub(super) fn sysctls(pod: &CheckedPod<'_>, allowed: usize) -> Option<Violation> {
    let allowed = SYSCTLS.get(..allowed).unwrap_or(&SYSCTLS);
    let set = context(pod.spec, "/sysctls").and_then(Value::as_array);
    let names = set.into_iter().flatten().map(|it| text(it, "name"));
    let other: Vec<_> = names.filter(|name| !allowed.contains(name)).collect();
    violation("forbidden sysctls", nonempty(other)?.join(", "))
}

pub(super) fn host_process(pod: &CheckedPod<'_>) -> Option<Violation> {
    let who = pod.setters("/windowsOptions/hostProcess", |it| *it == true)?;
    let detail = format!("{who} must not set securityContext.windowsOptions.hostProcess=true");
    violation("hostProcess", detail)
}
