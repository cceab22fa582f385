//! The status of a Pod: validates what a client writes.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::ip::{self, is_ipv6};
use crate::kinds::{
    address,
    faults::{Faults, quoted},
    format::{label, qualified, subdomain},
    located::Located,
};

/// The lists of containers in a spec, and of their states in a status.
pub(super) const LISTS: [(&str, &str); 3] = [
    ("containers", "containerStatuses"),
    ("initContainers", "initContainerStatuses"),
    ("ephemeralContainers", "ephemeralContainerStatuses"),
];

/// Conditions whose types are not qualified names.
const OF_SYSTEM: [&str; 3] = ["PodScheduled", "Ready", "Initialized"];

pub(super) fn validate(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let (spec, status) = (new.get("spec"), new.get("status"));
    conditions(&status, faults);
    let node = status.get("nominatedNodeName");
    if !node.str().is_empty() && node.value != old.at("status.nominatedNodeName").value {
        faults.format(&node, subdomain);
        if !old.at("spec.nodeName").str().is_empty() {
            faults.forbidden(&node, "may not be set on pods that are already bound to a node");
        }
    }
    faults.immutable_text(&status.get("qosClass"), &old.at("status.qosClass"));
    transitions(&spec, [&status, &old.get("status")], faults);
    claims(&spec, &status, faults);
    extended_claim(&spec, &status.get("extendedResourceClaimStatus"), faults);
    addresses(&status.get("podIPs"), &old.at("status.podIPs"), faults);
    let hosts = status.get("hostIPs");
    if let Some(first) = hosts.items().next().map(|host| host.get("ip"))
        && first.str() != status.get("hostIP").str()
    {
        faults.invalid(&first, "must be equal to `hostIP`");
    }
    addresses(&hosts, &old.at("status.hostIPs"), faults);
    let is_windows = spec.at("os.name").str() == "windows";
    for (containers, states) in LISTS {
        for state in status.get(states).items() {
            user(&state.at("user.linux"), is_windows, faults);
            if containers == "ephemeralContainers" {
                no_devices(&state, faults);
            } else {
                devices(&state, &spec.get(containers), &status, faults);
            }
        }
    }
}

fn conditions(status: &Located<'_>, faults: &mut Faults) {
    let conditions = status.get("conditions");
    let mut observed = vec![status.get("observedGeneration")];
    observed.extend(conditions.items().map(|condition| condition.get("observedGeneration")));
    for generation in observed.iter().filter(|generation| generation.int() < 0) {
        faults.invalid(generation, "must be a non-negative integer");
    }
    for condition in conditions.items() {
        let kind = condition.get("type");
        if !OF_SYSTEM.contains(&kind.str()) {
            faults.format(&kind.called(&format!("{}.Type", condition.path)), qualified);
        }
    }
}

/// Containers that have ended may run again only if they are restarted.
fn transitions(spec: &Located<'_>, [now, was]: [&Located<'_>; 2], faults: &mut Faults) {
    let restarts_all = LISTS[..2]
        .iter()
        .flat_map(|(list, _)| spec.get(list).items())
        .flat_map(|container| container.get("restartPolicyRules").items())
        .any(|rule| rule.get("action").str() == "RestartAllContainers");
    for (containers, states) in LISTS {
        let is_ephemeral = containers == "ephemeralContainers";
        if restarts_all && !is_ephemeral {
            continue;
        }
        for old in was
            .get(states)
            .items()
            .filter(|old| old.at("state.terminated").is_set())
        {
            let code = old.at("state.terminated.exitCode").int();
            let same = |at: &Located<'_>| at.get("name").value == old.get("name").value;
            let runs = |new: &Located<'_>| same(new) && !new.at("state.terminated").is_set();
            let container = spec.get(containers).items().find(same);
            let is_restarted = container.is_some_and(|container| restarts(&container, spec, code)) && !is_ephemeral;
            if now.get(states).items().any(|new| runs(&new)) && !is_restarted {
                let place = old.get("state");
                faults.forbidden(&place, "may not be transitioned to non-terminated state");
            }
        }
    }
}

