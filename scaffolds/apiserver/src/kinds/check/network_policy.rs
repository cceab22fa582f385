//! NetworkPolicies.

use super::{address::Network, format::port_name, labels::selector};
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

fn ip_block(at: &At<'_>, faults: &mut Faults) {
    let cidr = at.get("cidr");
    if cidr.str().is_empty() {
        return faults.required(&cidr, "");
    }
    let Some(outer) = Network::read(&cidr, cidr.str(), faults) else {
        return;
    };
    for except in at.get("except").items() {
        let inner = Network::read(&except, except.str(), faults);
        if inner.is_some_and(|inner| !outer.is_around(&inner)) {
            faults.invalid(&except, "must be a strict subset of `cidr`");
        }
    }
}
