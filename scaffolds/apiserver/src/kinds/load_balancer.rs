//! The addresses of load balancers in the statuses of Services and Ingresses.

use std::{collections::BTreeSet, net::IpAddr};

use crate::kinds::{
    address_form::warn_of_ip, faults::Faults, format::subdomain, kind::Warnings, located::Located, row::Row,
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

pub(in crate::kinds) fn validate_status(at: &Located<'_>, faults: &mut Faults) {
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
