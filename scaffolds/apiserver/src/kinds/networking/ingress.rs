//! Ingresses.

use serde_json::{Value, json};

use crate::{
    ip,
    kinds::{
        faults::{Faults, quoted},
        format::{label, port_name, subdomain, wildcard},
        kind::{BuiltInKind, Change, Warnings},
        load_balancer::{self, addresses},
        located::Located,
        networking::reference::reference,
        row::Row,
    },
    strategy::{Generation, Passes, Rules, Storage},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            generation: Generation::COUNTED,
            passes: Passes::UPDATE_THEN_VALIDATE,
            storage: Storage {
                etcd_directory: Some("ingress"),
                ..Storage::default()
            },
            ..Rules::default()
        },
        distinguishes_empty: &["spec"],
        validate: |at, faults| {
            validate(at, faults);
            annotation(at, faults);
        },
        validate_update: |new, _, faults| validate(new, faults),
        validate_status: load_balancer::validate_status,
        warnings,
        status_warnings: load_balancer::status_warnings,
        cells,
        ..BuiltInKind::default()
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    let (rules, default) = (spec.get("rules"), spec.get("defaultBackend"));
    if rules.len() == 0 && !default.is_set() {
        faults.invalid_as(
            &spec,
            &rules.value.to_string(),
            "either `defaultBackend` or `rules` must be specified",
        );
    }
    if default.is_set() {
        backend(&default, faults);
    }
    for rule in rules.items() {
        host(&rule.get("host"), faults);
        if rule.get("http").is_set() {
            http(&rule.get("http"), faults);
        }
    }
    for tls in spec.get("tls").items() {
        for host in tls.get("hosts").items() {
            faults.format(&host, if host.str().contains('*') { wildcard } else { subdomain });
        }
        if !tls.get("secretName").str().is_empty() {
            faults.format(&tls.get("secretName"), subdomain);
        }
    }
    let class = spec.get("ingressClassName");
    if class.is_set() {
        faults.format(&class, subdomain);
    }
}

/// Checks the annotation for the class. Only a new Ingress must agree with it.
fn annotation(at: &Located<'_>, faults: &mut Faults) {
    let class = at.at("spec.ingressClassName");
    let old = at.at("metadata.annotations").get("kubernetes.io/ingress.class");
    if old.is_set() && class.is_set() && old.value != class.value {
        let place = old.called("annotations.kubernetes.io/ingress.class");
        faults.invalid(&place, "must match `ingressClassName` when both are specified");
    }
}

fn host(at: &Located<'_>, faults: &mut Faults) {
    if at.str().is_empty() {
        return;
    }
    if ip::parse(at.str()).is_some() {
        faults.invalid(at, "must be a DNS name, not an IP address");
    }
    faults.format(at, if at.str().contains('*') { wildcard } else { subdomain });
}

fn http(at: &Located<'_>, faults: &mut Faults) {
    let paths = at.get("paths");
    if paths.len() == 0 {
        faults.required(&paths, "");
    }
    paths.items().for_each(|item| path(&item, faults));
}

fn path(at: &Located<'_>, faults: &mut Faults) {
    let (kind, path) = (at.get("pathType"), at.get("path"));
    if !kind.is_set() {
        return faults.required(&kind, "pathType must be specified");
    }
    match kind.str() {
        "Exact" | "Prefix" => {
            if !path.str().starts_with('/') {
                faults.invalid_as(&path, &quoted(path.str()), "must be an absolute path");
            }
            for part in ["//", "/./", "/../", "%2f", "%2F"]
                .into_iter()
                .filter(|part| path.str().contains(part))
            {
                faults.invalid(&path, &format!("must not contain '{part}'"));
            }
            for end in ["/..", "/."].into_iter().filter(|end| path.str().ends_with(end)) {
                faults.invalid(&path, &format!("cannot end with '{end}'"));
            }
        }
        "ImplementationSpecific" => {
            if !path.str().is_empty() && !path.str().starts_with('/') {
                faults.invalid(&path, "must be an absolute path");
            }
        }
        _ => faults.not_supported(&kind, &["Exact", "ImplementationSpecific", "Prefix"]),
    }
    backend(&at.get("backend"), faults);
}

fn backend(at: &Located<'_>, faults: &mut Faults) {
    let (resource, service) = (at.get("resource"), at.get("service"));
    match (resource.is_set(), service.is_set()) {
        (true, true) => faults.invalid_as(at, "\"\"", "cannot set both resource and service backends"),
        (true, false) => reference(&resource, faults),
        (false, true) => {
            faults.required_format(&service.get("name"), label);
            let (name, number) = (service.at("port.name"), service.at("port.number"));
            match (!name.str().is_empty(), number.int() != 0) {
                (true, true) => faults.invalid_as(at, "\"\"", "cannot set both port name & port number"),
                (true, false) => faults.format(&name, port_name),
                (false, true) => faults.port(&number),
                (false, false) => faults.required(at, "port name or number is required"),
            }
        }
        (false, false) => faults.invalid_as(at, "\"\"", "resource or service backend is required"),
    }
}

/// Warns about the annotation that new Ingresses should not have.
fn warnings(Change { new: at, old }: Change<'_, '_>) -> Warnings {
    const CLASS: &str = "kubernetes.io/ingress.class";
    let is_set = at.at("metadata.annotations").get(CLASS).is_set();
    if old.is_some() || !is_set || at.at("spec.ingressClassName").is_set() {
        return Vec::new();
    }
    vec![format!(
        "annotation {} is deprecated, please use 'spec.ingressClassName' instead",
        quoted(CLASS)
    )]
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let class = row.get("spec.ingressClassName");
    let class = if class.is_set() {
        json!(class.str())
    } else {
        json!("<none>")
    };
    let address: Vec<String> = addresses(row).into_iter().collect();
    let ports = if row.get("spec.tls").len() == 0 {
        "80"
    } else {
        "80, 443"
    };
    vec![
        row.name(),
        class,
        json!(print_hosts(row)),
        json!(address.join(",")),
        json!(ports),
        row.age(),
    ]
}

fn print_hosts(row: &Row<'_>) -> String {
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
