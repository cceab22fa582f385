//! Ports with one number: the server adds the protocol, which is a part of their key.

use crate::{
    one_request::{operator, patched, want},
    support::{
        World,
        kinds::{seconds, world},
    },
};
use serde_json::{Value, json};

const SERVICE: &str = "/api/v1/namespaces/default/services/a";

fn service(ports: &[Value]) -> Value {
    json!({"spec": {"selector": {"app": "a"}, "ports": ports}})
}

fn port(name: &str, protocol: Option<&str>) -> Value {
    let mut port = json!({"name": name, "port": 53, "targetPort": 53});
    if let Some(protocol) = protocol {
        port["protocol"] = json!(protocol);
    }
    port
}

/// The names and protocols of the ports that the server has.
fn ports(world: &World) -> Vec<(String, String)> {
    let service = world.object(SERVICE).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let port = |port: &Value| (text(&port["name"]), text(&port["protocol"]));
    service["spec"]["ports"].as_array().unwrap().iter().map(port).collect()
}

fn are(wanted: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(name, protocol): &(&str, &str)| ((*name).to_owned(), (*protocol).to_owned());
    wanted.iter().map(owned).collect()
}

#[tokio::test(start_paused = true)]
async fn one_of_two_ports_with_one_number_is_removed() {
    for restart in [false, true] {
        let world = world();
        let mut running = operator(&world);
        want(&world, &service(&[port("dns", Some("UDP")), port("dns-tcp", None)])).await;
        assert_eq!(ports(&world), are(&[("dns", "UDP"), ("dns-tcp", "TCP")]));
        if restart {
            running.stop().await.unwrap();
            running = operator(&world);
            seconds(1).await;
        }
        want(&world, &service(&[port("dns-tcp", None)])).await;
        assert_eq!(ports(&world), are(&[("dns-tcp", "TCP")]), "restart: {restart}");
        let before = world.writes(SERVICE).len();
        seconds(3600).await;
        assert_eq!(world.writes(SERVICE).len(), before);
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_port_without_a_protocol_is_no_longer_udp() {
    for restart in [false, true] {
        let world = world();
        let mut running = operator(&world);
        want(&world, &service(&[port("dns", Some("UDP"))])).await;
        if restart {
            running.stop().await.unwrap();
            running = operator(&world);
            seconds(1).await;
        }
        want(&world, &service(&[port("dns", None)])).await;
        assert_eq!(ports(&world), are(&[("dns", "TCP")]), "restart: {restart}");
        running.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn each_of_two_ports_with_one_number_is_repaired() {
    for nth in 0..2 {
        let world = world();
        let running = operator(&world);
        let wanted = service(&[port("dns", Some("UDP")), port("dns-tcp", None)]);
        want(&world, &wanted).await;
        let before = world.writes(SERVICE).len();
        world.edit(SERVICE, |service| {
            service["spec"]["ports"][nth]["targetPort"] = json!(5353)
        });
        seconds(60).await;
        let service = world.object(SERVICE).unwrap();
        assert_eq!(service["spec"]["ports"][nth]["targetPort"], json!(53), "port {nth}");
        assert_eq!(world.writes(SERVICE)[before..], patched(SERVICE)[..], "port {nth}");
        running.stop().await.unwrap();
    }
}
