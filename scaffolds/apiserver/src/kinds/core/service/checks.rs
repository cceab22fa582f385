//! Validation of Services and of their updates.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::ip::{self, is_ipv6};
use crate::kinds::{
    address::{self, Network, endpoint_ip},
    core::service::node_ports,
    faults::{Faults, quoted},
    format::{PROTOCOLS, label, qualified, subdomain},
    labels::labels,
    load_balancer,
    located::Located,
};

/// Validates a new Service, or a changed one, given the one before.
pub(in crate::kinds) fn validate(at: &Located<'_>, old: Option<&Located<'_>>, faults: &mut Faults) {
    topology(&at.at("metadata.annotations"), faults);
    let spec = at.get("spec");
    let kind = spec.get("type").str();
    let headless = is_headless(&spec);
    if spec.get("ports").len() == 0 && !headless && kind != "ExternalName" {
        faults.required(&spec.get("ports"), "");
    }
    of_type(&spec, kind, headless, faults);
    ports(&spec.get("ports"), faults);
    labels(&spec.get("selector"), faults);
    affinity(&spec, faults);
    if kind != "ExternalName" {
        cluster_ips(&spec, &known(old, "clusterIPs"), faults);
    }
    let external = known(old, "externalIPs");
    for ip in spec.get("externalIPs").items() {
        if address::ip(&ip, &external, faults) {
            endpoint_ip(&ip, faults);
        }
    }
    faults.one_of(
        &spec.get("type"),
        &["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"],
    );
    port_conflicts(&spec, kind, faults);
    source_ranges(at, old, faults);
    balancer(&spec, kind, faults);
    traffic(&spec, kind, faults);
}

/// The texts in a list of the former spec.
fn known<'a>(old: Option<&Located<'a>>, list: &str) -> Vec<&'a str> {
    let list = old.map(|old| old.get("spec").get(list));
    list.iter().flat_map(Located::items).map(|item| item.str()).collect()
}

const TOPOLOGY_MODE: &str = "service.kubernetes.io/topology-mode";
const TOPOLOGY_HINTS: &str = "service.kubernetes.io/topology-aware-hints";

fn topology(notes: &Located<'_>, faults: &mut Faults) {
    let (mode, hints) = (notes.get(TOPOLOGY_MODE), notes.get(TOPOLOGY_HINTS));
    if mode.is_set() && hints.is_set() && mode.str() != hints.str() {
        let detail = format!("must match annotations[{TOPOLOGY_HINTS}] when both are specified");
        faults.invalid(&mode.called(&format!("{}[{TOPOLOGY_MODE}]", notes.path)), &detail);
    }
}

/// Whether a Service is headless. Only `clusterIPs` matters: a Service that a write of its status creates may have a
/// `clusterIP` without it.
fn is_headless(spec: &Located<'_>) -> bool {
    let ips = spec.get("clusterIPs");
    ips.len() == 1 && ips.items().all(|ip| ip.str() == "None")
}

/// The beginning of the error about a headless Service of another type.
pub(super) const NONE_FOR_TYPE: &str = "may not be set to 'None' for";

/// Parts of errors about addresses and families that upstream finds in its last validation. Only a Service that a write of its status
/// creates lacks `clusterIPs`: nothing completes them.
pub(super) const AFTERWARDS: [&str; 4] = [
    "Required value",
    "may not be set for ExternalName services",
    "may not change once set",
    "primary clusterIP can not be unset",
];

fn of_type(spec: &Located<'_>, kind: &str, headless: bool, faults: &mut Faults) {
    let ips = spec.get("clusterIPs");
    match kind {
        "LoadBalancer" | "NodePort" if headless => {
            let sentence = format!("{NONE_FOR_TYPE} {kind} services");
            ips.items().for_each(|ip| faults.invalid(&ip, &sentence));
        }
        "ExternalName" => {
            for name in ["clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
                let at = spec.get(name);
                if at.len() > 0 || at.value.is_string() {
                    faults.forbidden(&at, "may not be set for ExternalName services");
                }
            }
            let name = spec.get("externalName");
            let text = name.str().strip_suffix('.').unwrap_or(name.str());
            if text.is_empty() {
                faults.required(&name, "");
            }
            for sentence in subdomain(text).iter().filter(|_| !text.is_empty()) {
                faults.invalid_as(&name, &quoted(text), sentence);
            }
        }
        _ => {}
    }
}

fn ports(at: &Located<'_>, faults: &mut Faults) {
    let mut names = BTreeSet::new();
    for port in at.items() {
        let name = port.get("name");
        if name.str().is_empty() {
            if at.len() > 1 {
                faults.required(&name, "");
            }
        } else {
            faults.format(&name, label);
            if !names.insert(name.str()) {
                faults.duplicate(&name);
            }
        }
        faults.port(&port.get("port"));
        faults.one_of(&port.get("protocol"), &PROTOCOLS);
        faults.port_or_name(&port.get("targetPort"));
        if port.get("appProtocol").is_set() {
            faults.format(&port.get("appProtocol"), qualified);
        }
    }
}

