//! Pods and Pod templates.

use serde_json::{Value, json};

use super::{
    container::{Around, containers, descending, init_containers, user_ids},
    format::{label, qualified, subdomain},
    labels::{annotations, labels, node_selector, node_term, selector},
    spread::spread,
    sysctl::sysctls,
    system::system,
    volume::{reference, volumes},
};
use crate::kinds::at::{At, Faults, quoted};

/// A new Pod.
pub(in crate::kinds) fn pod(at: &At<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    whole(&spec, faults);
    if spec.get("ephemeralContainers").len() > 0 {
        faults.forbidden(&spec.get("ephemeralContainers"), "cannot be set on create");
    }
    if !spec.get("nodeName").str().is_empty() && spec.get("schedulingGates").len() > 0 {
        faults.forbidden(
            &spec.get("nodeName"),
            "cannot be set until all schedulingGates have been cleared",
        );
    }
}

/// What Pods must be beyond what templates must.
pub(super) fn whole(spec: &At<'_>, faults: &mut Faults) {
    pod_spec(spec, faults);
    for image in ["containers", "initContainers"]
        .iter()
        .flat_map(|list| spec.get(list).items())
        .map(|at| at.get("image"))
    {
        if image.str().trim() != image.str() {
            faults.invalid(&image, "must not have leading or trailing whitespace");
        }
    }
    let sources = spec
        .get("volumes")
        .items()
        .flat_map(|volume| volume.at("projected.sources").items());
    for token in sources
        .map(|source| source.get("serviceAccountToken"))
        .filter(At::is_set)
    {
        if spec.get("serviceAccountName").str().is_empty() {
            faults.forbidden(&token, "must not be specified when serviceAccountName is not set");
        }
    }
}

/// A template; `at` is its place.
pub(in crate::kinds) fn pod_template(at: &At<'_>, faults: &mut Faults) {
    // Metadata of a template is not called so in paths.
    labels(&at.at("metadata.labels").called(&format!("{}.labels", at.path)), faults);
    annotations(
        &at.at("metadata.annotations")
            .called(&format!("{}.annotations", at.path)),
        faults,
    );
    let spec = at.get("spec");
    pod_spec(&spec, faults);
    if spec.get("ephemeralContainers").len() > 0 {
        faults.forbidden(
            &spec.get("ephemeralContainers"),
            "ephemeral containers not allowed in pod template",
        );
    }
}

pub(super) fn pod_spec(spec: &At<'_>, faults: &mut Faults) {
    let volumes = volumes(&spec.get("volumes"), faults);
    let grace_seconds = spec.get("terminationGracePeriodSeconds").int();
    let around = Around {
        volumes,
        restart_policy: spec.get("restartPolicy").str(),
        grace_seconds,
    };
    let mains = spec.get("containers");
    containers(&mains, &around, faults);
    init_containers(&spec.get("initContainers"), &around, &mains, faults);
    host_network(spec, faults);
    faults.one_of(&spec.get("restartPolicy"), &["Always", "OnFailure", "Never"]);
    faults.one_of(
        &spec.get("dnsPolicy"),
        &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"],
    );
    labels(&spec.get("nodeSelector"), faults);
    security(&spec.get("securityContext"), faults);
    sysctls(spec, faults);
    system(spec, faults);
    affinity(&spec.get("affinity"), faults);
    dns(spec, faults);
    for gate in spec.get("readinessGates").items() {
        faults.format(&gate.get("conditionType"), qualified);
    }
    gates(&spec.get("schedulingGates"), faults);
    spread(&spec.get("topologySpreadConstraints"), faults);
    reference(&spec.get("serviceAccountName"), faults);
    reference(&spec.get("nodeName"), faults);
    let deadline = spec.get("activeDeadlineSeconds");
    if deadline.is_set() && !(1..=i64::from(i32::MAX)).contains(&deadline.int()) {
        faults.invalid(&deadline, "must be between 1 and 2147483647, inclusive");
    }
    for name in ["hostname", "subdomain"] {
        if !spec.get(name).str().is_empty() {
            faults.format(&spec.get(name), label);
        }
    }
    tolerations(&spec.get("tolerations"), faults);
    for alias in spec.get("hostAliases").items() {
        if alias.get("ip").str().parse::<std::net::IpAddr>().is_err() {
            faults.invalid(
                &alias.get("ip"),
                "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
            );
        }
        alias
            .get("hostnames")
            .items()
            .for_each(|name| faults.format(&name, subdomain));
    }
    reference(&spec.get("priorityClassName"), faults);
    if spec.get("runtimeClassName").is_set() {
        faults.format(&spec.get("runtimeClassName"), subdomain);
    }
    if spec.get("preemptionPolicy").is_set() {
        faults.one_of(&spec.get("preemptionPolicy"), &["PreemptLowerPriority", "Never"]);
    }
}