/// Whether a container is restarted after it ended with this code.
fn restarts(container: &Located<'_>, spec: &Located<'_>, code: i64) -> bool {
    let own = container.get("restartPolicy");
    let matches = |rule: &Located<'_>| {
        let is_listed = rule.at("exitCodes.values").items().any(|value| value.int() == code);
        match rule.at("exitCodes.operator").str() {
            "In" => is_listed,
            "NotIn" => !is_listed,
            _ => false,
        }
    };
    let rule = container.get("restartPolicyRules").items().find(matches);
    if own.is_set() && rule.is_some_and(|rule| rule.get("action").str().starts_with("Restart")) {
        return true;
    }
    let policy = if own.is_set() { own } else { spec.get("restartPolicy") };
    match policy.str() {
        "Never" => false,
        "OnFailure" => code != 0,
        _ => true,
    }
}

fn claims(spec: &Located<'_>, status: &Located<'_>, faults: &mut Faults) {
    let mut known = BTreeSet::new();
    for claim in status.get("resourceClaimStatuses").items() {
        let name = claim.get("name");
        let is_same = |claim: Located<'_>| claim.get("name").str() == name.str();
        if !spec.get("resourceClaims").items().any(is_same) {
            let sentence = "must match the name of an entry in `spec.resourceClaims`";
            faults.invalid_as(&name, &quoted(name.str()), sentence);
        }
        if !known.insert(name.str()) {
            faults.duplicate_as(&name, &quoted(name.str()));
        }
        if claim.get("resourceClaimName").is_set() {
            faults.format(&claim.get("resourceClaimName"), subdomain);
        }
    }
}

/// The claim that the scheduler made for extended resources.
fn extended_claim(spec: &Located<'_>, at: &Located<'_>, faults: &mut Faults) {
    if !at.is_set() {
        return;
    }
    let mappings = at.get("requestMappings");
    if mappings.len() == 0 {
        faults.required(&mappings, "at least one request mapping is required");
    }
    let mut seen = BTreeSet::new();
    for mapping in mappings.items() {
        let parts = ["containerName", "resourceName", "requestName"].map(|name| mapping.get(name));
        let [container, resource, request] = &parts;
        let mut containers = ["containers", "initContainers"]
            .into_iter()
            .flat_map(|list| spec.get(list).items());
        match containers.find(|it| it.get("name").str() == container.str()) {
            Some(found) if found.at("resources.requests").get(resource.str()).is_set() => {}
            Some(_) => faults.invalid_as(
                resource,
                &quoted(resource.str()),
                "must match the extended resource name of an entry in spec.initContainers.resources.requests or \
                 spec.containers.resources.requests",
            ),
            None => faults.invalid_as(
                container,
                &quoted(container.str()),
                "must match the name of an entry in spec.initContainers.name or spec.containers.name",
            ),
        }
        faults.format(&request.called(&format!("{}.requestName", at.path)), label);
        if !seen.insert(parts.clone().map(|part| part.str())) {
            parts
                .iter()
                .for_each(|part| faults.duplicate_as(part, &quoted(part.str())));
        }
    }
    faults.required_format(&at.get("resourceClaimName"), subdomain);
}

/// The user as whom the process of a container runs.
fn user(at: &Located<'_>, is_windows: bool, faults: &mut Faults) {
    if !at.is_set() {
        return;
    }
    if is_windows {
        return faults.forbidden(at, "cannot be set for a windows pod");
    }
    let number = |at: &Located<'_>, most: i64, faults: &mut Faults| {
        if !(0..=most).contains(&at.int()) {
            let sentence = format!("must be between 0 and {most}, inclusive");
            faults.invalid_as(at, &at.int().to_string(), &sentence);
        }
    };
    number(&at.get("uid"), i64::from(u32::MAX), faults);
    number(&at.get("gid"), i64::from(i32::MAX), faults);
    for group in at.get("supplementalGroups").items() {
        number(&group, i64::from(i32::MAX), faults);
    }
}

