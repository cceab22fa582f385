//! Ports of the containers of one Pod that get into each other's way.

use std::collections::BTreeMap;

use super::Said;
use crate::kinds::at::{At, quoted};

/// Ports that are the same, or may be; and then names that are.
pub(super) fn ports(containers: &[At<'_>], said: &mut Said) {
    let all: Vec<At<'_>> = containers
        .iter()
        .flat_map(|container| container.get("ports").items().collect::<Vec<_>>())
        .collect();
    for (index, port) in all.iter().enumerate() {
        if !host_ip(port).is_empty() && host_port(port) == 0 {
            said.push(format!("{}: hostIP set without hostPort: {}", port.path, shown(port)));
        }
        let others = all[..index].iter().filter(|other| number(other) == number(port));
        said.extend(others.filter_map(|other| clash(port, other)));
    }
    let mut names = BTreeMap::new();
    for port in &all {
        let name = port.get("name").str();
        if name.is_empty() {
            continue;
        }
        let other = names.entry(name).or_insert(&port.path);
        if *other != &port.path {
            said.push(format!(
                "{}: duplicate port name {} with {other}, services and probes that select ports by name will use {other}",
                port.path,
                quoted(name)
            ));
        }
    }
}

fn number<'v>(port: &At<'v>) -> (i64, &'v str) {
    (port.get("containerPort").int(), port.get("protocol").str())
}

fn host_ip<'v>(port: &At<'v>) -> &'v str {
    port.get("hostIP").str()
}

fn host_port(port: &At<'_>) -> i64 {
    port.get("hostPort").int()
}

fn clash(port: &At<'_>, other: &At<'_>) -> Option<String> {
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

/// As Go prints its struct.
fn shown(port: &At<'_>) -> String {
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