fn affinity(spec: &Located<'_>, faults: &mut Faults) {
    let affinity = spec.get("sessionAffinity");
    faults.one_of(&affinity, &["ClientIP", "None"]);
    let seconds = spec.at("sessionAffinityConfig.clientIP.timeoutSeconds");
    if affinity.str() == "ClientIP" && !(1..=86_400).contains(&seconds.int()) {
        faults.invalid(&seconds, "must be greater than 0 and less than 86400");
    }
}

fn cluster_ips(spec: &Located<'_>, old: &[&str], faults: &mut Faults) {
    let (first, ips) = (spec.get("clusterIP"), spec.get("clusterIPs"));
    match (first.str(), ips.items().next()) {
        ("", None) => {}
        ("", Some(_)) => faults.invalid(&ips, "must be empty when `clusterIP` is not specified"),
        (_, None) => faults.required(&ips, ""),
        (first, Some(ip)) if ip.str() != first => faults.invalid(&ips, "first value must match `clusterIP`"),
        _ => {}
    }
    let mut families = BTreeSet::new();
    for family in spec.get("ipFamilies").items() {
        faults.one_of(&family, &["IPv4", "IPv6"]);
        if !families.insert(family.str()) {
            faults.duplicate(&family);
        }
    }
    let policy = spec.get("ipFamilyPolicy");
    if policy.is_set() {
        faults.one_of(&policy, &["PreferDualStack", "RequireDualStack", "SingleStack"]);
    }
    let before = faults.len();
    let mut parsed = Vec::new();
    for (index, ip) in ips.items().enumerate() {
        if index == 0 && ip.str() == "None" {
            if ips.len() > 1 {
                faults.invalid(&ips, "'None' must be the first and only value");
            }
        } else if address::ip(&ip, old, faults) {
            parsed.extend(ip::parse(ip.str()));
        }
    }
    let are_sound = faults.len() == before;
    if ips.len() > 2 {
        faults.invalid(&ips, "may only hold up to 2 values");
    }
    if !are_sound {
        return;
    }
    let is_dual = parsed.iter().any(is_ipv6) && !parsed.iter().all(is_ipv6);
    if parsed.len() > 1 && !is_dual {
        faults.invalid(&ips, "may specify no more than one IP for each IP family");
    }
    for (index, ((at, ip), family)) in ips.items().zip(&parsed).zip(spec.get("ipFamilies").items()).enumerate() {
        let expected = match (family.str(), is_ipv6(ip)) {
            ("IPv4", true) => "IPv4",
            ("IPv6", false) => "IPv6",
            _ => continue,
        };
        faults.invalid(
            &at,
            &format!("expected an {expected} value as indicated by `ipFamilies[{index}]`"),
        );
    }
}

fn port_conflicts(spec: &Located<'_>, kind: &str, faults: &mut Faults) {
    let all = spec.get("ports");
    for port in all
        .items()
        .filter(|port| kind == "ClusterIP" && port.get("nodePort").int() != 0)
    {
        faults.forbidden(&port.get("nodePort"), "may not be used when `type` is 'ClusterIP'");
    }
    let mut taken = BTreeSet::new();
    for port in all.items().filter(|port| port.get("nodePort").int() != 0) {
        if !taken.insert((port.get("protocol").str(), port.get("nodePort").int())) {
            faults.duplicate(&port.get("nodePort"));
        }
    }
    let mut taken = BTreeSet::new();
    for port in all.items() {
        let (protocol, number) = (port.get("protocol"), port.get("port").int());
        if !taken.insert((protocol.str(), number)) {
            let shown = format!(
                r#"{{"Name":"","Protocol":{},"AppProtocol":null,"Port":{number},"TargetPort":0,"NodePort":0}}"#,
                protocol.value
            );
            faults.duplicate_as(&port, &shown);
        }
    }
}

const ONLY_BALANCERS: &str = "may only be used when `type` is 'LoadBalancer'";

/// The annotation that the field `loadBalancerSourceRanges` has replaced.
const SOURCE_RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";

/// Validates the networks from which clients may reach a load balancer. The field takes precedence over the annotation.
fn source_ranges(at: &Located<'_>, old: Option<&Located<'_>>, faults: &mut Faults) {
    let (spec, notes) = (at.get("spec"), at.at("metadata.annotations"));
    let is_balancer = spec.get("type").str() == "LoadBalancer";
    let field = spec
        .get("loadBalancerSourceRanges")
        .called(&format!("{}.LoadBalancerSourceRanges", spec.path));
    let annotation = notes
        .get(SOURCE_RANGES)
        .called(&format!("{}[{SOURCE_RANGES}]", notes.path));
    let ranges = if field.len() > 0 { &field } else { &annotation };
    if ranges.is_set() && !is_balancer {
        faults.forbidden(ranges, ONLY_BALANCERS);
    }
    if field.len() > 0 {
        let known: Vec<&str> = known(old, "loadBalancerSourceRanges")
            .into_iter()
            .map(str::trim)
            .collect();
        let new = field.items().filter(|range| !known.contains(&range.str().trim()));
        return new.for_each(|range| _ = Network::read(&range, range.str().trim(), faults));
    }
    let was = old.map(|old| old.at("metadata.annotations").get(SOURCE_RANGES));
    let text = annotation.str().trim();
    if !text.is_empty() && was.is_none_or(|was| was.value != annotation.value) {
        for range in text.split(',') {
            Network::read(&annotation, range.trim(), faults);
        }
    }
}

