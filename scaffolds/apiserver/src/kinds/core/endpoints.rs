//! Endpoints.

use serde_json::json;

use crate::{
    kinds::{
        address::{self, endpoint_ip},
        address_form::warn_of_ip,
        edit::set_text,
        faults::Faults,
        format::{PROTOCOLS, label, qualified, subdomain},
        kind::{BuiltInKind, Change, Warnings},
        located::Located,
        row::{Row, at_most_three},
        semantic,
    },
    strategy::{Passes, Put, Rules, Storage},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            deprecation: Some("v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice".into()),
            put: Put::CREATES,
            passes: Passes::UPDATE_THEN_VALIDATE,
            storage: Storage {
                etcd_directory: Some("services/endpoints"),
                ..Storage::default()
            },
            ..Rules::default()
        },
        defaults: &[("core.v1.EndpointPort", |port| set_text(port, "protocol", "TCP"))],
        validate,
        validate_update,
        warnings,
        cells: |row| vec![row.name(), json!(addresses(row)), row.age()],
        ..BuiltInKind::default()
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    for subset in at.get("subsets").items() {
        let (ready, others, ports) = (
            subset.get("addresses"),
            subset.get("notReadyAddresses"),
            subset.get("ports"),
        );
        if ready.len() + others.len() == 0 {
            faults.required(&subset, "must specify `addresses` or `notReadyAddresses`");
        }
        for address in ready.items().chain(others.items()) {
            let ip = address.get("ip");
            address::ip(&ip, &[], faults);
            if !address.get("hostname").str().is_empty() {
                faults.format(&address.get("hostname"), label);
            }
            if address.get("nodeName").is_set() {
                faults.format(&address.get("nodeName"), subdomain);
            }
            endpoint_ip(&ip, faults);
        }
        for port in ports.items() {
            let name = port.get("name");
            if ports.len() > 1 && name.str().is_empty() {
                faults.required(&name, "");
            } else if !name.str().is_empty() {
                faults.format(&name, label);
            }
            faults.port(&port.get("port"));
            faults.one_of(&port.get("protocol"), &PROTOCOLS);
            if port.get("appProtocol").is_set() {
                faults.format(&port.get("appProtocol"), qualified);
            }
        }
    }
}

/// Unchanged subsets may break the rules.
fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let [now, was] = [new, old].map(|endpoints| endpoints.get("subsets").value);
    if !semantic::equal_fields("core.v1.Endpoints", "subsets", now, was) {
        validate(new, faults);
    }
}

/// Warns about addresses, unless a controller manages the Endpoints.
fn warnings(Change { new: at, .. }: Change<'_, '_>) -> Warnings {
    let mut warnings = Vec::new();
    let labels = at.at("metadata.labels");
    if labels.get("endpoints.kubernetes.io/managed-by").str() == "endpoint-controller" {
        return warnings;
    }
    for subset in at.get("subsets").items() {
        for list in ["addresses", "notReadyAddresses"] {
            subset
                .get(list)
                .items()
                .for_each(|item| warn_of_ip(&item.get("ip"), &mut warnings));
        }
    }
    warnings
}

fn addresses(row: &Row<'_>) -> String {
    let subsets = row.get("subsets");
    if subsets.len() == 0 {
        return "<none>".to_owned();
    }
    let mut all = Vec::new();
    for subset in subsets.items() {
        let addresses: Vec<&str> = subset
            .get("addresses")
            .items()
            .map(|address| address.get("ip").str())
            .collect();
        if subset.get("ports").len() == 0 {
            all.extend(addresses.iter().map(|ip| (*ip).to_owned()));
        }
        for port in subset.get("ports").items() {
            all.extend(addresses.iter().map(|ip| joined(ip, port.get("port").int())));
        }
    }
    at_most_three(&all)
}

fn joined(ip: &str, port: i64) -> String {
    if ip.contains(':') {
        format!("[{ip}]:{port}")
    } else {
        format!("{ip}:{port}")
    }
}
