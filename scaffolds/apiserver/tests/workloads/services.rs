//! Services: EndpointSlices, Endpoints, load balancers.

use serde_json::{Value, json};

use crate::{
    cluster::{DEPLOYMENTS, PODS, cluster, deployment, template},
    common::Wire,
};

const SERVICES: &str = "/api/v1/namespaces/default/services";
const ENDPOINTS: &str = "/api/v1/namespaces/default/endpoints";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

fn service(name: &str, spec: &Value) -> Value {
    let mut service = json!({"metadata": {"name": name}, "spec": {
        "selector": {"app": "web"}, "ports": [{"name": "http", "port": 80, "targetPort": 8080}],
    }});
    for (field, value) in spec.as_object().unwrap() {
        service["spec"][field] = value.clone();
    }
    service
}

impl Wire {
    /// The conditions ready, serving and terminating of all endpoints of a slice, as letters.
    async fn endpoint_states(&self) -> Vec<String> {
        let state = |endpoint: &Value| {
            let is = |name: &str, letter: &str| {
                if endpoint["conditions"][name] == true {
                    letter.to_owned()
                } else {
                    String::new()
                }
            };
            is("ready", "r") + &is("serving", "s") + &is("terminating", "t")
        };
        let slices = self.items(SLICES).await;
        let endpoints = slices
            .iter()
            .flat_map(|slice| slice["endpoints"].as_array().into_iter().flatten());
        let mut states: Vec<String> = endpoints.map(state).collect();
        states.sort();
        states
    }

    /// The numbers of ready and of other addresses in the Endpoints of this name.
    async fn address_counts(&self, name: &str) -> [usize; 2] {
        let endpoints = self.object(&format!("{ENDPOINTS}/{name}")).await;
        ["addresses", "notReadyAddresses"].map(|list| endpoints["subsets"][0][list].as_array().map_or(0, Vec::len))
    }
}