fn host_network(spec: &At<'_>, faults: &mut Faults) {
    if !spec.get("hostNetwork").is_true() {
        return;
    }
    let containers = spec.get("containers");
    for port in containers.items().flat_map(|container| container.get("ports").items()) {
        let host = port.get("hostPort").int();
        if host != 0 && host != port.get("containerPort").int() {
            faults.invalid(
                &port.get("hostPort"),
                "must match `containerPort` when `hostNetwork` is true",
            );
        }
    }
}

fn security(context: &At<'_>, faults: &mut Faults) {
    let id_fits = |id: &At<'_>| (0..=i64::from(i32::MAX)).contains(&id.int());
    let group = context.get("fsGroup");
    if group.is_set() && !id_fits(&group) {
        faults.invalid(&group, "must be between 0 and 2147483647, inclusive");
    }
    user_ids(context, faults);
    for group in context
        .get("supplementalGroups")
        .items()
        .filter(|group| !id_fits(group))
    {
        faults.invalid(&group, "must be between 0 and 2147483647, inclusive");
    }
    let policy = context.get("fsGroupChangePolicy");
    if policy.is_set() {
        faults.one_of(&policy, &["Always", "OnRootMismatch"]);
    }
    seccomp(&context.get("seccompProfile"), faults);
}

pub(super) fn seccomp(profile: &At<'_>, faults: &mut Faults) {
    if !profile.is_set() {
        return;
    }
    let (kind, local) = (profile.get("type"), profile.get("localhostProfile"));
    match kind.str() {
        "" => faults.required(&kind, "type is required when seccompProfile is set"),
        _ => faults.one_of(&kind, &["Localhost", "RuntimeDefault", "Unconfined"]),
    }
    match (kind.str() == "Localhost", local.is_set()) {
        (true, false) => faults.required(&local, "must be set when seccomp type is Localhost"),
        (true, true) => descending(&local, faults),
        (false, true) => {
            let shown = format!(
                r#"{{"Type":{},"LocalhostProfile":{}}}"#,
                quoted(kind.str()),
                quoted(local.str())
            );
            faults.invalid_as(&local, &shown, "can only be set when seccomp type is Localhost");
        }
        (false, false) => {}
    }
}

/// A container's security context as the server shows it: Go's field names, all of them.
pub(super) fn internal_security(context: &At<'_>) -> String {
    let names = [
        ("Capabilities", "capabilities"),
        ("Privileged", "privileged"),
        ("SELinuxOptions", "seLinuxOptions"),
        ("WindowsOptions", "windowsOptions"),
        ("RunAsUser", "runAsUser"),
        ("RunAsGroup", "runAsGroup"),
        ("RunAsNonRoot", "runAsNonRoot"),
        ("ReadOnlyRootFilesystem", "readOnlyRootFilesystem"),
        ("AllowPrivilegeEscalation", "allowPrivilegeEscalation"),
        ("ProcMount", "procMount"),
        ("SeccompProfile", "seccompProfile"),
        ("AppArmorProfile", "appArmorProfile"),
    ];
    let parts = names.map(|(go, name)| {
        let value = context.get(name);
        let value = match name {
            "capabilities" if value.is_set() => {
                format!(
                    r#"{{"Add":{},"Drop":{}}}"#,
                    value.get("add").value,
                    value.get("drop").value
                )
            }
            "seccompProfile" | "appArmorProfile" if value.is_set() => {
                format!(
                    r#"{{"Type":{},"LocalhostProfile":{}}}"#,
                    value.get("type").value,
                    value.get("localhostProfile").value
                )
            }
            _ => value.value.to_string(),
        };
        format!("\"{go}\":{value}")
    });
    format!("{{{}}}", parts.join(","))
}

fn weight(term: &At<'_>, faults: &mut Faults) {
    if !(1..=100).contains(&term.get("weight").int()) {
        faults.invalid(&term.get("weight"), "must be in the range 1-100");
    }
}

