//! The spec of a Pod.

use serde_json::{Value, json};

use crate::kinds::{
    address,
    amounts::requirements,
    faults::{Faults, quoted},
    format::{label, label_value, qualified, search_domain, subdomain},
    labels::labels,
    located::Located,
    pod::{
        affinity::{about, affinity},
        annotations::MIRROR,
        container::{all, containers, init_containers},
        context::PodContext,
        environment::file_volumes,
        ephemeral::ephemeral_containers,
        os::os,
        resources::{pod_resources, resource_claims},
        security::pod_security,
        spread::spread,
        sysctl::sysctls,
        volume::{reference, volumes},
        windows::host_processes,
    },
};

/// Validates a spec. `metadata` is that of the Pod; none for a template.
pub(in crate::kinds) fn pod_spec(spec: &Located<'_>, metadata: Option<&Located<'_>>, faults: &mut Faults) {
    let pod = metadata.map_or("", |metadata| metadata.get("name").str());
    let volumes = volumes(&spec.get("volumes"), pod, faults);
    let grace_seconds = spec.get("terminationGracePeriodSeconds").int();
    let around = PodContext {
        volumes,
        restart_policy: spec.get("restartPolicy").str(),
        grace_seconds,
        claims: spec
            .get("resourceClaims")
            .items()
            .map(|claim| claim.get("name").str())
            .filter(|name| !name.is_empty())
            .collect(),
    };
    let is_mirror = metadata.is_some_and(|metadata| metadata.get("annotations").get(MIRROR).is_set());
    resource_claims(&spec.get("resourceClaims"), is_mirror, faults);
    let mains = spec.get("containers");
    containers(&mains, &around, faults);
    init_containers(&spec.get("initContainers"), &around, &mains, faults);
    ephemeral_containers(spec, &around, faults);
    pod_resources(spec, &around, faults);
    host_network(spec, faults);
    host_namespaces(spec, faults);
    faults.one_of(&spec.get("restartPolicy"), &["Always", "OnFailure", "Never"]);
    faults.one_of(
        &spec.get("dnsPolicy"),
        &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"],
    );
    labels(&spec.get("nodeSelector"), faults);
    pod_security(&spec.get("securityContext"), faults);
    sysctls(spec, faults);
    host_processes(spec, faults);
    os(spec, faults);
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
    hostname_override(spec, faults);
    tolerations(&spec.get("tolerations"), faults);
    for alias in spec.get("hostAliases").items() {
        address::ip(&alias.get("ip"), &[], faults);
        alias
            .get("hostnames")
            .items()
            .for_each(|name| faults.format(&name, subdomain));
    }
    reference(&spec.get("priorityClassName"), faults);
    if spec.get("runtimeClassName").is_set() {
        faults.format(&spec.get("runtimeClassName"), subdomain);
    }
    if spec.get("overhead").is_set() {
        let limits = json!({"limits": spec.get("overhead").value});
        let overhead = Located {
            value: &limits,
            path: spec.get("overhead").path,
        };
        requirements(&overhead, faults);
    }
    if spec.get("preemptionPolicy").is_set() {
        faults.one_of(&spec.get("preemptionPolicy"), &["PreemptLowerPriority", "Never"]);
    }
    file_volumes(spec, faults);
}

/// Namespaces of the host exclude users and processes of the Pod's own.
fn host_namespaces(spec: &Located<'_>, faults: &mut Faults) {
    let shared = spec.get("shareProcessNamespace");
    if spec.get("hostPID").is_true() && shared.is_true() {
        faults.invalid(&shared, "ShareProcessNamespace and HostPID cannot both be enabled");
    }
    let has_own_users = spec.get("hostUsers").value == false;
    let named = [
        ("hostNetwork", "hostNetwork"),
        ("hostPID", "HostPID"),
        ("hostIPC", "HostIPC"),
    ];
    for (_, shown) in named
        .iter()
        .filter(|(name, _)| has_own_users && spec.get(name).is_true())
    {
        faults.forbidden(&spec.get(shown), "when `hostUsers` is false");
    }
    for container in all(spec) {
        let devices = container.get("volumeDevices");
        if has_own_users && devices.len() > 0 {
            faults.forbidden(&devices, "when `hostUsers` is false");
        }
        let mount = container.at("securityContext.procMount");
        if !has_own_users && mount.str() == "Unmasked" {
            faults.invalid(&mount, "`hostUsers` must be false to use `Unmasked`");
        }
    }
}