#[tokio::test(start_paused = true)]
async fn endpoints_are_ready_serve_and_terminate_with_their_pods() {
    let wire = cluster();
    wire.make(SERVICES, &service("web", &json!({}))).await;
    wire.pass(1).await;
    let slice = wire.items(SLICES).await.remove(0);
    assert_eq!(
        (&slice["endpoints"], &slice["addressType"]),
        (&Value::Null, &json!("IPv4"))
    );
    wire.make(DEPLOYMENTS, &deployment("web", 2, "ready-after=10s,stop-after=5s"))
        .await;
    wire.pass(2).await;
    assert_eq!(
        (wire.endpoint_states().await, wire.address_counts("web").await),
        (vec![String::new(); 2], [0, 2])
    );
    wire.pass(10).await;
    assert_eq!(
        (wire.endpoint_states().await, wire.address_counts("web").await),
        (vec!["rs".to_owned(); 2], [2, 0])
    );
    let slice = wire.items(SLICES).await.remove(0);
    let pod = wire
        .items(PODS)
        .await
        .into_iter()
        .find(|pod| pod["metadata"]["name"] == slice["endpoints"][0]["targetRef"]["name"]);
    assert_eq!(slice["endpoints"][0]["addresses"][0], pod.unwrap()["status"]["podIP"]);
    assert_eq!(
        slice["ports"],
        json!([{"name": "http", "port": 8080, "protocol": "TCP"}])
    );
    assert_eq!(slice["metadata"]["labels"]["kubernetes.io/service-name"], "web");
    wire.change(&format!("{DEPLOYMENTS}/web"), &json!({"spec": {"replicas": 1}}))
        .await;
    wire.pass(1).await;
    assert_eq!(
        (wire.endpoint_states().await, wire.address_counts("web").await),
        (vec!["rs".to_owned(), "st".to_owned()], [1, 0])
    );
    wire.pass(5).await;
    assert_eq!(wire.endpoint_states().await, ["rs"]);
    wire.send("DELETE", &format!("{SERVICES}/web"), "").await;
    wire.pass(1).await;
    assert_eq!(
        (wire.items(SLICES).await.len(), wire.items(ENDPOINTS).await.len()),
        (0, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn pods_whose_named_ports_differ_are_in_slices_of_their_own() {
    let wire = cluster();
    for (name, port) in [
        ("one", json!([{"name": "http", "containerPort": 1}])),
        ("two", json!([{"name": "http", "containerPort": 2}])),
        ("none", json!([])),
    ] {
        let mut pod = template("web", "");
        pod["metadata"]["name"] = json!(name);
        pod["spec"]["containers"][0]["ports"] = port;
        wire.make(PODS, &pod).await;
    }
    wire.make(
        SERVICES,
        &service("web", &json!({"ports": [{"port": 80, "targetPort": "http"}]})),
    )
    .await;
    wire.pass(1).await;
    let mut found: Vec<Value> = wire
        .items(SLICES)
        .await
        .iter()
        .map(|slice| json!([slice["endpoints"][0]["targetRef"]["name"], slice["ports"][0]["port"]]))
        .collect();
    found.sort_by_key(Value::to_string);
    assert_eq!(json!(found), json!([["none", null], ["one", 1], ["two", 2]]));
}

#[tokio::test(start_paused = true)]
async fn members_of_a_stateful_set_have_host_names_and_addresses_before_they_are_ready() {
    let wire = cluster();
    wire.make(
        SERVICES,
        &service(
            "members",
            &json!({"clusterIP": "None", "publishNotReadyAddresses": true}),
        ),
    )
    .await;
    let set = json!({"metadata": {"name": "db"}, "spec": {
        "replicas": 1, "serviceName": "members", "selector": {"matchLabels": {"app": "web"}},
        "template": template("web", "never-ready"),
    }});
    wire.make("/apis/apps/v1/namespaces/default/statefulsets", &set).await;
    wire.pass(1).await;
    let slice = wire.items(SLICES).await.remove(0);
    assert_eq!(slice["endpoints"][0]["hostname"], "db-0");
    assert_eq!(
        slice["endpoints"][0]["conditions"],
        json!({"ready": true, "serving": false, "terminating": false})
    );
    assert_eq!(slice["metadata"]["labels"]["service.kubernetes.io/headless"], "");
    assert_eq!(wire.address_counts("members").await, [1, 0]);
}

#[tokio::test(start_paused = true)]
async fn a_slice_has_at_most_100_endpoints_and_a_change_touches_one_slice() {
    let wire = cluster();
    wire.make(SERVICES, &service("web", &json!({}))).await;
    wire.make(DEPLOYMENTS, &deployment("web", 250, "")).await;
    wire.pass(5).await;
    let sizes = async || {
        let mut sizes: Vec<usize> = wire
            .items(SLICES)
            .await
            .iter()
            .map(|slice| slice["endpoints"].as_array().unwrap().len())
            .collect();
        sizes.sort_unstable();
        sizes
    };
    assert_eq!(sizes().await, [50, 100, 100]);
    let before = wire.items(SLICES).await;
    let name = before[0]["endpoints"][0]["targetRef"]["name"].as_str().unwrap();
    wire.send("DELETE", &format!("{PODS}/{name}"), "").await;
    wire.pass(5).await;
    assert_eq!(sizes().await.iter().sum::<usize>(), 250);
    let after = wire.items(SLICES).await;
    let changed = before
        .iter()
        .zip(&after)
        .filter(|(before, after)| before != after)
        .count();
    assert!(changed <= 2, "{changed}");
}

#[tokio::test(start_paused = true)]
async fn a_load_balancer_has_an_address_as_long_as_it_is_one() {
    let wire = cluster();
    wire.make(SERVICES, &service("web", &json!({"type": "LoadBalancer"})))
        .await;
    wire.make(
        SERVICES,
        &service(
            "theirs",
            &json!({"type": "LoadBalancer", "loadBalancerClass": "example.com/own"}),
        ),
    )
    .await;
    wire.pass(1).await;
    let address = async |name: &str| wire.object(&format!("{SERVICES}/{name}")).await["status"]["loadBalancer"].clone();
    let found = address("web").await;
    assert!(
        found["ingress"][0]["ip"].as_str().unwrap().starts_with("203.0.113."),
        "{found}"
    );
    assert_eq!(address("theirs").await, json!({}));
    wire.change(&format!("{SERVICES}/web"), &json!({"spec": {"type": "ClusterIP"}}))
        .await;
    wire.pass(1).await;
    assert_eq!(address("web").await, json!({}));
}

#[tokio::test(start_paused = true)]
async fn services_without_a_selector_are_left_alone() {
    let wire = cluster();
    wire.make(SERVICES, &service("web", &json!({"selector": null}))).await;
    wire.make(ENDPOINTS, &json!({"metadata": {"name": "web"}, "subsets": [{"addresses": [{"ip": "192.0.2.9"}], "ports": [{"port": 1}]}]})).await;
    wire.pass(1).await;
    assert_eq!(wire.address_counts("web").await, [1, 0]);
    assert_eq!(wire.items(SLICES).await.len(), 0);
}
