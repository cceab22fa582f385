//! The cells of Services, Ingresses and what stands around them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Row, at_most_three, labels, or, selector};
use crate::kinds::at::At;

pub(super) fn cells(kind: &str, row: &Row<'_>) -> Option<Vec<Value>> {
    Some(match kind {
        "Service" => service(row),
        "Endpoints" => vec![row.name(), json!(endpoints(row)), row.age()],
        "EndpointSlice" => endpoint_slice(row),
        "Ingress" => ingress(row),
        "IngressClass" => ingress_class(row),
        "NetworkPolicy" => vec![row.name(), selector(&row.get("spec.podSelector")), row.age()],
        _ => return None,
    })
}

fn service(row: &Row<'_>) -> Vec<Value> {
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
    let selector = labels(&row.get("spec.selector"));
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
            let mut all: Vec<String> = balancers(row).into_iter().collect();
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

/// The addresses of load balancers.
fn balancers(row: &Row<'_>) -> BTreeSet<String> {
    let ingresses = row.get("status.loadBalancer.ingress");
    let names = ingresses.items().map(|ingress| match ingress.get("ip").str() {
        "" => ingress.get("hostname").str().to_owned(),
        ip => ip.to_owned(),
    });
    names.filter(|name| !name.is_empty()).collect()
}

fn endpoints(row: &Row<'_>) -> String {
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

fn endpoint_slice(row: &Row<'_>) -> Vec<Value> {
    let port = |port: At<'_>| match port.get("port").value.as_i64() {
        Some(number) => number.to_string(),
        None if port.get("name").is_set() => port.get("name").str().to_owned(),
        None => "*".to_owned(),
    };
    let ports: Vec<String> = row.get("ports").items().map(port).collect();
    let endpoints: Vec<At<'_>> = row.get("endpoints").items().collect();
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

fn ingress(row: &Row<'_>) -> Vec<Value> {
    let class = row.get("spec.ingressClassName");
    let class = if class.is_set() {
        json!(class.str())
    } else {
        json!("<none>")
    };
    let address: Vec<String> = balancers(row).into_iter().collect();
    let ports = if row.get("spec.tls").len() == 0 {
        "80"
    } else {
        "80, 443"
    };
    vec![
        row.name(),
        class,
        json!(hosts(row)),
        json!(address.join(",")),
        json!(ports),
        row.age(),
    ]
}

fn hosts(row: &Row<'_>) -> String {
    let rules = row.get("spec.rules");
    let (mut hosts, mut more) = (Vec::new(), false);
    for rule in rules.items() {
        more |= hosts.len() == 3;
        if !more && !rule.get("host").str().is_empty() {
            hosts.push(rule.get("host").str());
        }
    }
    match (hosts.is_empty(), more) {
        (true, _) => "*".to_owned(),
        (false, true) => format!("{} + {} more...", hosts.join(","), rules.len().saturating_sub(3)),
        (false, false) => hosts.join(","),
    }
}

fn ingress_class(row: &Row<'_>) -> Vec<Value> {
    let parameters = row.get("spec.parameters");
    let text = if parameters.is_set() {
        let group = parameters.get("apiGroup");
        let group = if group.is_set() {
            format!(".{}", group.str())
        } else {
            String::new()
        };
        format!(
            "{}{group}/{}",
            parameters.get("kind").str(),
            parameters.get("name").str()
        )
    } else {
        "<none>".to_owned()
    };
    let annotations = row.get("metadata.annotations");
    let is_default = annotations.get("ingressclass.kubernetes.io/is-default-class").str() == "true";
    let name = format!(
        "{}{}",
        row.get("metadata.name").str(),
        if is_default { " (default)" } else { "" }
    );
    vec![json!(name), row.text("spec.controller"), json!(text), row.age()]
}
