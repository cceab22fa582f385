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

/// The server's own address, of the Service `kubernetes`.
const OWN: &str = "10.0.0.1";

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
        address(spec, (&owner, true), &mut held);
        ports(spec, &owner, &mut held);
    }

    /// Keeps what the Service has, takes what its type no longer has, gives what it lacks.
    pub fn update(&self, new: &mut Value, old: &Value) {
        let owner = owner(new);
        let Some(before) = old.get("spec").and_then(Value::as_object) else {
            return;
        };
        let Some(spec) = new.get_mut("spec").and_then(Value::as_object_mut) else {
            return;
        };
        if has_address(spec) && has_address(before) {
            inherit(spec, before);
        }
        inherit_ports(spec, before);
        follow(spec, before);
        normalise(spec);
        drop_unneeded(spec, before);
        let mut held = self.lock();
        // One that a write of its status created has no address, and gets none as long as its type has addresses.
        let is_given = !has_address(before) || before.contains_key("clusterIP");
        address(spec, (&owner, is_given), &mut held);
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
        let first = ips
            .items()
            .next()
            .filter(|ip| ip.str() != "None" && has_address_at(&spec));
        let refused = first.and_then(|ip| Some((ip.str(), refusal(ip.str(), &owner, &held)?)));
        if let Some((ip, why)) = refused {
            faults.invalid(&ips, &format!("failed to allocate IP {ip}: {why}"));
        }
        families(&spec, faults);
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

/// Why an address cannot be had.
fn refusal(ip: &str, owner: &str, held: &BTreeMap<String, String>) -> Option<String> {
    if !ip.starts_with("10.0.0.") {
        return Some("the provided network does not match the current range".to_owned());
    }
    if !in_range(ip) {
        return Some(format!(
            "the provided IP ({ip}) is not in the valid range. The range of valid IPs is {RANGE}"
        ));
    }
    let taken = held.get(ip).is_some_and(|holder| holder != owner) || ip == OWN && owner != "default/kubernetes";
    taken.then(|| "provided IP is already allocated".to_owned())
}

/// The cluster has IPv4 only.
fn families(spec: &At<'_>, faults: &mut Faults) {
    let policy = spec.get("ipFamilyPolicy");
    let free = spec.get("clusterIP").str() == "None" && spec.get("selector").len() == 0;
    if !has_address_at(spec) || free {
        return;
    }
    if policy.str() == "RequireDualStack" {
        return faults.invalid(&policy, "this cluster is not configured for dual-stack services");
    }
    for family in spec.get("ipFamilies").items().filter(|family| family.str() != "IPv4") {
        faults.invalid(&family, "not configured on this cluster");
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
fn inherit(spec: &mut Map<String, Value>, before: &Map<String, Value>) {
    if text(spec, "clusterIP").is_empty() {
        take_over(spec, before, "clusterIP");
    }
    if !spec.contains_key("clusterIPs") && text(spec, "clusterIP") == text(before, "clusterIP") {
        take_over(spec, before, "clusterIPs");
    }
    for name in ["ipFamilies", "ipFamilyPolicy"] {
        if !spec.contains_key(name) {
            take_over(spec, before, name);
        }
    }
}

fn take_over(spec: &mut Map<String, Value>, before: &Map<String, Value>, name: &str) {
    if let Some(value) = before.get(name) {
        spec.insert(name.to_owned(), value.clone());
    }
}

fn inherit_ports(spec: &mut Map<String, Value>, before: &Map<String, Value>) {
    let needs = needs_ports(spec) && needs_ports(before);
    let were = before
        .get("ports")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    let ports = ports.into_iter().flatten().filter_map(Value::as_object_mut);
    for port in ports.filter(|port| needs && !port.contains_key("nodePort")) {
        let same = |was: &&Value| was.get("port") == port.get("port") && was.get("protocol") == port.get("protocol");
        if let Some(number) = were.iter().find(same).and_then(|was| was.get("nodePort")) {
            port.insert("nodePort".to_owned(), number.clone());
        }
    }
}

/// A client that knows only `clusterIP` changes it and leaves `clusterIPs` alone.
fn follow(spec: &mut Map<String, Value>, before: &Map<String, Value>) {
    let same = spec.get("clusterIPs") == before.get("clusterIPs");
    if same && text(spec, "clusterIP") != text(before, "clusterIP") {
        spec.remove("clusterIPs");
    }
}

/// What belongs to the former type and was not changed goes.
fn drop_unneeded(spec: &mut Map<String, Value>, before: &Map<String, Value>) {
    if has_address(before) && !has_address(spec) {
        forget(
            spec,
            before,
            &[
                "clusterIP",
                "clusterIPs",
                "ipFamilies",
                "ipFamilyPolicy",
                "internalTrafficPolicy",
            ],
        );
    }
    if needs_ports(before) && !needs_ports(spec) {
        let were: Vec<Option<Value>> = node_ports(before);
        if node_ports(spec) == were {
            let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
            for port in ports.into_iter().flatten().filter_map(Value::as_object_mut) {
                port.remove("nodePort");
            }
        }
    }
    if text(before, "type") == "LoadBalancer" && text(spec, "type") != "LoadBalancer" {
        forget(
            spec,
            before,
            &[
                "allocateLoadBalancerNodePorts",
                "loadBalancerClass",
                "healthCheckNodePort",
            ],
        );
    }
    if is_external(before) && !is_external(spec) {
        forget(spec, before, &["externalTrafficPolicy"]);
    }
}

fn forget(spec: &mut Map<String, Value>, before: &Map<String, Value>, names: &[&str]) {
    for name in names {
        if spec.get(*name) == before.get(*name) {
            spec.remove(*name);
        }
    }
}

fn node_ports(spec: &Map<String, Value>) -> Vec<Option<Value>> {
    let ports = spec.get("ports").and_then(Value::as_array).into_iter().flatten();
    ports.map(|port| port.get("nodePort").cloned()).collect()
}

fn is_external(spec: &Map<String, Value>) -> bool {
    let has_ips = spec
        .get("externalIPs")
        .and_then(Value::as_array)
        .is_some_and(|ips| !ips.is_empty());
    matches!(text(spec, "type"), "LoadBalancer" | "NodePort") || text(spec, "type") == "ClusterIP" && has_ips
}

fn needs_ports(spec: &Map<String, Value>) -> bool {
    let balancer = text(spec, "type") == "LoadBalancer";
    text(spec, "type") == "NodePort" || balancer && spec.get("allocateLoadBalancerNodePorts") != Some(&json!(false))
}

/// Gives an address, where one is needed, and notes the one that was asked for.
fn address(spec: &mut Map<String, Value>, (owner, is_given): (&str, bool), held: &mut BTreeMap<String, String>) {
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
        "" if spec.contains_key("clusterIPs") || !is_given => {}
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
