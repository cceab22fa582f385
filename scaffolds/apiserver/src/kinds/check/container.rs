//! Containers of all sorts.

use std::collections::BTreeSet;

use super::{
    format::{self, header, label, variable},
    resources::requirements,
};
use crate::kinds::at::{At, Faults};

/// What a container may refer to.
pub(super) struct Around<'a> {
    /// The sound volumes, by name.
    pub volumes: Vec<At<'a>>,
    pub restart_policy: &'a str,
    pub grace_seconds: i64,
}

const ONLY_SIDECARS: &str = "may not be set for init containers without restartPolicy=Always";

/// The main containers.
pub(super) fn containers(at: &At<'_>, around: &Around<'_>, faults: &mut Faults) {
    if at.len() == 0 {
        return faults.required(at, "");
    }
    let mut names = BTreeSet::new();
    for container in at.items() {
        any(&container, around, faults);
        unique(&container, &mut names, faults);
        life(&container, around, faults);
        restart_policy(&container, faults);
    }
    let mut taken = BTreeSet::new();
    at.items()
        .for_each(|container| host_ports(&container, &container.path, &mut taken, faults));
}

/// The init containers, sidecars among them. `names` are the main containers'.
pub(super) fn init_containers(at: &At<'_>, around: &Around<'_>, mains: &At<'_>, faults: &mut Faults) {
    let mut names: BTreeSet<&str> = mains.items().map(|container| container.get("name").str()).collect();
    for container in at.items() {
        any(&container, around, faults);
        let policy = container.get("restartPolicy");
        restart_policy(&container, faults);
        let had_nameless = names.contains("");
        unique(&container, &mut names, faults);
        if !had_nameless {
            // An init container without a name takes it from nobody else.
            names.remove("");
        }
        host_ports(&container, &format!("{}[0]", at.path), &mut BTreeSet::new(), faults);
        if policy.str() == "Always" {
            life(&container, around, faults);
            continue;
        }
        for name in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if container.get(name).is_set() {
                faults.forbidden(&container.get(name), ONLY_SIDECARS);
            }
        }
    }
}

fn unique<'a>(container: &At<'a>, names: &mut BTreeSet<&'a str>, faults: &mut Faults) {
    let name = container.get("name");
    if !names.insert(name.str()) {
        faults.duplicate(&name);
    }
}

fn any(container: &At<'_>, around: &Around<'_>, faults: &mut Faults) {
    faults.required_format(&container.get("name"), label);
    if container.get("image").str().is_empty() {
        faults.required(&container.get("image"), "");
    }
    faults.one_of(
        &container.get("terminationMessagePolicy"),
        &["File", "FallbackToLogsOnError"],
    );
    ports(&container.get("ports"), faults);
    environment(container, faults);
    mounts(container, around, faults);
    devices(container, around, faults);
    faults.one_of(&container.get("imagePullPolicy"), &["Always", "IfNotPresent", "Never"]);
    requirements(&container.get("resources"), faults);
    resize(&container.get("resizePolicy"), around, faults);
    security(container, faults);
}

fn ports(at: &At<'_>, faults: &mut Faults) {
    let mut names = BTreeSet::new();
    for port in at.items() {
        let (name, number) = (port.get("name"), port.get("containerPort"));
        if !name.str().is_empty() {
            if !format::port_name(name.str()).is_empty() {
                faults.format(&name, format::port_name);
            } else if !names.insert(name.str()) {
                faults.duplicate(&name);
            }
        }
        if number.int() == 0 {
            faults.required(&number, "");
        } else {
            faults.port(&number);
        }
        if port.get("hostPort").int() != 0 {
            faults.port(&port.get("hostPort"));
        }
        faults.one_of(&port.get("protocol"), &["SCTP", "TCP", "UDP"]);
    }
}

fn host_ports(container: &At<'_>, path: &str, taken: &mut BTreeSet<String>, faults: &mut Faults) {
    for port in container.get("ports").called(&format!("{path}.ports")).items() {
        let host = port.get("hostPort");
        let text = format!(
            "{}/{}/{}",
            port.get("protocol").str(),
            port.get("hostIP").str(),
            host.int()
        );
        if host.int() != 0 && !taken.insert(text.clone()) {
            faults.duplicate_as(&host, &crate::kinds::at::quoted(&text));
        }
    }
}

