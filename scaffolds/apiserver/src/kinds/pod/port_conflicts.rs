//! Warnings about conflicting ports of the containers in one Pod.

use std::collections::BTreeMap;

use crate::kinds::{faults::quoted, kind::Warnings, located::Located};

/// Warns about ports that are or may be the same, then about duplicate names.
pub(in crate::kinds) fn ports(containers: &[Located<'_>], warnings: &mut Warnings) {
    let all: Vec<Located<'_>> = containers
        .iter()
        .flat_map(|container| container.get("ports").items().collect::<Vec<_>>())
        .collect();
    for (index, port) in all.iter().enumerate() {
        if !host_ip(port).is_empty() && host_port(port) == 0 {
            warnings.push(format!("{}: hostIP set without hostPort: {}", port.path, shown(port)));
        }
        let others = all[..index].iter().filter(|other| number(other) == number(port));
        warnings.extend(others.filter_map(|other| clash(port, other)));
    }
    let mut names = BTreeMap::new();
    for port in &all {
        let name = port.get("name").str();
        if name.is_empty() {
            continue;
        }
        let other = names.entry(name).or_insert(&port.path);
        if *other != &port.path {
            warnings.push(format!(
                "{}: duplicate port name {} with {other}, services and probes that select ports by name will use {other}",
                port.path,
                quoted(name)
            ));
        }
    }
}

fn number<'v>(port: &Located<'v>) -> (i64, &'v str) {
    (port.get("containerPort").int(), port.get("protocol").str())
}

fn host_ip<'v>(port: &Located<'v>) -> &'v str {
    port.get("hostIP").str()
}

fn host_port(port: &Located<'_>) -> i64 {
    port.get("hostPort").int()
}

fn clash(port: &Located<'_>, other: &Located<'_>) -> Option<String> {
    let same_port = host_port(port) == host_port(other);
    let how = if same_port && host_ip(port) == host_ip(other) {
        "duplicate"
    } else if host_port(port) == 0 || host_port(other) == 0 {
        "overlapping"
    } else if same_port && host_ip(port).is_empty() != host_ip(other).is_empty() {
        "dangerously ambiguous"
    } else {
        return None;
    };
    Some(format!("{}: {how} port definition with {}", port.path, other.path))
}

/// A port in Go's notation of its struct.
fn shown(port: &Located<'_>) -> String {
    let text = |name: &str| port.get(name).str().to_owned();
    format!(
        "{{Name:{} HostPort:{} ContainerPort:{} Protocol:{} HostIP:{}}}",
        text("name"),
        host_port(port),
        port.get("containerPort").int(),
        text("protocol"),
        host_ip(port)
    )
}
