//! Warnings about Pods and Pod templates.

use std::collections::BTreeSet;

use crate::kinds::{
    address_form::warn_of_ip,
    amounts::warn_of_fraction,
    faults::quoted,
    kind::Warnings,
    located::Located,
    node_selector::{outdated, warn_of_labels},
    pod::{
        annotations::{APP_ARMOR_OF, SECCOMP, SECCOMP_OF, app_armor_profile},
        container::all,
        overlaps::overlaps,
        port_conflicts::ports,
    },
    volume::{PLUGINS, shown_plugin, warn_of_claim_spec},
};

/// Annotations without effect, and the fields that replaced them.
const ANNOTATIONS: [(&str, &str, &str); 3] = [
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        "v1.16+",
        "priorityClassName",
    ),
    ("security.alpha.kubernetes.io/sysctls", "v1.11+", "sysctls"),
    ("security.alpha.kubernetes.io/unsafe-sysctls", "v1.11+", "sysctls"),
];

/// Adds all warnings about a Pod (at the root of an object) or a Pod template.
pub(in crate::kinds) fn template(at: &Located<'_>, warnings: &mut Warnings) {
    let (spec, annotations) = (at.get("spec"), at.at("metadata.annotations"));
    nodes(&spec, warnings);
    for (key, since, field) in ANNOTATIONS {
        if annotations.get(key).is_set() {
            warnings.push(format!(
                "{}[{key}]: non-functional in {since}; use the \"{field}\" field instead",
                annotations.path
            ));
        }
    }
    volumes(&spec, warnings);
    twice(&spec, warnings);
    for name in ["memory", "ephemeral-storage"] {
        warn_of_fraction(&spec.get("overhead"), name, warnings);
    }
    if !spec.at("securityContext.seccompProfile").is_set() {
        seccomp(&annotations, SECCOMP, warnings);
    }
    let containers = all(&spec);
    for container in &containers {
        in_container(container, &spec, &annotations, warnings);
    }
    ports(&containers, warnings);
    let grace = spec.get("terminationGracePeriodSeconds");
    if grace.int() < 0 {
        warnings.push(format!(
            "{}: must be >= 0; negative values are invalid and will be treated as 1",
            grace.path
        ));
    }
    neighbours(&spec, warnings);
    spec.at("dnsConfig.nameservers")
        .items()
        .for_each(|at| warn_of_ip(&at, warnings));
    spec.get("hostAliases")
        .items()
        .for_each(|alias| warn_of_ip(&alias.get("ip"), warnings));
}

