//! EndpointSlices.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    ip,
    kinds::{
        address::{self, canonical_ip, endpoint_ip},
        address_form::warn_of_ip,
        edit::{Fields, set},
        faults::{Faults, quoted},
        format::{Format, PROTOCOLS, label, label_value, qualified, subdomain},
        kind::{BuiltInKind, Change, Warnings},
        located::Located,
        row::{Row, at_most_three, or},
        semantic,
    },
    meta,
    strategy::{Generation, Passes, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            generation: Generation {
                metadata: Some("labels"),
                ..Generation::COUNTED
            },
            passes: Passes::VALIDATE,
            ..Rules::default()
        },
        defaults: &[("discovery.v1.EndpointPort", default_port)],
        prepare_create: |slice| _ = forget_topology(slice),
        prepare_update,
        validate,
        validate_update,
        warnings,
        cells,
        ..BuiltInKind::default()
    }
}

/// Removes a field that only an earlier version writes, and returns whether it was there.
fn forget_topology(slice: &mut Value) -> bool {
    let endpoints = slice.get_mut("endpoints").and_then(Value::as_array_mut);
    let endpoints = endpoints.into_iter().flatten().filter_map(Value::as_object_mut);
    let removed = endpoints.filter_map(|endpoint| endpoint.remove("deprecatedTopology"));
    removed
        .filter(|map| map.as_object().is_some_and(|map| !map.is_empty()))
        .count()
        > 0
}

/// Upstream counts a change before it removes the field.
fn prepare_update(new: &mut Value, old: &Value) {
    if !forget_topology(new) {
        return;
    }
    let is_same = |field: &str| semantic::equal_fields("discovery.v1.EndpointSlice", field, &new[field], &old[field]);
    if ["addressType", "endpoints", "ports"].into_iter().all(is_same)
        && new["metadata"]["labels"] == old["metadata"]["labels"]
    {
        meta::system::next_generation(new);
    }
}

fn default_port(port: &mut Fields) {
    set(port, "name", "");
    set(port, "protocol", "TCP");
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    slice(at, true, faults);
}

/// Validates an EndpointSlice, and its endpoints if they `are_new`.
fn slice(at: &Located<'_>, are_new: bool, faults: &mut Faults) {
    let kind = at.get("addressType");
    let endpoints = at.get("endpoints");
    if kind.str().is_empty() {
        faults.required(&kind, "");
    } else {
        faults.one_of(&kind, &["FQDN", "IPv4", "IPv6"]);
    }
    if are_new && endpoints.len() > 1_000 {
        faults.too_many(&endpoints, 1_000);
    } else if are_new {
        for endpoint in endpoints.items() {
            slice_endpoint(&endpoint, kind.str(), faults);
        }
    }
    let ports = at.get("ports");
    if ports.len() > 20_000 {
        faults.too_many(&ports, 20_000);
    }
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let name = port.get("name");
        if !name.str().is_empty() {
            faults.format(&name, label);
        }
        if !names.insert(name.str()) {
            faults.duplicate(&name);
        }
        faults.one_of(&port.get("protocol"), &PROTOCOLS);
        if port.get("appProtocol").is_set() {
            faults.format(&port.get("appProtocol"), qualified);
        }
    }
}

fn slice_endpoint(endpoint: &Located<'_>, kind: &str, faults: &mut Faults) {
    let addresses = endpoint.get("addresses");
    if addresses.len() == 0 {
        faults.declared(|faults| faults.required(&addresses, ""));
    }
    if addresses.len() > 100 {
        faults.too_many(&addresses, 100);
    }
    for address in addresses.items() {
        let is_valid = match kind {
            "IPv4" => address::ip(&address, &[], faults),
            "IPv6" => canonical_ip(&address, faults),
            "FQDN" => {
                domain(&address, faults);
                false
            }
            _ => false,
        };
        if is_valid {
            of_family(&address, kind, &addresses.path, faults);
        }
    }
    if endpoint.get("nodeName").is_set() {
        faults.format(&endpoint.get("nodeName"), subdomain);
    }
    if endpoint.get("hostname").is_set() {
        faults.format(&endpoint.get("hostname"), label);
    }
    for (list, format) in [("hints.forZones", label_value as Format), ("hints.forNodes", subdomain)] {
        let list = endpoint.at(list);
        if list.len() > 8 {
            return faults.too_many(&list, 8);
        }
        hints(&list, format, faults);
    }
}

