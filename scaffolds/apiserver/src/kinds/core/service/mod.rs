//! Services.

mod addresses;
mod allocation;
mod checks;
mod node_ports;
mod type_change;

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    allocation::Held,
    kinds::{
        address_form::{warn_of_cidr, warn_of_ip},
        edit::{Fields, each, set, set_text, text, within},
        kind::{BuiltInKind, Change, Selectable, Warnings},
        labels::print_labels,
        load_balancer::{self, addresses},
        located::Located,
        row::{Row, or},
    },
    strategy::{Deletion, NameRule, Put, Rules, Storage},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            name: NameRule::Label,
            deletion: Deletion {
                returns_object: true,
                ..Deletion::default()
            },
            held: Some(Arc::new(Held::new(&allocation::ALLOCATION))),
            put: Put::CREATES,
            storage: Storage {
                etcd_directory: Some("services/specs"),
                ..Storage::default()
            },
            ..Rules::default()
        },
        defaults: &[("core.v1.Service", default)],
        prepare_update: type_change::clear_status,
        validate: |new, faults| checks::validate(new, None, faults),
        validate_update: checks::validate_update,
        validate_status: checks::validate_status,
        warnings,
        status_warnings: load_balancer::status_warnings,
        selectable: const {
            &[
                Selectable::new("spec.clusterIP", "/spec/clusterIP"),
                Selectable::new("spec.type", "/spec/type"),
            ]
        },
        cells,
        ..BuiltInKind::default()
    }
}

/// Seconds: three hours, `DefaultClientIPServiceAffinitySeconds` upstream.
const AFFINITY_SECONDS: i32 = 10_800;

fn default(object: &mut Fields) {
    let Some(spec) = within(object, "spec") else { return };
    set_text(spec, "sessionAffinity", "None");
    default_affinity(spec);
    set_text(spec, "type", "ClusterIP");
    for port in each(spec, "ports") {
        set_text(port, "protocol", "TCP");
        let target = port.get("targetPort");
        if target.is_none_or(|target| *target == json!(0) || *target == json!("")) {
            let number = port.get("port").cloned().unwrap_or_else(|| json!(0));
            port.insert("targetPort".to_owned(), number);
        }
    }
    let r#type = text(spec, "type").to_owned();
    let is_external = matches!(r#type.as_str(), "LoadBalancer" | "NodePort");
    let has_ips = spec
        .get("externalIPs")
        .and_then(Value::as_array)
        .is_some_and(|ips| !ips.is_empty());
    if is_external || r#type == "ClusterIP" && has_ips {
        set_text(spec, "externalTrafficPolicy", "Cluster");
    }
    if is_external || r#type == "ClusterIP" {
        set(spec, "internalTrafficPolicy", "Cluster");
    }
    if r#type == "LoadBalancer" {
        set(spec, "allocateLoadBalancerNodePorts", true);
        default_ip_mode(object);
    }
}

fn default_affinity(spec: &mut Fields) {
    match text(spec, "sessionAffinity") {
        "None" => _ = spec.remove("sessionAffinityConfig"),
        "ClientIP" => {
            let config = spec.get("sessionAffinityConfig");
            if config
                .and_then(|config| config.pointer("/clientIP/timeoutSeconds"))
                .is_none()
            {
                let config = json!({"clientIP": {"timeoutSeconds": AFFINITY_SECONDS}});
                spec.insert("sessionAffinityConfig".to_owned(), config);
            }
        }
        _ => {}
    }
}

fn default_ip_mode(object: &mut Fields) {
    let balancer = within(object, "status").and_then(|status| within(status, "loadBalancer"));
    for ingress in balancer.into_iter().flat_map(|balancer| each(balancer, "ingress")) {
        if !text(ingress, "ip").is_empty() {
            set(ingress, "ipMode", "VIP");
        }
    }
}

