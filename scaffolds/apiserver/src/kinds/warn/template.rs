//! Pods, and templates of Pods.

use std::collections::BTreeSet;

use super::{
    Said, address, paths, ports,
    storage::{PLUGINS, claim_spec, shown, whole_bytes},
};
use crate::kinds::{
    at::{At, quoted},
    check::label_value,
};

/// Labels of nodes that others replaced.
const NODE_LABELS: [(&str, &str); 8] = [
    (
        "beta.kubernetes.io/arch",
        "deprecated since v1.14; use \"kubernetes.io/arch\" instead",
    ),
    (
        "beta.kubernetes.io/os",
        "deprecated since v1.14; use \"kubernetes.io/os\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/region",
        "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead",
    ),
    (
        "failure-domain.beta.kubernetes.io/zone",
        "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead",
    ),
    (
        "beta.kubernetes.io/instance-type",
        "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead",
    ),
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    (
        "scheduler.alpha.kubernetes.io/preferAvoidPods",
        "deprecated since v1.22; use Taints and Tolerations instead",
    ),
    (
        "node-role.kubernetes.io/master",
        "use \"node-role.kubernetes.io/control-plane\" instead",
    ),
];

/// Annotations that do nothing any more, and the fields that replaced them.
const ANNOTATIONS: [(&str, &str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "v1.16+",
        "priorityClassName",
    ),
    ("security.alpha.kubernetes.io/sysctls", "v1.11+", "sysctls"),
    ("security.alpha.kubernetes.io/unsafe-sysctls", "v1.11+", "sysctls"),
];

/// Everything there is to say of a Pod (at the root of an object) or of a template of Pods.
pub(super) fn template(at: &At<'_>, said: &mut Said) {
    let (spec, annotations) = (at.get("spec"), at.at("metadata.annotations"));
    nodes(&spec, said);
    for (key, since, field) in ANNOTATIONS {
        if annotations.get(key).is_set() {
            said.push(format!(
                "{}[{key}]: non-functional in {since}; use the \"{field}\" field instead",
                annotations.path
            ));
        }
    }
    volumes(&spec, said);
    twice(&spec, said);
    for name in ["memory", "ephemeral-storage"] {
        whole_bytes(&spec.get("overhead"), name, said);
    }
    if !spec.at("securityContext.seccompProfile").is_set() {
        seccomp(&annotations, "seccomp.security.alpha.kubernetes.io/pod", said);
    }
    for container in containers(&spec) {
        in_container(&container, (&spec, &annotations), said);
    }
    ports::ports(&containers(&spec), said);
    let grace = spec.get("terminationGracePeriodSeconds");
    if grace.int() < 0 {
        said.push(format!(
            "{}: must be >= 0; negative values are invalid and will be treated as 1",
            grace.path
        ));
    }
    neighbours(&spec, said);
    spec.at("dnsConfig.nameservers")
        .items()
        .for_each(|at| address::ip(&at, said));
    spec.get("hostAliases")
        .items()
        .for_each(|alias| address::ip(&alias.get("ip"), said));
}

/// In the order in which the server visits them.
fn containers<'v>(spec: &At<'v>) -> Vec<At<'v>> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    lists
        .into_iter()
        .flat_map(|list| spec.get(list).items().collect::<Vec<_>>())
        .collect()
}

fn nodes(spec: &At<'_>, said: &mut Said) {
    for (key, at) in spec.get("nodeSelector").entries() {
        said.extend(outdated(key).map(|why| format!("{}: {why}", at.path)));
    }
    let affinity = spec.at("affinity.nodeAffinity");
    let required = affinity.at("requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    required.items().for_each(|term| node_labels(&term, false, said));
    for term in affinity.get("preferredDuringSchedulingIgnoredDuringExecution").items() {
        node_labels(&term.get("preference"), true, said);
    }
    for constraint in spec.get("topologySpreadConstraints").items() {
        let key = constraint.get("topologyKey");
        said.extend(outdated(key.str()).map(|why| format!("{}: {} is {why}", key.path, key.str())));
        selects_nothing(&constraint, said);
    }
}

fn outdated(label: &str) -> Option<&'static str> {
    let found = NODE_LABELS.iter().find(|(name, _)| *name == label);
    found.map(|(_, why)| *why)
}

/// Of a term of a NodeSelector; its values are looked at where nothing else does.
pub(super) fn node_labels(term: &At<'_>, values: bool, said: &mut Said) {
    for expression in term.get("matchExpressions").items() {
        let key = expression.get("key");
        said.extend(outdated(key.str()).map(|why| format!("{}: {} is {why}", key.path, key.str())));
        for value in expression.get("values").items().filter(|_| values) {
            let sentences = label_value(value.str());
            said.extend(
                sentences
                    .iter()
                    .map(|why| format!("{}: {} is invalid, {why}", value.path, value.str())),
            );
        }
    }
}

