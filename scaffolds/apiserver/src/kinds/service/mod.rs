//! What Services hold: addresses of the cluster's range and ports of its nodes. Each server has its own.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Mutex, MutexGuard, PoisonError},
};

mod address;
mod ports;
mod update;

use serde_json::{Map, Value};

use super::at::{At, Faults};

/// Who holds what: addresses as they are written, ports as `:30000`, for all protocols alike.
type Holders = BTreeMap<String, String>;

/// What the Services of one server hold.
#[derive(Default)]
pub(super) struct Held(Mutex<Holders>);

impl Held {
    fn lock(&self) -> MutexGuard<'_, Holders> {
        // Every change is one insertion or removal, so that a panic elsewhere leaves it whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a new Service what it needs.
    pub fn create(&self, service: &mut Value) {
        let owner = owner(service);
        let Some(spec) = service.get_mut("spec").and_then(Value::as_object_mut) else {
            return;
        };
        update::normalise(spec);
        let mut held = self.lock();
        address::give(spec, (&owner, true), &mut held);
        let shared = ports::asked(spec);
        ports::give(spec, &owner, Some(shared), &mut held);
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
        if has_address(text(spec, "type")) && has_address(text(before, "type")) {
            update::inherit(spec, before);
        }
        ports::inherit(spec, before);
        update::follow(spec, before);
        update::normalise(spec);
        update::drop_unneeded(spec, before);
        let mut held = self.lock();
        // One that a write of its status created has no address, and gets none as long as its type has addresses.
        let is_given = !has_address(text(before, "type")) || before.contains_key("clusterIP");
        address::give(spec, (&owner, is_given), &mut held);
        ports::give(spec, &owner, None, &mut held);
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

    /// Says what could not be given: the first of it, where upstream stops.
    pub fn check(&self, service: &At<'_>, is_new: bool, faults: &mut Faults) {
        let (owner, spec, held) = (owner(service.value), service.get("spec"), self.lock());
        address::families(&spec, faults);
        if faults.is_empty() {
            address::check(&spec, &owner, &held, faults);
        }
        if faults.is_empty() {
            ports::check((&spec, is_new), &owner, &held, faults);
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
    ips.chain(ports.map(|port| ports::key(port.get("nodePort").int())))
        .collect()
}

fn text<'a>(spec: &'a Map<String, Value>, name: &str) -> &'a str {
    spec.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Whether Services of a type have an address, as every type that is not known has.
fn has_address(kind: &str) -> bool {
    kind != "ExternalName"
}

fn start(owner: &str, count: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    owner.hash(&mut hasher);
    usize::try_from(hasher.finish() % count.max(1) as u64).unwrap_or_default()
}
