//! NetworkPolicies.

use serde_json::{Value, json};

use crate::{
    kinds::{
        address::Network,
        address_form::warn_of_cidr,
        edit::{Fields, set, within},
        faults::Faults,
        format::port_name,
        kind::{BuiltInKind, Change, Warnings},
        labels::{print_selector, selector},
        located::Located,
    },
    strategy::{Generation, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            generation: Generation {
                counts_empty: true,
                ..Generation::COUNTED
            },
            ..Rules::default()
        },
        distinguishes_empty: &["spec"],
        defaults: &[
            ("networking.v1.NetworkPolicy", default),
            ("networking.v1.NetworkPolicyPort", |port| set(port, "protocol", "TCP")),
        ],
        validate,
        validate_update: |new, _, faults| validate(new, faults),
        warnings,
        cells: |row| vec![row.name(), print_selector(&row.get("spec.podSelector")), row.age()],
        ..BuiltInKind::default()
    }
}

fn default(object: &mut Fields) {
    let Some(spec) = within(object, "spec") else { return };
    let is_empty = |value: Option<&Value>| value.and_then(Value::as_array).is_none_or(Vec::is_empty);
    if is_empty(spec.get("policyTypes")) {
        let types = if is_empty(spec.get("egress")) {
            json!(["Ingress"])
        } else {
            json!(["Ingress", "Egress"])
        };
        spec.insert("policyTypes".to_owned(), types);
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
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

fn port(at: &Located<'_>, faults: &mut Faults) {
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
                faults.invalid(&end, "must be greater than or equal to `port`");
            }
            faults.port(&end);
        }
    }
}

fn peer(at: &Located<'_>, faults: &mut Faults) {
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

fn ip_block(at: &Located<'_>, faults: &mut Faults) {
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

fn warnings(Change { new: at, .. }: Change<'_, '_>) -> Warnings {
    let mut warnings = Vec::new();
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        for rule in at.get("spec").get(rules).items() {
            for peer in rule.get(peers).items() {
                let block = peer.get("ipBlock");
                if block.is_set() {
                    warn_of_cidr(&block.get("cidr"), &mut warnings);
                    block
                        .get("except")
                        .items()
                        .for_each(|at| warn_of_cidr(&at, &mut warnings));
                }
            }
        }
    }
    warnings
}