fn selects_nothing(at: &At<'_>, said: &mut Said) {
    let selector = at.get("labelSelector");
    if !selector.is_set() {
        said.push(format!(
            "{}: a null labelSelector results in matching no pod",
            selector.path
        ));
    }
}

fn neighbours(spec: &At<'_>, said: &mut Said) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        let affinity = spec.get("affinity").get(kind);
        for term in affinity.get("requiredDuringSchedulingIgnoredDuringExecution").items() {
            selects_nothing(&term, said);
        }
        for term in affinity.get("preferredDuringSchedulingIgnoredDuringExecution").items() {
            selects_nothing(&term.get("podAffinityTerm"), said);
        }
    }
}

fn volumes(spec: &At<'_>, said: &mut Said) {
    let volumes = spec.get("volumes");
    for volume in volumes.items() {
        for (plugin, why) in PLUGINS.iter().filter(|(plugin, _)| volume.get(plugin).is_set()) {
            said.push(format!("{}.{}: {why}", volume.path, shown(plugin)));
        }
        claim_spec(&volume.at("ephemeral.volumeClaimTemplate.spec"), said);
    }
    volumes.items().for_each(|volume| paths::overlaps(&volume, said));
}

/// Names that stand twice in lists of which only one counts.
fn twice(spec: &At<'_>, said: &mut Said) {
    let mut seen = BTreeSet::new();
    for alias in spec.get("hostAliases").items() {
        let ip = alias.get("ip");
        if !seen.insert(ip.str()) {
            said.push(format!("{}: duplicate ip {}", ip.path, quoted(ip.str())));
        }
    }
    let secrets = spec.get("imagePullSecrets");
    let mut seen = BTreeSet::new();
    for name in secrets.items().map(|secret| secret.get("name")) {
        if !seen.insert(name.str()) {
            said.push(format!("{}: duplicate name {}", name.path, quoted(name.str())));
        }
    }
    for name in secrets.items().map(|secret| secret.get("name")) {
        if name.str().is_empty() {
            said.push(format!("{}: invalid empty name \"\"", name.path));
        }
    }
}

fn seccomp(annotations: &At<'_>, key: &str, said: &mut Said) {
    if annotations.get(key).is_set() {
        said.push(format!(
            "{}[{key}]: non-functional in v1.27+; use the \"seccompProfile\" field instead",
            annotations.path
        ));
    }
}

fn in_container(container: &At<'_>, (spec, annotations): (&At<'_>, &At<'_>), said: &mut Said) {
    let name = container.get("name").str();
    let context = container.get("securityContext");
    if !context.get("seccompProfile").is_set() {
        let key = format!("container.seccomp.security.alpha.kubernetes.io/{name}");
        seccomp(annotations, &key, said);
    }
    let key = format!("container.apparmor.security.beta.kubernetes.io/{name}");
    let (armour, of_pod) = (annotations.get(&key), spec.at("securityContext.appArmorProfile"));
    // Of Pods the fields are made of the annotations.
    let is_template = !annotations.path.starts_with("metadata");
    if is_template && armour.is_set() && !context.get("appArmorProfile").is_set() && !is_profile(&of_pod, armour.str())
    {
        said.push(format!(
            "{}[{key}]: deprecated since v1.30; use the \"appArmorProfile\" field instead",
            annotations.path
        ));
    }
    for name in ["memory", "ephemeral-storage"] {
        for list in ["limits", "requests"] {
            whole_bytes(&container.get("resources").get(list), name, said);
        }
    }
    variables(container, said);
}

/// Whether a profile says what an annotation says.
fn is_profile(profile: &At<'_>, annotation: &str) -> bool {
    let (r#type, local) = match annotation.strip_prefix("localhost/") {
        Some(local) => ("Localhost", local),
        None if annotation == "runtime/default" => ("RuntimeDefault", ""),
        None if annotation == "unconfined" => ("Unconfined", ""),
        None => return false,
    };
    profile.get("type").str() == r#type && profile.get("localhostProfile").str() == local
}

/// Variables that hide others and are not made of them.
fn variables(container: &At<'_>, said: &mut Said) {
    let mut seen = BTreeSet::new();
    for variable in container.get("env").items() {
        let (name, value) = (variable.get("name").str(), variable.get("value").str());
        if seen.insert(name) {
            continue;
        }
        let reference = format!("$({name})");
        if variable.get("valueFrom").is_set() || value == reference || !value.contains(&reference) {
            said.push(format!(
                "{}: hides previous definition of {}, which may be dropped when using apply",
                variable.path,
                quoted(name)
            ));
        }
    }
}