/// Validates the name that containers see as their host's.
fn hostname_override(spec: &Located<'_>, faults: &mut Faults) {
    let name = spec.get("hostnameOverride");
    if !name.is_set() {
        return;
    }
    for excluded in ["setHostnameAsFQDN", "hostNetwork"] {
        if spec.get(excluded).is_true() {
            faults.forbidden(&name, &format!("may not be specified when {excluded} is true"));
        }
    }
    if name.str().len() > 64 {
        faults.too_long(&name, 64);
    }
    faults.format(&name, subdomain);
}

fn host_network(spec: &Located<'_>, faults: &mut Faults) {
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

fn dns(spec: &Located<'_>, faults: &mut Faults) {
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
    for server in servers.items() {
        address::ip(&server, &[], faults);
    }
    let searches = config.get("searches");
    if searches.len() > 32 {
        faults.invalid(&searches, "must not have more than 32 search paths");
    }
    // With a space between two.
    let characters: usize = searches.items().map(|search| search.str().len() + 1).sum();
    if characters > 2049 {
        faults.invalid(
            &searches,
            "must not have more than 2048 characters (including spaces) in the search list",
        );
    }
    for search in searches.items().filter(|search| search.str() != ".") {
        let domain = search.str().strip_suffix('.').unwrap_or(search.str());
        for sentence in search_domain(domain) {
            faults.invalid_as(&search, &quoted(domain), &sentence);
        }
    }
    for option in config.get("options").items() {
        if option.get("name").str().is_empty() {
            faults.required(&option, "must not be empty");
        }
    }
}

fn gates(at: &Located<'_>, faults: &mut Faults) {
    let mut names = std::collections::BTreeSet::new();
    for gate in at.items() {
        about(&gate, gate.get("name").str(), qualified(gate.get("name").str()), faults);
        if !names.insert(gate.get("name").str()) {
            faults.duplicate_as(&gate, &quoted(gate.get("name").str()));
        }
    }
}

pub(in crate::kinds) fn tolerations(at: &Located<'_>, faults: &mut Faults) {
    for toleration in at.items() {
        let (key, operator) = (toleration.get("key"), toleration.get("operator"));
        let (value, effect) = (toleration.get("value"), toleration.get("effect"));
        if !key.str().is_empty() {
            faults.format(&key, qualified);
        }
        if key.str().is_empty() && operator.str() != "Exists" {
            let detail = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            faults.invalid(
                &Located {
                    value: if operator.is_set() { operator.value } else { &EMPTY },
                    ..operator.clone()
                },
                detail,
            );
        }
        if toleration.get("tolerationSeconds").is_set() && effect.str() != "NoExecute" {
            let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            faults.invalid(
                &Located {
                    value: if effect.is_set() { effect.value } else { &EMPTY },
                    ..effect.clone()
                },
                detail,
            );
        }
        match operator.str() {
            "Equal" | "" => {
                for sentence in label_value(value.str()) {
                    faults.invalid_as(&operator, &quoted(value.str()), &sentence);
                }
            }
            "Exists" => {
                if !value.str().is_empty() {
                    let shown = quoted(value.str());
                    faults.invalid_as(&operator, &shown, "value must be empty when `operator` is 'Exists'");
                }
            }
            "Lt" | "Gt" => faults.not_supported(&operator, &["Equal", "Exists", "Lt", "Gt"]),
            _ => faults.not_supported(&operator, &["Equal", "Exists"]),
        }
        if !effect.str().is_empty() {
            faults.one_of(&effect, &["NoSchedule", "PreferNoSchedule", "NoExecute"]);
        }
    }
}

static EMPTY: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| json!(""));