/// Checks the family of an address, and that endpoints can have the address. As upstream, an error about the family has the
/// path of the list.
fn of_family(at: &Located<'_>, family: &str, list: &str, faults: &mut Faults) {
    if ip::is_ipv6_text(at.str()) != (family == "IPv6") {
        faults.invalid(&at.called(list), &format!("must be an {family} address"));
    }
    endpoint_ip(at, faults);
}

/// Checks the name of a host with its domain.
fn domain(at: &Located<'_>, faults: &mut Faults) {
    if at.str().is_empty() {
        return faults.required(at, "");
    }
    let name = at.str().strip_suffix('.').unwrap_or(at.str());
    let wrong = subdomain(name);
    if !wrong.is_empty() {
        return faults.invalid_as(at, &quoted(name), &wrong.join(","));
    }
    if !name.contains('.') {
        let sentence = "should be a domain with at least two segments separated by dots";
        return faults.invalid_as(at, &quoted(name), sentence);
    }
    if let Some((part, wrong)) = name
        .split('.')
        .map(|part| (part, label(part)))
        .find(|(_, wrong)| !wrong.is_empty())
    {
        faults.invalid_as(at, &quoted(part), &wrong.join(","));
    }
}

/// Zones or nodes for which an endpoint is meant.
fn hints(list: &Located<'_>, format: Format, faults: &mut Faults) {
    let mut names = BTreeSet::new();
    for name in list.items().map(|hint| hint.get("name")) {
        if !names.insert(name.str()) {
            faults.duplicate(&name);
        }
        faults.format(&name, format);
    }
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let [now, was] = [new, old].map(|slice| slice.get("endpoints").value);
    slice(
        new,
        !semantic::equal_fields("discovery.v1.EndpointSlice", "endpoints", now, was),
        faults,
    );
    faults.declared_immutable(&new.get("addressType"), &old.get("addressType"));
}

const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";

/// Warns about addresses, unless a controller manages the EndpointSlice.
fn warnings(Change { new: at, old }: Change<'_, '_>) -> Warnings {
    let mut warnings = Vec::new();
    if old.is_none() && at.get("addressType").str() == "FQDN" {
        warnings.push("spec.addressType: FQDN endpoints are deprecated".to_owned());
    }
    let maker = at.at("metadata.labels").get(MANAGED_BY).str();
    if ![
        "endpointslice-controller.k8s.io",
        "endpointslicemirroring-controller.k8s.io",
    ]
    .contains(&maker)
    {
        for endpoint in at.get("endpoints").items() {
            endpoint
                .get("addresses")
                .items()
                .for_each(|at| warn_of_ip(&at, &mut warnings));
        }
    }
    warnings
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let port = |port: Located<'_>| match port.get("port").value.as_i64() {
        Some(number) => number.to_string(),
        None if port.get("name").is_set() => port.get("name").str().to_owned(),
        None => "*".to_owned(),
    };
    let ports: Vec<String> = row.get("ports").items().map(port).collect();
    let endpoints: Vec<Located<'_>> = row.get("endpoints").items().collect();
    let addresses = endpoints.iter().flat_map(|endpoint| endpoint.get("addresses").items());
    let addresses: Vec<String> = addresses.map(|address| address.str().to_owned()).collect();
    let list = |texts: &[String]| or(&at_most_three(texts), "<unset>");
    vec![
        row.name(),
        row.text("addressType"),
        list(&ports),
        list(&addresses),
        row.age(),
    ]
}