fn warnings(Change { new: at, .. }: Change<'_, '_>) -> Warnings {
    let mut warnings = Vec::new();
    if at
        .at("metadata.annotations")
        .get("service.kubernetes.io/topology-aware-hints")
        .is_set()
    {
        warnings.push(
            "annotation service.kubernetes.io/topology-aware-hints is deprecated, please use \
             service.kubernetes.io/topology-mode instead"
                .to_owned(),
        );
    }
    let spec = at.get("spec");
    let r#type = spec.get("type").str();
    let is_headless = r#type == "ClusterIP" && spec.get("clusterIP").str() == "None";
    let balancer = spec.get("loadBalancerIP");
    let externals = spec.get("externalIPs");
    if !matches!(spec.get("clusterIP").str(), "" | "None") {
        spec.get("clusterIPs")
            .items()
            .for_each(|at| warn_of_ip(&at, &mut warnings));
    }
    if is_headless {
        headless_warnings(&spec, &mut warnings);
    }
    externals.items().for_each(|at| warn_of_ip(&at, &mut warnings));
    if externals.len() > 0 && !is_headless && r#type != "ExternalName" {
        warnings.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters".to_owned());
    }
    if !balancer.str().is_empty() {
        warn_of_ip(&balancer, &mut warnings);
    }
    spec.get("loadBalancerSourceRanges")
        .items()
        .for_each(|at| warn_of_cidr(&at, &mut warnings));
    if r#type == "ExternalName" && externals.len() > 0 {
        warnings.push("spec.externalIPs is ignored when spec.type is \"ExternalName\"".to_owned());
    }
    if r#type != "ExternalName" && !spec.get("externalName").str().is_empty() {
        warnings.push("spec.externalName is ignored when spec.type is not \"ExternalName\"".to_owned());
    }
    if spec.get("trafficDistribution").str() == "PreferClose" {
        warnings.push("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"".to_owned());
    }
    warnings
}

fn headless_warnings(spec: &Located<'_>, warnings: &mut Warnings) {
    let ignored = [
        ("spec.loadBalancerIP", !spec.get("loadBalancerIP").str().is_empty()),
        ("spec.externalIPs", spec.get("externalIPs").len() > 0),
        ("spec.SessionAffinity", spec.get("sessionAffinity").str() != "None"),
    ];
    let ignored = ignored.into_iter().filter(|(_, is_set)| *is_set);
    warnings.extend(ignored.map(|(field, _)| format!("{field} is ignored for headless services")));
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let first = row.get("spec.clusterIPs").items().next();
    let ip = or(
        first.as_ref().map_or("", |ip| ip.str()),
        if first.is_some() { "" } else { "<none>" },
    );
    let ports = row.get("spec.ports");
    let ports: Vec<String> = ports
        .items()
        .map(|port| {
            let (number, protocol) = (port.get("port").int(), port.get("protocol").str());
            match port.get("nodePort").int() {
                node @ 1.. => format!("{number}:{node}/{protocol}"),
                _ => format!("{number}/{protocol}"),
            }
        })
        .collect();
    let ports = or(&ports.join(","), "<none>");
    let selector = print_labels(&row.get("spec.selector"));
    vec![
        row.name(),
        row.text("spec.type"),
        ip,
        json!(external(row)),
        ports,
        row.age(),
        selector,
    ]
}

fn external(row: &Row<'_>) -> String {
    let mut ips: Vec<String> = row
        .get("spec.externalIPs")
        .items()
        .map(|ip| ip.str().to_owned())
        .collect();
    match row.get("spec.type").str() {
        "ClusterIP" | "NodePort" if ips.is_empty() => "<none>".to_owned(),
        "ClusterIP" | "NodePort" => ips.join(","),
        "LoadBalancer" => {
            let mut all: Vec<String> = addresses(row).into_iter().collect();
            all.append(&mut ips);
            if all.is_empty() {
                "<pending>".to_owned()
            } else {
                all.join(",")
            }
        }
        "ExternalName" => row.get("spec.externalName").str().to_owned(),
        _ => "<unknown>".to_owned(),
    }
}