fn no_devices(state: &Located<'_>, faults: &mut Faults) {
    let at = state.get("allocatedResourcesStatus");
    if at.len() > 0 {
        faults.forbidden(&at, "must not be specified in container status");
    }
}

const CLAIM: &str = "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' when \
    container.resources.claims[*].request is set or 'claim:<claimName>' when it is empty";

/// The health of the devices of a container.
fn devices(state: &Located<'_>, containers: &Located<'_>, status: &Located<'_>, faults: &mut Faults) {
    let container = containers
        .items()
        .find(|container| container.get("name").str() == state.get("name").str());
    for allocated in state.get("allocatedResourcesStatus").items() {
        let name = allocated.get("name");
        if let Some(container) = &container {
            let (is_known, sentence) = match name.str().strip_prefix("claim:") {
                Some(claim) => (is_claim(claim, container, status), CLAIM),
                None => (
                    container.at("resources.requests").get(name.str()).is_set(),
                    "must match one of the container's resource requests",
                ),
            };
            if !is_known {
                faults.invalid_as(&name, &quoted(name.str()), sentence);
            }
        }
        let mut ids = BTreeSet::new();
        for device in allocated.get("resources").items() {
            faults.one_of(&device.get("health"), &["Healthy", "Unhealthy", "Unknown"]);
            let message = device.get("message");
            match message.str().len() {
                0 if message.is_set() => faults.required(&message, "must be non-empty if specified"),
                0..=1024 => {}
                _ => faults.too_long(&message, 1024),
            }
            let id = device.get("resourceID");
            if !ids.insert(id.str()) {
                faults.duplicate_as(&id, &quoted(id.str()));
            }
        }
    }
}

/// Whether a text names a claim of the container, a request of such a claim, or a request of the claim for extended resources.
fn is_claim(text: &str, container: &Located<'_>, status: &Located<'_>) -> bool {
    let named = |claim: &Located<'_>| match claim.get("request").str() {
        "" => claim.get("name").str() == text,
        request => text == format!("{}/{request}", claim.get("name").str()),
    };
    let extended = status.get("extendedResourceClaimStatus");
    let mapped = |mapping: &Located<'_>| {
        let resource = mapping.get("resourceName").str();
        let amount = container.at("resources.requests").get(resource);
        let request = mapping.get("requestName").str();
        mapping.get("containerName").str() == container.get("name").str()
            && !request.is_empty()
            && text == format!("{}/{request}", extended.get("resourceClaimName").str())
            && amount.value != &Value::Null
            && amount.str() != "0"
    };
    container.at("resources.claims").items().any(|claim| named(&claim))
        || extended.get("requestMappings").items().any(|mapping| mapped(&mapping))
}

/// Validates the addresses of a Pod or its host: at most one of each family. The `old` ones were accepted before.
fn addresses(at: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let known: Vec<&str> = old.items().map(|item| item.get("ip").str()).collect();
    for item in at.items() {
        address::ip(&item.get("ip").called(&item.path), &known, faults);
    }
    if at.len() < 2 {
        return;
    }
    let read = |item: Located<'_>| ip::parse(item.get("ip").str()).as_ref().map(is_ipv6);
    let families: Vec<Option<bool>> = at.items().map(read).collect();
    let unreadable = families.iter().position(Option::is_none);
    if let Some(index) = unreadable {
        let text = at.items().nth(index).map_or("", |item| item.get("ip").str());
        let why = format!("failed to check for dual stack with error:invalid IP[{index}]: {text}");
        faults.internal(at, &why);
    }
    if unreadable.is_some() || families.len() > 2 || families.first() == families.last() {
        let shown: Vec<String> = at
            .items()
            .map(|item| format!("{{\"IP\":{}}}", quoted(item.get("ip").str())))
            .collect();
        let shown = format!("[{}]", shown.join(","));
        faults.invalid_as(at, &shown, "may specify no more than one IP for each IP family");
    }
}
