//! Addresses of Services.

use serde_json::{Map, Value, json};

use crate::{
    allocation::{Holders, start},
    ip,
    kinds::{core::service::type_change::has_address, edit::text, faults::Faults, located::Located},
};

/// The default of `--service-cluster-ip-range`; the first address is the server's own.
const RANGE: &str = "10.0.0.0/24";

const ADDRESSES: std::ops::RangeInclusive<u8> = 2..=254;

/// The server's own address, of the Service `kubernetes`.
const OWN: &str = "10.0.0.1";

/// Reports an address that cannot be allocated, and why.
pub(in crate::kinds) fn check(spec: &Located<'_>, owner: &str, held: &Holders, faults: &mut Faults) {
    let ips = spec.get("clusterIPs");
    let asked = ips.items().next();
    let asked = asked.filter(|ip| ip.str() != "None" && has_address(spec.get("type").str()));
    if let Some(ip) = asked
        && let Some(why) = refusal(ip.str(), owner, held)
    {
        faults.invalid(&ips, &format!("failed to allocate IP {}: {why}", ip.str()));
    }
}

/// The reason that an address cannot be allocated.
fn refusal(ip: &str, owner: &str, held: &Holders) -> Option<String> {
    if !ip.starts_with("10.0.0.") {
        return Some("the provided network does not match the current range".to_owned());
    }
    if !in_range(ip) {
        return Some(format!(
            "the provided IP ({ip}) is not in the valid range. The range of valid IPs is {RANGE}"
        ));
    }
    let taken = held.get(ip).is_some_and(|holder| holder != owner) || ip == OWN && owner != "default/kubernetes";
    taken.then(|| "provided IP is already allocated".to_owned())
}

/// Whether a Service that prefers two IP families keeps policy, families and addresses. Upstream leaves these as they are,
/// because the cluster may have had another number of families when the Service was created.
pub(in crate::kinds) fn keeps_preference(spec: &Located<'_>, before: &Located<'_>) -> bool {
    let is_same = |name: &str| spec.get(name).is_like(&before.get(name));
    spec.get("ipFamilyPolicy").str() == "PreferDualStack"
        && ["type", "ipFamilyPolicy", "ipFamilies", "clusterIP", "clusterIPs"]
            .into_iter()
            .all(is_same)
}

/// Checks that the policy allows the number of IP families; `before` is the number that the Service had.
pub(in crate::kinds) fn policy(spec: &Located<'_>, before: usize, faults: &mut Faults) {
    if !has_address(spec.get("type").str()) {
        return;
    }
    let (policy, count) = (spec.get("ipFamilyPolicy"), spec.get("ipFamilies").len());
    if policy.str() == "SingleStack" && spec.get("clusterIPs").len() == 2 {
        let sentence = "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified";
        faults.invalid(&policy, sentence);
    }
    if policy.str() == "SingleStack" && count == 2 {
        let sentence = "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified";
        faults.invalid(&policy, sentence);
    } else if policy.str() != "SingleStack" && (1..before).contains(&count) {
        faults.invalid(&policy, "must be 'SingleStack' to release the secondary IP family");
    }
}

/// Checks the addresses whose families are not specified: the cluster has IPv4 only.
pub(in crate::kinds) fn unconfigured(spec: &Located<'_>, faults: &mut Faults) {
    if !has_address(spec.get("type").str()) {
        return;
    }
    let (ips, known) = (spec.get("clusterIPs"), spec.get("ipFamilies").len());
    for ip in ips.items().skip(known).filter(|ip| ip::is_ipv6_text(ip.str())) {
        faults.invalid(&ips.called(&ip.path), "IPv6 is not configured on this cluster");
    }
}

/// Checks the IP families: the cluster has IPv4 only.
pub(in crate::kinds) fn families(spec: &Located<'_>, faults: &mut Faults) {
    let policy = spec.get("ipFamilyPolicy");
    let free = spec.get("clusterIP").str() == "None" && spec.get("selector").len() == 0;
    if !has_address(spec.get("type").str()) || free {
        return;
    }
    if policy.str() == "RequireDualStack" {
        return faults.invalid(&policy, "this cluster is not configured for dual-stack services");
    }
    for family in spec.get("ipFamilies").items().filter(|family| family.str() != "IPv4") {
        faults.invalid(&family, "not configured on this cluster");
    }
}

fn in_range(ip: &str) -> bool {
    ip.strip_prefix("10.0.0.")
        .and_then(|last| last.parse::<u8>().ok())
        .is_some_and(|last| (1..=254).contains(&last))
}

/// Allocates an address if one is needed, and reserves the requested one.
pub(in crate::kinds) fn give(spec: &mut Map<String, Value>, owner: &str, is_given: bool, held: &mut Holders) {
    if !has_address(text(spec, "type")) {
        return;
    }
    let wanted = text(spec, "clusterIP").to_owned();
    let selects = spec
        .get("selector")
        .and_then(Value::as_object)
        .is_some_and(|selector| !selector.is_empty());
    let dual = wanted == "None" && !selects;
    if !spec.contains_key("ipFamilyPolicy") {
        let policy = if dual { "RequireDualStack" } else { "SingleStack" };
        spec.insert("ipFamilyPolicy".to_owned(), json!(policy));
    }
    let both = dual && text(spec, "ipFamilyPolicy") != "SingleStack";
    // Without families, [`unconfigured`] refuses an IPv6 address.
    if !ip::is_ipv6_text(&wanted) {
        spec.entry("ipFamilies").or_insert_with(|| json!(["IPv4"]));
    }
    if let Some(families) = spec.get_mut("ipFamilies").and_then(Value::as_array_mut)
        && let [first] = families.as_slice()
        && both
    {
        let other = if first == "IPv4" { "IPv6" } else { "IPv4" };
        families.push(json!(other));
    }
    let first = spec.get("ipFamilies").and_then(|families| families.get(0));
    let needs_ipv6 = first.is_some_and(|first| first == "IPv6");
    match wanted.as_str() {
        "None" => {}
        // [`families`] refuses the Service.
        "" if needs_ipv6 => {}
        "" if spec.contains_key("clusterIPs") || !is_given => {}
        "" => {
            let Some(ip) = free_address(owner, held) else { return };
            spec.insert("clusterIP".to_owned(), json!(ip));
            spec.insert("clusterIPs".to_owned(), json!([ip]));
            held.insert(ip, owner.to_owned());
        }
        ip if in_range(ip) => _ = held.entry(ip.to_owned()).or_insert_with(|| owner.to_owned()),
        _ => {}
    }
}

/// A free address. The position where the search begins depends on the owner's name, so that runs are reproducible.
fn free_address(owner: &str, held: &Holders) -> Option<String> {
    let count = ADDRESSES.count();
    let all = ADDRESSES.map(|last| format!("10.0.0.{last}"));
    all.cycle()
        .skip(start(owner, count))
        .take(count)
        .find(|ip| !held.contains_key(ip))
}