fn balancer(spec: &Located<'_>, kind: &str, faults: &mut Faults) {
    let is_balancer = kind == "LoadBalancer";
    let allocate = spec.get("allocateLoadBalancerNodePorts");
    if allocate.is_set() && !is_balancer {
        faults.forbidden(&allocate, ONLY_BALANCERS);
    }
    let class = spec.get("loadBalancerClass");
    if class.is_set() {
        if is_balancer {
            faults.format(&class, qualified);
        } else {
            faults.forbidden(&class, ONLY_BALANCERS);
        }
    }
}

fn traffic(spec: &Located<'_>, kind: &str, faults: &mut Faults) {
    let (outer, inner) = (spec.get("externalTrafficPolicy"), spec.get("internalTrafficPolicy"));
    let has_ips = spec.get("externalIPs").len() > 0;
    let external = matches!(kind, "LoadBalancer" | "NodePort") || kind == "ClusterIP" && has_ips;
    if external {
        faults.one_of(&outer, &["Cluster", "Local"]);
    } else if !outer.str().is_empty() {
        faults.invalid(&outer, "may only be set for externally-accessible services");
    }
    let health = spec.get("healthCheckNodePort");
    match (needs_health_check(spec), health.int()) {
        (false, 0) => {}
        (false, _) => faults.invalid(
            &health,
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
        ),
        (true, 0) => faults.required(&health, ""),
        (true, _) => faults.port(&health),
    }
    match inner.value {
        Value::Null if matches!(kind, "LoadBalancer" | "NodePort" | "ClusterIP") => faults.required(&inner, ""),
        Value::Null => {}
        _ => faults.one_of(&inner, &["Cluster", "Local"]),
    }
    let distribution = spec.get("trafficDistribution");
    if distribution.is_set() {
        faults.one_of(&distribution, &["PreferClose", "PreferSameZone", "PreferSameNode"]);
    }
}

fn needs_health_check(spec: &Located<'_>) -> bool {
    spec.value.as_object().is_some_and(node_ports::needs_health_check)
}

pub(in crate::kinds) fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let (spec, before) = (new.get("spec"), old.get("spec"));
    let (ips, were) = (spec.get("clusterIPs"), before.get("clusterIPs"));
    let external = [&spec, &before]
        .iter()
        .any(|spec| spec.get("type").str() == "ExternalName");
    let headless = is_headless(&spec) && is_headless(&before);
    if !external && !headless {
        for (index, ip) in were.items().enumerate() {
            let place = Located {
                value: ips.value,
                path: format!("{}[{index}]", ips.path),
            };
            match ips.items().nth(index) {
                Some(new) if new.value != ip.value => faults.invalid(&place, "may not change once set"),
                None if index == 0 => faults.invalid(&place, "primary clusterIP can not be unset"),
                _ => {}
            }
        }
    }
    let (families, were) = (spec.get("ipFamilies"), before.get("ipFamilies"));
    if !external
        && families.items().next().map(|at| at.value) != were.items().next().map(|at| at.value)
        && were.len() > 0
    {
        let place = Located {
            value: families.value,
            path: format!("{}[0]", families.path),
        };
        faults.invalid(&place, "may not change once set");
    }
    let (class, was) = (spec.get("loadBalancerClass"), before.get("loadBalancerClass"));
    let stays = [&spec, &before]
        .iter()
        .all(|spec| spec.get("type").str() == "LoadBalancer");
    if stays && class.value != was.value {
        faults.invalid(&class, "may not change once set");
    }
    let (health, was) = (spec.get("healthCheckNodePort"), before.get("healthCheckNodePort"));
    if needs_health_check(&spec) && needs_health_check(&before) && health.int() != was.int() {
        faults.forbidden(&health, "field is immutable");
    }
    validate(new, Some(old), faults);
}

pub(in crate::kinds) fn validate_status(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let points = new.at("status.loadBalancer.ingress");
    if new.at("spec.type").str() != "LoadBalancer" && points.len() > 0 {
        return faults.forbidden(&points, "may only be used when `spec.type` is 'LoadBalancer'");
    }
    let known = load_balancer::known_ips(old);
    for point in points.items() {
        load_balancer::ip(&point, &known, faults);
        let (ip, mode) = (point.get("ip"), point.get("ipMode"));
        match (ip.str().is_empty(), mode.is_set()) {
            (true, true) => faults.forbidden(&mode, "may not be specified when `ip` is not set"),
            (false, true) => faults.one_of(&mode, &["Proxy", "VIP"]),
            (false, false) => faults.required(&mode, "must be specified when `ip` is set"),
            (true, false) => {}
        }
        load_balancer::hostname(&point, faults);
    }
}