fn affinity(at: &At<'_>, faults: &mut Faults) {
    let node = at.get("nodeAffinity");
    let required = node.get("requiredDuringSchedulingIgnoredDuringExecution");
    if required.is_set() {
        node_selector(&required, faults);
    }
    for term in node.get("preferredDuringSchedulingIgnoredDuringExecution").items() {
        if term.get("weight").int() <= 0 || term.get("weight").int() > 100 {
            faults.invalid(&term.get("weight"), "must be in the range 1-100");
        }
        node_term(&term.get("preference"), false, faults);
    }
    for name in ["podAffinity", "podAntiAffinity"] {
        let pods = at.get(name);
        for term in pods.get("requiredDuringSchedulingIgnoredDuringExecution").items() {
            affinity_term(&term, faults);
        }
        for term in pods.get("preferredDuringSchedulingIgnoredDuringExecution").items() {
            weight(&term, faults);
            affinity_term(&term.get("podAffinityTerm"), faults);
        }
    }
}

fn affinity_term(term: &At<'_>, faults: &mut Faults) {
    selector(&term.get("labelSelector"), faults);
    selector(&term.get("namespaceSelector"), faults);
    for name in term.get("namespaces").items() {
        faults_about(&term.get("namespace"), name.str(), label(name.str()), faults);
    }
    let key = term.get("topologyKey");
    if key.str().is_empty() {
        faults.required(&key, "can not be empty");
    }
    faults_about(&key, key.str(), qualified(key.str()), faults);
}

fn faults_about(at: &At<'_>, text: &str, sentences: Vec<String>, faults: &mut Faults) {
    for sentence in sentences {
        faults.invalid_as(at, &quoted(text), &sentence);
    }
}

fn dns(spec: &At<'_>, faults: &mut Faults) {
    let config = spec.get("dnsConfig");
    let servers = config.get("nameservers");
    if spec.get("dnsPolicy").str() == "None" {
        if !config.is_set() {
            return faults.required(&config, "must provide `dnsConfig` when `dnsPolicy` is None");
        }
        if servers.len() == 0 {
            return faults.required(
                &servers,
                "must provide at least one DNS nameserver when `dnsPolicy` is None",
            );
        }
    }
    if servers.len() > 3 {
        faults.invalid(&servers, "must not have more than 3 nameservers");
    }
    for server in servers
        .items()
        .filter(|server| server.str().parse::<std::net::IpAddr>().is_err())
    {
        faults.invalid(&server, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    }
}

fn gates(at: &At<'_>, faults: &mut Faults) {
    let mut names = std::collections::BTreeSet::new();
    for gate in at.items() {
        faults_about(&gate, gate.get("name").str(), qualified(gate.get("name").str()), faults);
        if !names.insert(gate.get("name").str()) {
            faults.duplicate_as(&gate, &quoted(gate.get("name").str()));
        }
    }
}

fn tolerations(at: &At<'_>, faults: &mut Faults) {
    for toleration in at.items() {
        let (key, operator) = (toleration.get("key"), toleration.get("operator"));
        let (value, effect) = (toleration.get("value"), toleration.get("effect"));
        if !key.str().is_empty() {
            faults.format(&key, qualified);
        }
        if key.str().is_empty() && operator.str() != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            faults.invalid(
                &At {
                    value: if operator.is_set() { operator.value } else { &EMPTY },
                    ..operator.clone()
                },
                detail,
            );
        }
        if toleration.get("tolerationSeconds").is_set() && effect.str() != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            faults.invalid(
                &At {
                    value: if effect.is_set() { effect.value } else { &EMPTY },
                    ..effect.clone()
                },
                detail,
            );
        }
        match operator.str() {
            "Equal" | "" => {
                for sentence in super::format::label_value(value.str()) {
                    faults.invalid_as(&operator, &quoted(value.str()), &sentence);
                }
            }
            "Exists" => {
                if !value.str().is_empty() {
                    let shown = quoted(value.str());
                    faults.invalid_as(&operator, &shown, "value must be empty when `operator` is 'Exists'");
                }
            }
            _ => faults.not_supported(&operator, &["Equal", "Exists"]),
        }
        if !effect.str().is_empty() {
            faults.one_of(&effect, &["NoSchedule", "PreferNoSchedule", "NoExecute"]);
        }
    }
}

static EMPTY: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| json!(""));
