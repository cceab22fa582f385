//! What Services hold: addresses of the cluster's range and ports of its nodes. Each server has its own.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::{Map, Value, json};

use super::at::{At, Faults};

/// `--service-cluster-ip-range` where nothing is said: 10.0.0.0/24, of which the first address is the server's own.
const RANGE: &str = "10.0.0.0/24";
const ADDRESSES: std::ops::RangeInclusive<u8> = 2..=254;
/// `--service-node-port-range` where nothing is said.
const NODE_PORTS: std::ops::RangeInclusive<u16> = 30_000..=32_767;

/// Who holds what: addresses as they are written, ports as `TCP/30000`.
#[derive(Default)]
pub(super) struct Held(Mutex<BTreeMap<String, String>>);

impl Held {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        // Every change is one insertion or removal, so that a panic elsewhere leaves it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a new Service what it needs.
    pub fn create(&self, service: &mut Value) {
        let owner = owner(service);
        let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) else {
            return;
        };
        normalise(spec);
        let mut held = self.lock();
        address(spec, &owner, &mut held);
        ports(spec, &owner, &mut held);
    }

    /// Keeps what the Service has, gives what it lacks.
    pub fn update(&self, new: &mut Value, old: &Value) {
        let owner = owner(new);
        let before = &old["spec"];
        let Some(spec) = new.get_mut("spec").and_then(Value::as_object_mut) else {
            return;
        };
        if has_address(spec) && before["type"] != "ExternalName" {
            inherit(spec, before);
        }
        inherit_ports(spec, before);
        normalise(spec);
        let mut held = self.lock();
        address(spec, &owner, &mut held);
        ports(spec, &owner, &mut held);
    }

    /// What `service` holds and `kept` does not is free again.
    pub fn release(&self, service: &Value, kept: Option<&Value>) {
        let stays = kept.map(wants).unwrap_or_default();
        let (owner, mut held) = (owner(service), self.lock());
        for key in wants(service).into_iter().filter(|key| !stays.contains(key)) {
            if held.get(&key) == Some(&owner) {
                held.remove(&key);
            }
        }
    }

    /// Notes what an existing Service holds.
    pub fn hold(&self, service: &Value) {
        let (owner, mut held) = (owner(service), self.lock());
        for key in wants(service) {
            held.insert(key, owner.clone());
        }
    }

    /// Says what could not be given.
    pub fn check(&self, service: &At<'_>, faults: &mut Faults) {
        let (owner, held) = (owner(service.value), self.lock());
        let spec = service.get("spec");
        let ips = spec.get("clusterIPs");
        if let Some(ip) = ips
            .items()
            .next()
            .filter(|ip| ip.str() != "None" && has_address_at(&spec))
        {
            if !in_range(ip.str()) {
                let detail = format!(
                    "failed to allocate IP {ip}: the provided IP ({ip}) is not in the valid range. The range of valid \
                     IPs is {RANGE}",
                    ip = ip.str()
                );
                faults.invalid(&ips, &detail);
            } else if held.get(ip.str()).is_some_and(|holder| *holder != owner) {
                let detail = format!("failed to allocate IP {}: provided IP is already allocated", ip.str());
                faults.invalid(&ips, &detail);
            }
        }
        for port in spec.get("ports").items() {
            let number = port.get("nodePort");
            let key = key_of(port.get("protocol").str(), number.int());
            let fits = u16::try_from(number.int()).is_ok_and(|number| NODE_PORTS.contains(&number));
            if number.int() != 0 && !fits {
                let detail = "provided port is not in the valid range. The range of valid ports is 30000-32767";
                faults.invalid(&number, detail);
            } else if held.get(&key).is_some_and(|holder| *holder != owner) {
                faults.invalid(&number, "provided port is already allocated");
            }
        }
    }
}

fn owner(service: &Value) -> String {
    let text = |name: &str| {
        service
            .pointer(&format!("/metadata/{name}"))
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    format!("{}/{}", text("namespace"), text("name"))
}

/// What a Service holds, or wants to.
fn wants(service: &Value) -> Vec<String> {
    let at = At::root(service).get("spec");
    let ips = at.get("clusterIPs");
    let ips = ips
        .items()
        .filter(|ip| ip.str() != "None")
        .map(|ip| ip.str().to_owned());
    let ports = at.get("ports");
    let ports = ports.items().filter(|port| port.get("nodePort").int() != 0);
    ips.chain(ports.map(|port| key_of(port.get("protocol").str(), port.get("nodePort").int())))
        .collect()
}

fn key_of(protocol: &str, number: i64) -> String {
    format!("{protocol}/{number}")
}

fn text<'a>(spec: &'a Map<String, Value>, name: &str) -> &'a str {
    spec.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn has_address(spec: &Map<String, Value>) -> bool {
    matches!(text(spec, "type"), "ClusterIP" | "NodePort" | "LoadBalancer")
}

fn has_address_at(spec: &At<'_>) -> bool {
    matches!(spec.get("type").str(), "ClusterIP" | "NodePort" | "LoadBalancer")
}

fn in_range(ip: &str) -> bool {
    ip.strip_prefix("10.0.0.")
        .and_then(|last| last.parse::<u8>().ok())
        .is_some_and(|last| (1..=254).contains(&last))
}