fn nodes(spec: &Located<'_>, warnings: &mut Warnings) {
    for (key, at) in spec.get("nodeSelector").entries() {
        warnings.extend(outdated(key).map(|why| format!("{}: {why}", at.path)));
    }
    let affinity = spec.at("affinity.nodeAffinity");
    let required = affinity.at("requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    required.items().for_each(|term| warn_of_labels(&term, false, warnings));
    for term in affinity.get("preferredDuringSchedulingIgnoredDuringExecution").items() {
        warn_of_labels(&term.get("preference"), true, warnings);
    }
    for constraint in spec.get("topologySpreadConstraints").items() {
        let key = constraint.get("topologyKey");
        warnings.extend(outdated(key.str()).map(|why| format!("{}: {} is {why}", key.path, key.str())));
        selects_nothing(&constraint, warnings);
    }
}

fn selects_nothing(at: &Located<'_>, warnings: &mut Warnings) {
    let selector = at.get("labelSelector");
    if !selector.is_set() {
        warnings.push(format!(
            "{}: a null labelSelector results in matching no pod",
            selector.path
        ));
    }
}

fn neighbours(spec: &Located<'_>, warnings: &mut Warnings) {
    for kind in ["podAffinity", "podAntiAffinity"] {
        let affinity = spec.get("affinity").get(kind);
        for term in affinity.get("requiredDuringSchedulingIgnoredDuringExecution").items() {
            selects_nothing(&term, warnings);
        }
        for term in affinity.get("preferredDuringSchedulingIgnoredDuringExecution").items() {
            selects_nothing(&term.get("podAffinityTerm"), warnings);
        }
    }
}

fn volumes(spec: &Located<'_>, warnings: &mut Warnings) {
    let volumes = spec.get("volumes");
    for volume in volumes.items() {
        for (plugin, why) in PLUGINS.iter().filter(|(plugin, _)| volume.get(plugin).is_set()) {
            warnings.push(format!("{}.{}: {why}", volume.path, shown_plugin(plugin)));
        }
        warn_of_claim_spec(&volume.at("ephemeral.volumeClaimTemplate.spec"), warnings);
    }
    volumes.items().for_each(|volume| overlaps(&volume, warnings));
}

/// Warns about duplicate names in lists in which only one of them takes effect.
fn twice(spec: &Located<'_>, warnings: &mut Warnings) {
    let mut seen = BTreeSet::new();
    for alias in spec.get("hostAliases").items() {
        let ip = alias.get("ip");
        if !seen.insert(ip.str()) {
            warnings.push(format!("{}: duplicate ip {}", ip.path, quoted(ip.str())));
        }
    }
    let secrets = spec.get("imagePullSecrets");
    let mut seen = BTreeSet::new();
    for name in secrets.items().map(|secret| secret.get("name")) {
        if !seen.insert(name.str()) {
            warnings.push(format!("{}: duplicate name {}", name.path, quoted(name.str())));
        }
    }
    for name in secrets.items().map(|secret| secret.get("name")) {
        if name.str().is_empty() {
            warnings.push(format!("{}: invalid empty name \"\"", name.path));
        }
    }
}

fn seccomp(annotations: &Located<'_>, key: &str, warnings: &mut Warnings) {
    if annotations.get(key).is_set() {
        warnings.push(format!(
            "{}[{key}]: non-functional in v1.27+; use the \"seccompProfile\" field instead",
            annotations.path
        ));
    }
}

fn in_container(container: &Located<'_>, spec: &Located<'_>, annotations: &Located<'_>, warnings: &mut Warnings) {
    let name = container.get("name").str();
    let context = container.get("securityContext");
    if !context.get("seccompProfile").is_set() {
        let key = format!("{SECCOMP_OF}{name}");
        seccomp(annotations, &key, warnings);
    }
    let key = format!("{APP_ARMOR_OF}{name}");
    let (armour, of_pod) = (annotations.get(&key), spec.at("securityContext.appArmorProfile"));
    // In a Pod, the server sets the fields from the annotations, so only templates need the warning.
    let is_template = !annotations.path.starts_with("metadata");
    let is_other = || app_armor_profile(armour.str()).is_none_or(|profile| profile != *of_pod.value);
    if is_template && armour.is_set() && !context.get("appArmorProfile").is_set() && is_other() {
        warnings.push(format!(
            "{}[{key}]: deprecated since v1.30; use the \"appArmorProfile\" field instead",
            annotations.path
        ));
    }
    for name in ["memory", "ephemeral-storage"] {
        for list in ["limits", "requests"] {
            warn_of_fraction(&container.get("resources").get(list), name, warnings);
        }
    }
    variables(container, warnings);
}

/// Warns about variables that hide earlier ones without referring to them.
fn variables(container: &Located<'_>, warnings: &mut Warnings) {
    let mut seen = BTreeSet::new();
    for variable in container.get("env").items() {
        let (name, value) = (variable.get("name").str(), variable.get("value").str());
        if seen.insert(name) {
            continue;
        }
        let reference = format!("$({name})");
        if variable.get("valueFrom").is_set() || value == reference || !value.contains(&reference) {
            warnings.push(format!(
                "{}: hides previous definition of {}, which may be dropped when using apply",
                variable.path,
                quoted(name)
            ));
        }
    }
}
