//! The endpoints of webhooks' Services, whose addresses are not routed here. A Service leads to the process that was
//! registered for it, or else to one of its endpoints.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Mutex, PoisonError},
};

use kubewright_machinery::go::quote;
use serde_json::Value;

use super::target::{Place, Service, Target};
use crate::store::{Key, Store};

/// The processes that stand behind Services.
#[derive(Default)]
pub struct Backends(Mutex<BTreeMap<String, SocketAddr>>);

impl Backends {
    /// Registers the process behind a Service, by the namespace and name of the Service; `None` ends that.
    pub fn set(&self, namespace: &str, name: &str, address: Option<SocketAddr>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = format!("{namespace}/{name}");
        match address {
            Some(address) => _ = all.insert(key, address),
            None => _ = all.remove(&key),
        }
    }

    /// Host and port to connect to.
    ///
    /// # Errors
    /// The reason that there is none, in the words of kube-apiserver.
    pub(super) fn resolve(&self, store: &Store, target: &Target) -> Result<String, String> {
        let service = match &target.place {
            Place::Host(address) => return Ok(address.clone()),
            Place::Service(service) => service,
        };
        let Service { namespace, name, port } = service;
        let record = store.get(&Key::new("/services", namespace, name));
        let record = record.ok_or_else(|| format!("service {} not found", quote(name)))?;
        let object: Value = record.read().map_err(|error| error.to_string())?;
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        if text("/spec/type") == "ExternalName" {
            return Ok(format!("{}:{port}", text("/spec/externalName")));
        }
        let is_headless = text("/spec/clusterIP") == "None";
        let registered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let registered = registered.get(&format!("{namespace}/{name}")).map(ToString::to_string);
        if is_headless && registered.is_none() {
            return Err("cannot route to service with ClusterIP \"None\"".to_owned());
        }
        let port = find_port(&object, service).ok_or_else(|| {
            let service = quote(name);
            format!("no service port {port} found for service {service}")
        })?;
        registered
            .or_else(|| endpoint(store, service, port))
            .ok_or_else(|| format!("no endpoints available for service {}", quote(name)))
    }
}

/// The name of the Service's port.
fn find_port<'a>(object: &'a Value, service: &Service) -> Option<&'a str> {
    let ports = object.pointer("/spec/ports").and_then(Value::as_array)?;
    let port = ports
        .iter()
        .find(|port| port["port"].as_u64() == Some(u64::from(service.port)))?;
    Some(port["name"].as_str().unwrap_or_default())
}

/// The address of the first endpoint that is ready.
fn endpoint(store: &Store, service: &Service, port: &str) -> Option<String> {
    let slices = store
        .all("discovery.k8s.io/endpointslices", &service.namespace)
        .into_iter();
    let slices = slices.filter(|record| {
        let named = record.labels().get("kubernetes.io/service-name");
        named.is_some_and(|name| *name == service.name)
    });
    slices
        .filter_map(|record| record.read::<Value>().ok())
        .find_map(|slice| {
            let items = |field: &str| slice[field].as_array().cloned().unwrap_or_default();
            let number = items("ports")
                .into_iter()
                .find(|it| it["name"].as_str().unwrap_or_default() == port)
                .and_then(|it| it["port"].as_u64())?;
            let ready = items("endpoints")
                .into_iter()
                .find(|it| it["conditions"]["ready"] != Value::Bool(false))?;
            let address = ready["addresses"][0].as_str()?;
            Some(match address.contains(':') {
                true => format!("[{address}]:{number}"),
                false => format!("{address}:{number}"),
            })
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn store(objects: &[(&str, Value)]) -> Store {
        let store = Store::new(10);
        for (resource, object) in objects {
            let key = Key::new(resource, "ns", crate::meta::text(object, "name"));
            store.create(&key, &|_| object.to_string().into()).unwrap();
        }
        store
    }

    fn resolved(service: &Value, slices: &[Value]) -> Result<String, String> {
        let slices = slices
            .iter()
            .map(|slice| ("discovery.k8s.io/endpointslices", slice.clone()));
        let objects: Vec<_> = [("/services", service.clone())].into_iter().chain(slices).collect();
        let target = Target::read(&json!({"service": {"name": "s", "namespace": "ns", "port": 8443}}));
        Backends::default().resolve(&store(&objects), &target.unwrap())
    }

    fn service(spec: Value) -> Value {
        json!({"metadata": {"name": "s"}, "spec": spec})
    }

    #[test]
    fn a_service_leads_to_its_first_ready_endpoint() {
        let slice = json!({
            "metadata": {"name": "a", "labels": {"kubernetes.io/service-name": "s"}},
            "endpoints": [
                {"addresses": ["10.0.0.1"], "conditions": {"ready": false}},
                {"addresses": ["10.0.0.2"]},
            ],
            "ports": [{"name": "other", "port": 1}, {"name": "https", "port": 9443}],
        });
        let service = service(json!({"ports": [{"name": "https", "port": 8443}]}));
        assert_eq!(resolved(&service, &[slice]).unwrap(), "10.0.0.2:9443");
        let why = resolved(&service, &[]).unwrap_err();
        assert_eq!(why, "no endpoints available for service \"s\"");
    }

    #[test]
    fn an_external_name_is_called_itself() {
        let service = service(json!({"type": "ExternalName", "externalName": "example.com"}));
        assert_eq!(resolved(&service, &[]).unwrap(), "example.com:8443");
    }
}
