//! Containers: main containers, init containers and sidecars.

use std::collections::BTreeSet;

use crate::kinds::{
    amounts::requirements,
    faults::{Faults, quoted},
    format::{label, port_name},
    located::Located,
    pod::{
        context::PodContext,
        environment::environment,
        mounts::{devices, mounts},
        probe::life,
        resources::used_claims,
        security::container_security,
    },
};

const ONLY_SIDECARS: &str = "may not be set for init containers without restartPolicy=Always";

const NEEDS_POLICY: &str = "must specify restartPolicy when restart rules are used";

/// All containers of a spec, in the order in which the server visits them.
pub(super) fn all<'v>(spec: &Located<'v>) -> Vec<Located<'v>> {
    let lists = ["initContainers", "containers", "ephemeralContainers"].map(|list| spec.get(list));
    lists.iter().flat_map(Located::items).collect()
}

/// Validates the main containers.
pub(in crate::kinds) fn containers(at: &Located<'_>, around: &PodContext<'_>, faults: &mut Faults) {
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

/// Validates the init containers, including sidecars. `names` are those of the main containers.
pub(in crate::kinds) fn init_containers(
    at: &Located<'_>,
    around: &PodContext<'_>,
    mains: &Located<'_>,
    faults: &mut Faults,
) {
    let mut names: BTreeSet<&str> = mains.items().map(|container| container.get("name").str()).collect();
    for container in at.items() {
        any(&container, around, faults);
        let policy = container.get("restartPolicy");
        // Upstream does not look at the rules of an init container without a policy.
        if policy.is_set() {
            restart_policy(&container, faults);
        } else if container.get("restartPolicyRules").len() > 0 {
            faults.required(&policy, NEEDS_POLICY);
        }
        let had_nameless = names.contains("");
        unique(&container, &mut names, faults);
        if !had_nameless {
            // The nameless init container does not count as a use of the empty name.
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
        let resizes = container.get("resizePolicy");
        for restart in resizes.items().map(|policy| policy.get("restartPolicy")) {
            if restart.str() == "RestartContainer" {
                let why = "must not be set to 'RestartContainer' for non-sidecar initContainers";
                faults.invalid(&restart, why);
            }
        }
    }
}

fn unique<'a>(container: &Located<'a>, names: &mut BTreeSet<&'a str>, faults: &mut Faults) {
    let name = container.get("name");
    if !names.insert(name.str()) {
        faults.duplicate(&name);
    }
}

/// Validates what all containers have.
pub(super) fn any(container: &Located<'_>, around: &PodContext<'_>, faults: &mut Faults) {
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
    used_claims(&container.at("resources.claims"), around, faults);
    resize(&container.get("resizePolicy"), around, faults);
    container_security(container, faults);
}

fn ports(at: &Located<'_>, faults: &mut Faults) {
    let mut names = BTreeSet::new();
    for port in at.items() {
        let (name, number) = (port.get("name"), port.get("containerPort"));
        if !name.str().is_empty() {
            if !port_name(name.str()).is_empty() {
                faults.format(&name, port_name);
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

fn host_ports(container: &Located<'_>, path: &str, taken: &mut BTreeSet<String>, faults: &mut Faults) {
    for port in container.get("ports").called(&format!("{path}.ports")).items() {
        let host = port.get("hostPort");
        let text = format!(
            "{}/{}/{}",
            port.get("protocol").str(),
            port.get("hostIP").str(),
            host.int()
        );
        if host.int() != 0 && !taken.insert(text.clone()) {
            faults.duplicate_as(&host, &quoted(&text));
        }
    }
}

fn resize(at: &Located<'_>, around: &PodContext<'_>, faults: &mut Faults) {
    let mut names = BTreeSet::new();
    for policy in at.items() {
        // All errors are reported for the whole list.
        let (name, restart) = (policy.get("resourceName"), policy.get("restartPolicy"));
        let (name, restart) = (name.called(&at.path), restart.called(&at.path));
        if !names.insert(name.str()) {
            faults.duplicate(&name);
        }
        faults.one_of(&name, &["cpu", "memory"]);
        faults.one_of(&restart, &["NotRequired", "RestartContainer"]);
        if around.restart_policy == "Never" && restart.str() != "NotRequired" {
            faults.invalid(&restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
        }
    }
}

fn restart_policy(container: &Located<'_>, faults: &mut Faults) {
    let (policy, rules) = (container.get("restartPolicy"), container.get("restartPolicyRules"));
    if policy.is_set() {
        faults.one_of(&policy, &["Always", "Never", "OnFailure"]);
    } else if rules.len() > 0 {
        faults.required(&policy, NEEDS_POLICY);
    }
    if rules.len() > 20 {
        faults.too_many(&rules, 20);
    }
    for rule in rules.items() {
        faults.one_of(&rule.get("action"), &["Restart", "RestartAllContainers"]);
        let codes = rule.get("exitCodes");
        if !codes.is_set() {
            faults.required(&codes, "must be specified");
            continue;
        }
        faults.one_of(&codes.get("operator"), &["In", "NotIn"]);
        if codes.get("values").len() > 255 {
            faults.too_many(&codes.get("values"), 255);
        }
    }
}
