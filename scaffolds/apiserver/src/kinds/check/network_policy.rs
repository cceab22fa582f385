//! NetworkPolicies.

use std::net::IpAddr;

use super::{format::port_name, labels::selector};
use crate::kinds::at::{At, Faults};

pub(in crate::kinds) fn network_policy(at: &At<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    selector(&spec.get("podSelector"), faults);
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in spec.get(direction).items() {
            rule.get("ports").items().for_each(|item| port(&item, faults));
            rule.get(peers).items().for_each(|item| peer(&item, faults));
        }
    }
    let types = spec.get("policyTypes");
    if types.len() > 2 {
        return faults.invalid(&types, "may not specify more than two policyTypes");
    }
    types
        .items()
        .for_each(|item| faults.one_of(&item, &["Ingress", "Egress"]));
}

fn port(at: &At<'_>, faults: &mut Faults) {
    let (number, end, protocol) = (at.get("port"), at.get("endPort"), at.get("protocol"));
    faults.one_of(&protocol, &["TCP", "UDP", "SCTP"]);
    if !number.is_set() {
        if end.is_set() {
            faults.invalid(&end, "may not be specified when `port` is not specified");
        }
    } else if number.value.is_string() {
        if end.is_set() {
            faults.invalid(&end, "may not be specified when `port` is non-numeric");
        }
        faults.format(&number, port_name);
    } else {
        faults.port(&number);
        if end.is_set() {
            if end.int() < number.int() {
                faults.invalid_as(
                    &end,
                    &number.int().to_string(),
                    "must be greater than or equal to `port`",
                );
            }
            faults.port(&end);
        }
    }
}

fn peer(at: &At<'_>, faults: &mut Faults) {
    let (pods, namespaces, block) = (at.get("podSelector"), at.get("namespaceSelector"), at.get("ipBlock"));
    selector(&pods, faults);
    selector(&namespaces, faults);
    if block.is_set() {
        ip_block(&block, faults);
    }
    match [&pods, &namespaces, &block]
        .into_iter()
        .filter(|at| at.is_set())
        .count()
    {
        0 => faults.required(at, "must specify a peer"),
        2.. if block.is_set() => faults.forbidden(at, "may not specify both ipBlock and another peer"),
        _ => {}
    }
}

/// An address and how many of its bits count.
struct Network(u128, u32, bool);

fn ip_block(at: &At<'_>, faults: &mut Faults) {
    let cidr = at.get("cidr");
    if cidr.str().is_empty() {
        return faults.required(&cidr, "");
    }
    let Some(outer) = network(&cidr, faults) else { return };
    for except in at.get("except").items() {
        let Some(inner) = network(&except, faults) else {
            continue;
        };
        let width = if outer.2 { 128 } else { 32 };
        let shift = width - outer.1;
        let head = |address: u128| address.checked_shr(shift).unwrap_or_default();
        if outer.2 != inner.2 || head(outer.0) != head(inner.0) || outer.1 >= inner.1 {
            faults.invalid(&except, "must be a strict subset of `cidr`");
        }
    }
}

fn network(at: &At<'_>, faults: &mut Faults) -> Option<Network> {
    let parsed = at.str().split_once('/').and_then(|(ip, bits)| {
        let bits: u32 = bits.parse().ok()?;
        match ip.parse().ok()? {
            IpAddr::V4(ip) => (bits <= 32).then(|| Network(u128::from(ip.to_bits()), bits, false)),
            IpAddr::V6(ip) => (bits <= 128).then(|| Network(ip.to_bits(), bits, true)),
        }
    });
    if parsed.is_none() {
        faults.invalid(at, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
    }
    parsed
}