fn environment(container: &At<'_>, faults: &mut Faults) {
    for entry in container.get("env").items() {
        faults.required_format(&entry.get("name"), variable);
        if entry.get("valueFrom").is_set() {
            value_from(&entry, faults);
        }
    }
    let from = container.get("envFrom");
    for entry in from.items() {
        if !entry.get("prefix").str().is_empty() {
            faults.format(&entry.get("prefix"), variable);
        }
        let mut sources = 0;
        for name in ["configMapRef", "secretRef"] {
            let source = entry.get(name);
            if source.is_set() {
                sources += 1;
                if source.get("name").str().is_empty() {
                    faults.required(&source.get("name"), "");
                }
            }
        }
        match sources {
            0 => faults.invalid_as(&from, "\"\"", "must specify one of: `configMapRef` or `secretRef`"),
            1 => {}
            _ => faults.invalid_as(&from, "\"\"", "may not have more than one field specified at a time"),
        }
    }
}

/// Fields that variables may take from the Pod.
const FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// Fields that neither variables nor files may take, though they have names.
const NAMED: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "spec.restartPolicy",
    "spec.schedulerName",
    "status.phase",
];

fn value_from(entry: &At<'_>, faults: &mut Faults) {
    let from = entry.get("valueFrom");
    let mut sources = 0;
    for name in [
        "fieldRef",
        "resourceFieldRef",
        "configMapKeyRef",
        "secretKeyRef",
        "fileKeyRef",
    ] {
        let source = from.get(name);
        if !source.is_set() {
            continue;
        }
        sources += 1;
        match name {
            "fieldRef" => field_ref(&source, faults),
            "resourceFieldRef" => super::resources::field_ref(&source, false, faults),
            "configMapKeyRef" => {
                faults.format(&source.get("name"), format::subdomain);
                faults.required_format(&source.get("key"), format::config_key);
            }
            "secretKeyRef" => key_ref(&source, faults),
            _ => {}
        }
    }
    let one_of =
        "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
    if sources == 0 {
        faults.invalid_as(&from, "\"\"", one_of);
    } else if !entry.get("value").str().is_empty() {
        faults.invalid_as(&from, "\"\"", "may not be specified when `value` is not empty");
    } else if sources > 1 {
        faults.invalid_as(&from, "\"\"", "may not have more than one field specified at a time");
    }
}

fn key_ref(source: &At<'_>, faults: &mut Faults) {
    if source.get("name").str().is_empty() {
        faults.required(&source.get("name"), "");
    }
    faults.required_format(&source.get("key"), format::config_key);
}

fn field_ref(source: &At<'_>, faults: &mut Faults) {
    pod_field(source, &FIELDS, faults);
}

/// A reference to one of the Pod's fields, of which `known` may be taken.
pub(super) fn pod_field(source: &At<'_>, known: &[&str], faults: &mut Faults) {
    let path = source.get("fieldPath");
    if path.str().is_empty() {
        return faults.required(&path, "");
    }
    let (outer, subscript) = path.str().split_once("['").unwrap_or((path.str(), ""));
    match (outer, subscript.strip_suffix("']")) {
        ("metadata.annotations", Some(key)) => sentences(source, &key.to_lowercase(), faults),
        ("metadata.labels", Some(key)) => sentences(source, key, faults),
        _ if known.contains(&path.str()) => {}
        _ if FIELDS.contains(&path.str()) || NAMED.contains(&path.str()) => faults.not_supported(&path, known),
        _ => {
            let detail = format!("error converting fieldPath: field label not supported: {}", path.str());
            faults.invalid(&path, &detail);
        }
    }
}

fn sentences(at: &At<'_>, key: &str, faults: &mut Faults) {
    for sentence in format::qualified(key) {
        faults.invalid_as(at, &crate::kinds::at::quoted(key), &sentence);
    }
}

