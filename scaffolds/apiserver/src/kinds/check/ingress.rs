//! Ingresses and their classes.

use std::net::IpAddr;

use super::format::{label, path_segment, port_name, subdomain, wildcard};
use crate::kinds::at::{At, Faults, quoted};

pub(in crate::kinds) fn ingress(at: &At<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    let (rules, default) = (spec.get("rules"), spec.get("defaultBackend"));
    if rules.len() == 0 && !default.is_set() {
        faults.invalid_as(&spec, "null", "either `defaultBackend` or `rules` must be specified");
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
    annotation(at, &class, faults);
}

fn annotation(at: &At<'_>, class: &At<'_>, faults: &mut Faults) {
    let old = at.at("metadata.annotations").get("kubernetes.io/ingress.class");
    if old.is_set() && class.is_set() && old.value != class.value {
        let place = old.called("annotations.kubernetes.io/ingress.class");
        faults.invalid(&place, "must match `ingressClassName` when both are specified");
    }
}

fn host(at: &At<'_>, faults: &mut Faults) {
    if at.str().is_empty() {
        return;
    }
    if at.str().parse::<IpAddr>().is_ok() {
        faults.invalid(at, "must be a DNS name, not an IP address");
    }
    faults.format(at, if at.str().contains('*') { wildcard } else { subdomain });
}

fn http(at: &At<'_>, faults: &mut Faults) {
    let paths = at.get("paths");
    if paths.len() == 0 {
        faults.required(&paths, "");
    }
    paths.items().for_each(|item| path(&item, faults));
}

fn path(at: &At<'_>, faults: &mut Faults) {
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

fn backend(at: &At<'_>, faults: &mut Faults) {
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

/// A reference to an object of any kind.
fn reference(at: &At<'_>, faults: &mut Faults) {
    if at.get("apiGroup").is_set() {
        faults.format(&at.get("apiGroup"), subdomain);
    }
    for name in ["kind", "name"] {
        faults.required_format(&at.get(name), path_segment);
    }
}

pub(in crate::kinds) fn ingress_status(at: &At<'_>, faults: &mut Faults) {
    for point in at.at("status.loadBalancer.ingress").items() {
        let (ip, name) = (point.get("ip"), point.get("hostname"));
        if !ip.str().is_empty() && ip.str().parse::<IpAddr>().is_err() {
            faults.invalid(&ip, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
        }
        if !name.str().is_empty() {
            faults.format(&name, subdomain);
            if name.str().parse::<IpAddr>().is_ok() {
                faults.invalid(&name, "must be a DNS name, not an IP address");
            }
        }
    }
}

pub(in crate::kinds) fn ingress_class(at: &At<'_>, faults: &mut Faults) {
    let (controller, parameters) = (at.at("spec.controller"), at.at("spec.parameters"));
    if controller.str().len() > 250 {
        faults.too_long(&controller, 250);
    }
    if !controller.str().is_empty() && controller.str().split('/').count() < 2 {
        faults.invalid(&controller, "must be a domain-prefixed path (such as \"acme.io/foo\")");
    }
    if controller.str().is_empty() {
        faults.required(&controller, "");
    }
    if !parameters.is_set() {
        return;
    }
    reference(&parameters, faults);
    let (scope, namespace) = (parameters.get("scope"), parameters.get("namespace"));
    faults.one_of(&scope, &["Cluster", "Namespace"]);
    if scope.str() == "Namespace" && namespace.str().is_empty() {
        faults.required(&namespace, "`parameters.scope` is set to 'Namespace'");
    }
    if scope.str() == "Cluster" && namespace.is_set() {
        faults.forbidden(&namespace, "`parameters.scope` is set to 'Cluster'");
    }
}

pub(in crate::kinds) fn ingress_class_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    faults.immutable(&new.at("spec.controller"), &old.at("spec.controller"));
    ingress_class(new, faults);
}
