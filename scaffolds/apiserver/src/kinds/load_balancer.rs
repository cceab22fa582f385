//! The addresses of load balancers in the statuses of Services and Ingresses.

use std::collections::BTreeSet;

use crate::{
    ip,
    kinds::{
        address, address_form::warn_of_ip, faults::Faults, format::subdomain, kind::Warnings, located::Located,
        row::Row,
    },
};

/// The addresses of load balancers.
pub(in crate::kinds) fn addresses(row: &Row<'_>) -> BTreeSet<String> {
    let ingresses = row.get("status.loadBalancer.ingress");
    let names = ingresses.items().map(|ingress| match ingress.get("ip").str() {
        "" => ingress.get("hostname").str().to_owned(),
        ip => ip.to_owned(),
    });
    names.filter(|name| !name.is_empty()).collect()
}

pub(in crate::kinds) fn validate_status(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let known = known_ips(old);
    for point in new.at("status.loadBalancer.ingress").items() {
        ip(&point, &known, faults);
        hostname(&point, faults);
    }
}

/// The addresses that a status has.
pub(in crate::kinds) fn known_ips<'a>(at: &Located<'a>) -> Vec<&'a str> {
    let points = at.at("status.loadBalancer.ingress");
    points.items().map(|point| point.get("ip").str()).collect()
}

/// Checks the address of a point, which may be one of the known ones.
pub(in crate::kinds) fn ip(point: &Located<'_>, known: &[&str], faults: &mut Faults) {
    let ip = point.get("ip");
    if !ip.str().is_empty() {
        address::ip(&ip, known, faults);
    }
}

/// Checks the name of a point.
pub(in crate::kinds) fn hostname(point: &Located<'_>, faults: &mut Faults) {
    let name = point.get("hostname");
    if name.str().is_empty() {
        return;
    }
    faults.format(&name, subdomain);
    if ip::parse(name.str()).is_some() {
        faults.invalid(&name, "must be a DNS name, not an IP address");
    }
}

pub(in crate::kinds) fn status_warnings(at: &Located<'_>) -> Warnings {
    let mut warnings = Vec::new();
    for point in at.at("status.loadBalancer.ingress").items() {
        let address = point.get("ip");
        if !address.str().is_empty() {
            warn_of_ip(&address.called(&point.path), &mut warnings);
        }
    }
    warnings
}
