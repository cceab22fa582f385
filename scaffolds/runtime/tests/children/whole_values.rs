//! Parts of a child that have one owner as a whole, or whose order or emptiness has a meaning.

use serde_json::{Value, json};

use super::{
    one_request::{DEPLOYMENT, operator, patched, want},
    support::{
        World,
        kinds::{Running, seconds, world},
    },
};

const SERVICE: &str = "/api/v1/namespaces/default/services/a";
const SECRET: &str = "/api/v1/namespaces/default/secrets/a";

fn service(selector: Value) -> Value {
    json!({"spec": {"ports": [{"port": 80}], "selector": selector, "sessionAffinity": "None"}})
}

/// A Deployment with this in the spec of its Pods.
fn pods(more: Value) -> Value {
    let labels = json!({"app": "a"});
    let mut spec = json!({"containers": [{"name": "a", "image": "a"}]});
    spec.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let template = json!({"metadata": {"labels": labels}, "spec": spec});
    json!({"spec": {"selector": {"matchLabels": labels}, "template": template}})
}

fn pod_spec(world: &World, field: &str) -> Value {
    world.object(DEPLOYMENT).unwrap()["spec"]["template"]["spec"][field].clone()
}

/// The writes of a new process.
async fn restarted(world: &World, running: Running) -> (Running, Vec<String>) {
    running.stop().await.unwrap();
    let before = world.requests("PATCH /ap").len();
    let running = operator(world);
    seconds(60).await;
    (running, world.requests("PATCH /ap").split_off(before))
}

#[tokio::test(start_paused = true)]
async fn a_map_that_is_one_value_has_exactly_the_keys_of_the_intent() {
    let world = world();
    let mut running = operator(&world);
    let (one, two) = (json!({"app": "a"}), json!({"app": "a", "tier": "b"}));
    want(&world, &service(two.clone())).await;
    for selector in [&one, &two, &one] {
        assert_eq!(
            want(&world, &service(selector.clone())).await,
            patched(SERVICE),
            "{selector}"
        );
        assert_eq!(world.object(SERVICE).unwrap()["spec"]["selector"], *selector);
    }
    // Somebody else adds a key, which takes the map over.
    for affinity in ["None", "ClientIP"] {
        world.edit(SERVICE, |service| {
            service["spec"]["selector"]["theirs"] = json!("1");
            service["spec"]["sessionAffinity"] = json!(affinity);
        });
        seconds(60).await;
        let spec = world.object(SERVICE).unwrap()["spec"].clone();
        assert_eq!((&spec["selector"], &spec["sessionAffinity"]), (&one, &json!("None")));
    }
    let writes;
    (running, writes) = restarted(&world, running).await;
    assert_eq!(writes, Vec::<String>::new());
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_node_selector_loses_its_keys_one_by_one() {
    let world = world();
    let running = operator(&world);
    let both = json!({"disk": "ssd", "zone": "a"});
    want(&world, &pods(json!({"nodeSelector": both}))).await;
    for (selector, stored) in [
        (json!({"zone": "a"}), json!({"zone": "a"})),
        (json!({}), Value::Null),
        (both.clone(), both.clone()),
        (Value::Null, Value::Null),
    ] {
        want(&world, &pods(json!({"nodeSelector": selector}))).await;
        assert_eq!(pod_spec(&world, "nodeSelector"), stored, "{selector}");
    }
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_default_in_such_a_map_causes_no_write() {
    let world = world();
    let running = operator(&world);
    let field = json!({"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}});
    let resource = json!({"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}});
    let containers = |image: &str| json!([{"name": "a", "image": image, "env": [field, resource]}]);
    for image in ["a", "b"] {
        want(&world, &pods(json!({"containers": containers(image)}))).await;
    }
    let (running, writes) = restarted(&world, running).await;
    assert_eq!(writes, Vec::<String>::new());
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn init_containers_have_the_order_of_the_intent() {
    let world = world();
    let running = operator(&world);
    let named = |names: [&str; 2]| names.map(|name| json!({"name": name, "image": "a"}));
    for names in [["one", "two"], ["two", "one"]] {
        want(&world, &pods(json!({"initContainers": named(names)}))).await;
        let stored = pod_spec(&world, "initContainers");
        let stored: Vec<_> = stored
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["name"].as_str().unwrap())
            .collect();
        assert_eq!(stored, names);
    }
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_empty_value_with_a_meaning_is_written() {
    let world = world();
    let running = operator(&world);
    let volume = |source: Value| {
        let mut volume = json!({"name": "v"});
        volume
            .as_object_mut()
            .unwrap()
            .extend(source.as_object().unwrap().clone());
        pods(json!({"volumes": [volume]}))
    };
    want(&world, &volume(json!({"configMap": {"name": "c"}}))).await;
    want(&world, &volume(json!({"emptyDir": {}}))).await;
    assert_eq!(pod_spec(&world, "volumes"), json!([{"name": "v", "emptyDir": {}}]));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn string_data_is_repaired_and_removed_as_data() {
    let world = world();
    let running = operator(&world);
    let secret = |texts: Value| json!({"stringData": texts});
    let both = secret(json!({"user": "u", "password": "p"}));
    assert_eq!(want(&world, &both).await, ["POST /api/v1/namespaces/default/secrets"]);
    world.edit(SECRET, |secret| secret["data"]["password"] = json!("eA=="));
    seconds(60).await;
    assert_eq!(
        world.object(SECRET).unwrap()["data"],
        json!({"user": "dQ==", "password": "cA=="})
    );
    want(&world, &secret(json!({"user": "u"}))).await;
    assert_eq!(world.object(SECRET).unwrap()["data"], json!({"user": "dQ=="}));
    running.stop().await.unwrap();
}