fn mounts(container: &At<'_>, around: &Around<'_>, faults: &mut Faults) {
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
        // The server leaves the index out of these paths.
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

/// A path below another one.
pub(super) fn descending(at: &At<'_>, faults: &mut Faults) {
    if at.str().starts_with('/') {
        faults.invalid(at, "must be a relative path");
    }
    no_backsteps(at, faults);
}

/// A path without `..`.
pub(super) fn no_backsteps(at: &At<'_>, faults: &mut Faults) {
    if at.str().split('/').any(|part| part == "..") {
        faults.invalid(at, "must not contain '..'");
    }
}

fn propagation(container: &At<'_>, at: &At<'_>, faults: &mut Faults) {
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

fn devices(container: &At<'_>, around: &Around<'_>, faults: &mut Faults) {
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

fn resize(at: &At<'_>, around: &Around<'_>, faults: &mut Faults) {
    let mut names = BTreeSet::new();
    for policy in at.items() {
        // All faults are about the list as a whole.
        let (name, restart) = (policy.get("resourceName"), policy.get("restartPolicy"));
        let (name, restart) = (name.called(&at.path), restart.called(&at.path));
        if !names.insert(name.str()) {
            faults.duplicate(&name);
        }
        faults.one_of(&name, &["cpu", "memory"]);
        faults.one_of(&restart, &["NotRequired", "RestartContainer"]);
        if around.restart_policy == "Never" && restart.str() != "NotRequired" {
            faults.invalid(&restart, "must be 'NotRequired' when `restartPolicy` is 'Never'");
        }
    }
}

fn security(container: &At<'_>, faults: &mut Faults) {
    let context = container.get("securityContext");
    user_ids(&context, faults);
    if context.get("allowPrivilegeEscalation").value.as_bool() == Some(false) {
        let shown = super::pod::internal_security(&context);
        if context.get("privileged").is_true() {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            faults.invalid_as(&context, &shown, detail);
        }
        // Once for each time that it is added.
        let added = context.at("capabilities.add");
        for _ in added.items().filter(|name| name.str() == "CAP_SYS_ADMIN") {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
            faults.invalid_as(&context, &shown, detail);
        }
    }
    super::pod::seccomp(&context.get("seccompProfile"), faults);
}

/// `runAsUser` and `runAsGroup` of a security context.
pub(super) fn user_ids(context: &At<'_>, faults: &mut Faults) {
    for name in ["runAsUser", "runAsGroup"] {
        let id = context.get(name);
        if id.is_set() && !(0..=i64::from(i32::MAX)).contains(&id.int()) {
            faults.invalid(&id, "must be between 0 and 2147483647, inclusive");
        }
    }
}

fn restart_policy(container: &At<'_>, faults: &mut Faults) {
    let policy = container.get("restartPolicy");
    if policy.is_set() {
        faults.one_of(&policy, &["Always", "Never", "OnFailure"]);
    }
}

fn life(container: &At<'_>, around: &Around<'_>, faults: &mut Faults) {
    for name in ["postStart", "preStop"] {
        let hook = container.get("lifecycle").get(name);
        if hook.is_set() {
            handler(&hook, around, faults);
        }
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let at = container.get(name);
        if at.is_set() {
            probe(&at, around, faults);
            let (success, grace) = (at.get("successThreshold"), at.get("terminationGracePeriodSeconds"));
            if name != "readinessProbe" && success.int() != 1 {
                faults.invalid(&success, "must be 1");
            }
            if name == "readinessProbe" && grace.is_set() {
                faults.invalid(&grace, "must not be set for readinessProbes");
            }
        }
    }
}

fn probe(at: &At<'_>, around: &Around<'_>, faults: &mut Faults) {
    handler(at, around, faults);
    for name in [
        "initialDelaySeconds",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    ] {
        faults.not_negative(&at.get(name));
    }
    let grace = at.get("terminationGracePeriodSeconds");
    if grace.is_set() && grace.int() <= 0 {
        faults.invalid(&grace, "must be greater than 0");
    }
}

fn handler(at: &At<'_>, around: &Around<'_>, faults: &mut Faults) {
    let mut count = 0;
    for name in ["exec", "httpGet", "tcpSocket", "grpc", "sleep"] {
        let action = at.get(name);
        if !action.is_set() {
            continue;
        }
        count += 1;
        if count > 1 {
            faults.forbidden(&action, "may not specify more than 1 handler type");
            continue;
        }
        match name {
            "exec" if action.get("command").len() == 0 => faults.required(&action.get("command"), ""),
            "exec" => {}
            "httpGet" => http_get(&action, faults),
            "sleep" => sleep(&action, around, faults),
            _ => faults.port_or_name(&action.get("port")),
        }
    }
    if count == 0 {
        faults.required(at, "must specify a handler type");
    }
}

fn http_get(action: &At<'_>, faults: &mut Faults) {
    if action.get("path").str().is_empty() {
        faults.required(&action.get("path"), "");
    }
    faults.port_or_name(&action.get("port"));
    faults.one_of(&action.get("scheme"), &["HTTP", "HTTPS"]);
    for entry in action.get("httpHeaders").items() {
        for sentence in header(entry.get("name").str()) {
            faults.invalid(
                &entry.get("name").called(&format!("{}.httpHeaders", action.path)),
                &sentence,
            );
        }
    }
}

fn sleep(action: &At<'_>, around: &Around<'_>, faults: &mut Faults) {
    let seconds = action.get("seconds").int();
    let most = around.grace_seconds;
    if !(0..=most).contains(&seconds) {
        let detail = format!("must be non-negative and less than terminationGracePeriodSeconds ({most})");
        faults.invalid(
            &At {
                value: action.get("seconds").value,
                path: action.path.clone(),
            },
            &detail,
        );
    }
}
