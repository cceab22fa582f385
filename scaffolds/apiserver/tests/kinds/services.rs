//! Cluster IPs and node ports: allocated once, released when their Service is deleted, kept across restarts.

use kubewright_apiserver::testing::{Strategy, kinds};
use serde_json::{Value, json};
use std::sync::Arc;

fn strategy() -> Arc<dyn Strategy> {
    let mut resources = kinds::resources().into_iter();
    resources
        .find(|resource| resource.names.kind == "Service")
        .unwrap()
        .strategy
}

fn made(strategy: &Arc<dyn Strategy>, name: &str, spec: Value) -> Value {
    let metadata = json!({"name": name, "namespace": "default"});
    let mut service = json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec});
    strategy.decode(&mut service).unwrap();
    strategy.default(&mut service);
    strategy.prepare_for_create("", &mut service);
    service
}

fn port() -> Value {
    json!({"ports": [{"port": 80}], "type": "NodePort"})
}

#[test]
fn no_two_services_get_the_same_address_or_port() {
    let strategy = strategy();
    let all: Vec<Value> = (0..200)
        .map(|number| made(&strategy, &format!("s{number}"), port()))
        .collect();
    for place in ["/spec/clusterIP", "/spec/ports/0/nodePort"] {
        let mut given: Vec<String> = all
            .iter()
            .map(|service| service.pointer(place).unwrap().to_string())
            .collect();
        given.sort();
        given.dedup();
        assert_eq!(given.len(), all.len(), "{place}");
    }
}

#[test]
fn an_address_is_free_again_when_its_service_is_gone() {
    let strategy = strategy();
    let spec = json!({"ports": [{"port": 80}], "clusterIP": "10.0.0.9"});
    let first = made(&strategy, "first", spec.clone());
    let second = made(&strategy, "second", spec.clone());
    let causes = strategy.validate(&second, &[]);
    assert!(
        causes[0].message.ends_with("provided IP is already allocated"),
        "{causes:?}"
    );
    strategy.rules().release(&second, None);
    assert!(strategy.validate(&first, &[]).is_empty());
    strategy.rules().release(&first, None);
    let third = made(&strategy, "third", spec);
    assert!(strategy.validate(&third, &[]).is_empty());
}

#[test]
fn services_keep_their_addresses_and_ports_across_a_restart() {
    let before = strategy();
    let first = made(&before, "first", port());
    let after = strategy();
    after.rules().hold(&first);
    let held = [
        json!({"ports": [{"port": 81}], "clusterIP": first["spec"]["clusterIP"]}),
        json!({"type": "NodePort", "ports": [{"port": 81, "protocol": "UDP", "nodePort": first["spec"]["ports"][0]["nodePort"]}]}),
    ];
    for spec in held {
        let second = made(&after, "second", spec);
        assert_eq!(after.validate(&second, &[]).len(), 1, "{second}");
    }
}

#[test]
fn protocols_of_one_port_share_a_node_port_and_other_ports_do_not() {
    let strategy = strategy();
    let ports =
        json!([{"name": "a", "port": 53}, {"name": "b", "port": 53, "protocol": "UDP"}, {"name": "c", "port": 54}]);
    let shared = made(&strategy, "shared", json!({"ports": ports, "type": "NodePort"}));
    let number = |index: usize| shared["spec"]["ports"][index]["nodePort"].as_i64().unwrap();
    assert_eq!(number(0), number(1));
    assert_ne!(number(0), number(2));

    let twice = json!([{"name": "a", "port": 1, "nodePort": 30001}, {"name": "b", "port": 2, "nodePort": 30001}]);
    let twice = made(&strategy, "twice", json!({"ports": twice, "type": "NodePort"}));
    let causes = strategy.validate(&twice, &[]);
    assert_eq!(causes[0].field, "spec.ports[1].nodePort");
    assert!(
        causes[0].message.ends_with("provided port is already allocated"),
        "{causes:?}"
    );
}