/// `clusterIP` is the first of `clusterIPs`.
fn normalise(spec: &mut Map<String, Value>) {
    let first = text(spec, "clusterIP").to_owned();
    if !first.is_empty() && !spec.contains_key("clusterIPs") {
        spec.insert("clusterIPs".to_owned(), json!([first]));
    }
}

/// What an update leaves out stays as it is.
fn inherit(spec: &mut Map<String, Value>, before: &Value) {
    if text(spec, "clusterIP").is_empty() && !spec.contains_key("clusterIPs") {
        for name in ["clusterIP", "clusterIPs"] {
            if let Some(value) = before.get(name) {
                spec.insert(name.to_owned(), value.clone());
            }
        }
    } else if text(spec, "clusterIP") == before["clusterIP"].as_str().unwrap_or_default() {
        if let (false, Some(value)) = (spec.contains_key("clusterIPs"), before.get("clusterIPs")) {
            spec.insert("clusterIPs".to_owned(), value.clone());
        }
    }
    for name in ["ipFamilies", "ipFamilyPolicy"] {
        if let (false, Some(value)) = (spec.contains_key(name), before.get(name)) {
            spec.insert(name.to_owned(), value.clone());
        }
    }
}

fn inherit_ports(spec: &mut Map<String, Value>, before: &Value) {
    let needs = needs_ports(spec);
    let were = before["ports"].as_array().cloned().unwrap_or_default();
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten().filter(|_| needs) {
        if port.get("nodePort").is_some() {
            continue;
        }
        let same = |was: &&Value| was["port"] == port["port"] && was["protocol"] == port["protocol"];
        if let (Some(was), Some(fields)) = (were.iter().find(same).cloned(), port.as_object_mut())
            && let Some(number) = was.get("nodePort")
        {
            fields.insert("nodePort".to_owned(), number.clone());
        }
    }
}

fn needs_ports(spec: &Map<String, Value>) -> bool {
    let balancer = text(spec, "type") == "LoadBalancer";
    text(spec, "type") == "NodePort" || balancer && spec.get("allocateLoadBalancerNodePorts") != Some(&json!(false))
}

/// Gives an address, where one is needed, and notes the one that was asked for.
fn address(spec: &mut Map<String, Value>, owner: &str, held: &mut BTreeMap<String, String>) {
    if !has_address(spec) {
        return;
    }
    let wanted = text(spec, "clusterIP").to_owned();
    let selects = spec
        .get("selector")
        .and_then(Value::as_object)
        .is_some_and(|selector| !selector.is_empty());
    let dual = wanted == "None" && !selects;
    if !spec.contains_key("ipFamilyPolicy") {
        let policy = if dual { "RequireDualStack" } else { "SingleStack" };
        spec.insert("ipFamilyPolicy".to_owned(), json!(policy));
    }
    if !spec.contains_key("ipFamilies") {
        let both = dual && text(spec, "ipFamilyPolicy") != "SingleStack";
        let families = if both { json!(["IPv4", "IPv6"]) } else { json!(["IPv4"]) };
        spec.insert("ipFamilies".to_owned(), families);
    }
    match wanted.as_str() {
        "None" => {}
        "" => {
            let Some(ip) = free_address(owner, held) else { return };
            spec.insert("clusterIP".to_owned(), json!(ip));
            spec.insert("clusterIPs".to_owned(), json!([ip]));
            held.insert(ip, owner.to_owned());
        }
        ip if in_range(ip) => _ = held.entry(ip.to_owned()).or_insert_with(|| owner.to_owned()),
        _ => {}
    }
}

/// A free address; where the search begins depends on the name, so that runs are alike.
fn free_address(owner: &str, held: &BTreeMap<String, String>) -> Option<String> {
    let count = ADDRESSES.count();
    let all = ADDRESSES.map(|last| format!("10.0.0.{last}"));
    all.cycle()
        .skip(start(owner, count))
        .take(count)
        .find(|ip| !held.contains_key(ip))
}

fn start(owner: &str, count: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    owner.hash(&mut hasher);
    usize::try_from(hasher.finish() % count.max(1) as u64).unwrap_or_default()
}

/// Gives ports of the nodes, where they are needed, and notes those that were asked for.
fn ports(spec: &mut Map<String, Value>, owner: &str, held: &mut BTreeMap<String, String>) {
    let needs = needs_ports(spec);
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
        let protocol = text(port, "protocol").to_owned();
        let wanted = port.get("nodePort").and_then(Value::as_i64).unwrap_or_default();
        if wanted != 0 {
            held.entry(key_of(&protocol, wanted))
                .or_insert_with(|| owner.to_owned());
        } else if needs {
            let count = NODE_PORTS.count();
            let mut all = NODE_PORTS.cycle().skip(start(owner, count)).take(count);
            let free = all.find(|number| !held.contains_key(&key_of(&protocol, i64::from(*number))));
            if let Some(number) = free {
                held.insert(key_of(&protocol, i64::from(number)), owner.to_owned());
                port.insert("nodePort".to_owned(), json!(number));
            }
        }
    }
}
