//! Node ports of Services: one for each port, and one for health checks of load balancers.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{
    allocation::{Holders, start},
    kinds::{edit::text, faults::Faults, located::Located},
};

/// The default of `--service-node-port-range`.
const NODE_PORTS: std::ops::RangeInclusive<u16> = 30_000..=32_767;

const OUT_OF_RANGE: &str = "provided port is not in the valid range. The range of valid ports is 30000-32767";
const TAKEN: &str = "provided port is already allocated";

/// Reports a node port that cannot be allocated, and why. In a new Service, several protocols may share a node port
/// only for the same port.
pub(in crate::kinds) fn check(spec: &Located<'_>, is_new: bool, owner: &str, held: &Holders) -> Faults {
    let mut faults = Faults::default();
    if !matches!(spec.get("type").str(), "NodePort" | "LoadBalancer") {
        return faults;
    }
    let mut seen: BTreeMap<i64, i64> = BTreeMap::new();
    for port in spec.get("ports").items() {
        let number = port.get("nodePort");
        let fits = u16::try_from(number.int()).is_ok_and(|number| NODE_PORTS.contains(&number));
        let is_others = held.get(&key(number.int())).is_some_and(|holder| holder != owner);
        let of = port.get("port").int();
        let is_twice = is_new && *seen.entry(number.int()).or_insert(of) != of;
        if number.int() == 0 {
            continue;
        }
        if !fits {
            faults.invalid(&number, OUT_OF_RANGE);
            break;
        }
        if is_others || is_twice {
            faults.invalid(&number, TAKEN);
            break;
        }
    }
    faults
}

/// The field of the node port for health checks.
const HEALTH: &str = "healthCheckNodePort";

/// Tells whether load balancers ask nodes for their health: they do if traffic stays on a node.
pub(in crate::kinds) fn needs_health_check(spec: &Map<String, Value>) -> bool {
    text(spec, "type") == "LoadBalancer" && text(spec, "externalTrafficPolicy") == "Local"
}

/// The node port for health checks; 0 without one.
fn health_check(spec: &Map<String, Value>) -> i64 {
    spec.get(HEALTH).and_then(Value::as_i64).unwrap_or_default()
}

/// The node port for health checks stays if an update omits it.
pub(in crate::kinds) fn inherit_health_check(spec: &mut Map<String, Value>, before: &Map<String, Value>) {
    if needs_health_check(spec) && needs_health_check(before) && health_check(spec) == 0 {
        spec.insert(HEALTH.to_owned(), json!(health_check(before)));
    }
}

/// Allocates the node port for health checks where it is needed, or reserves the requested one.
pub(in crate::kinds) fn give_health_check(spec: &mut Map<String, Value>, owner: &str, held: &mut Holders) {
    if !needs_health_check(spec) {
        return;
    }
    let given = match health_check(spec) {
        0 => free_port(owner, held),
        asked => Some(asked),
    };
    if let Some(given) = given {
        held.entry(key(given)).or_insert_with(|| owner.to_owned());
        spec.insert(HEALTH.to_owned(), json!(given));
    }
}

/// The refusal of a requested node port for health checks, in a Service that needs one and did not need one before.
pub(in crate::kinds) fn health_check_fails(spec: &Map<String, Value>, owner: &str, held: &Holders) -> Option<String> {
    let asked = health_check(spec);
    if asked == 0 || !needs_health_check(spec) {
        return None;
    }
    let fits = u16::try_from(asked).is_ok_and(|number| NODE_PORTS.contains(&number));
    let is_taken =
        held.get(&key(asked)).is_some_and(|holder| holder != owner) || numbers(spec).contains(&Some(json!(asked)));
    let why = match (fits, is_taken) {
        (false, _) => OUT_OF_RANGE,
        (_, true) => TAKEN,
        _ => return None,
    };
    Some(format!(
        "failed to allocate requested HealthCheck NodePort {asked}: {why}"
    ))
}

/// A port without a node port gets the one that the port of the same name had before, unless another port requests it.
pub(in crate::kinds) fn inherit(spec: &mut Map<String, Value>, before: &Map<String, Value>) {
    if !needs(spec) || !needs(before) {
        return;
    }
    let asked = numbers(spec);
    let were = before.get("ports").and_then(Value::as_array);
    let were: BTreeMap<&str, &Value> = were
        .into_iter()
        .flatten()
        .filter_map(Value::as_object)
        .filter_map(|port| Some((text(port, "name"), port.get("nodePort")?)))
        .collect();
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    let ports = ports.into_iter().flatten().filter_map(Value::as_object_mut);
    for port in ports.filter(|port| !port.contains_key("nodePort")) {
        if let Some(number) = were.get(text(port, "name")).copied()
            && !asked.contains(&Some(number.clone()))
        {
            port.insert("nodePort".to_owned(), number.clone());
        }
    }
}

pub(in crate::kinds) fn numbers(spec: &Map<String, Value>) -> Vec<Option<Value>> {
    let ports = spec.get("ports").and_then(Value::as_array).into_iter().flatten();
    ports.map(|port| port.get("nodePort").cloned()).collect()
}

pub(in crate::kinds) fn needs(spec: &Map<String, Value>) -> bool {
    let balancer = text(spec, "type") == "LoadBalancer";
    text(spec, "type") == "NodePort" || balancer && spec.get("allocateLoadBalancerNodePorts") != Some(&json!(false))
}

/// The requested node ports, each with the first port that requests it.
pub(in crate::kinds) fn asked(spec: &Map<String, Value>) -> BTreeMap<i64, i64> {
    let number = |port: &Value, name: &str| port.get(name).and_then(Value::as_i64);
    let ports = spec.get("ports").and_then(Value::as_array).into_iter().flatten();
    let asked = ports.filter_map(|port| Some((number(port, "port")?, number(port, "nodePort")?)));
    // Reversed, because the last entry with a key wins.
    asked.rev().collect()
}

/// Allocates node ports where they are needed, and reserves the requested ones. `shared` has those that a new Service
/// uses for one port number with several protocols.
pub(in crate::kinds) fn give(
    spec: &mut Map<String, Value>,
    owner: &str,
    mut shared: Option<BTreeMap<i64, i64>>,
    held: &mut Holders,
) {
    let needs = needs(spec);
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
        let number = |name: &str| port.get(name).and_then(Value::as_i64).unwrap_or_default();
        let (of, asked) = (number("port"), number("nodePort"));
        if asked == 0 && !needs {
            continue;
        }
        let known = shared.as_ref().and_then(|shared| shared.get(&of)).copied();
        let given = (asked != 0)
            .then_some(asked)
            .or(known)
            .or_else(|| free_port(owner, held));
        let Some(given) = given else { continue };
        held.entry(key(given)).or_insert_with(|| owner.to_owned());
        if let Some(shared) = &mut shared {
            shared.insert(of, given);
        }
        port.insert("nodePort".to_owned(), json!(given));
    }
}

fn free_port(owner: &str, held: &Holders) -> Option<i64> {
    let count = NODE_PORTS.count();
    let mut all = NODE_PORTS.cycle().skip(start(owner, count)).take(count).map(i64::from);
    all.find(|number| !held.contains_key(&key(*number)))
}

pub(in crate::kinds) fn key(number: i64) -> String {
    format!(":{number}")
}
