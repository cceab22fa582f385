//! Fixtures and waiting, as tests of operators use them, on the in-process API server.

use crate::support::kinds::{FooBar, PLANETS, at, config_map, foobar, seconds, world};
use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_runtime::{
    ObjectKey,
    testing::{apply, wait_for_condition},
};
use serde_json::json;

const FIXTURES: &str = r#"
apiVersion: v1
kind: ConfigMap
metadata:
  name: one
data:
  "on": "1"
---
# Nothing here.
---
apiVersion: test.example.com/v1
kind: Planet
metadata:
  name: earth
spec: {}
---
apiVersion: test.example.com/v1
kind: FooBar
metadata:
  name: elsewhere
  namespace: kube-system
spec:
  target: x
"#;

#[tokio::test(start_paused = true)]
async fn fixtures_are_applied_in_their_namespaces_and_a_second_apply_changes_nothing() {
    let world = world();
    for _ in 0..2 {
        let applied = apply(&world.client(), "default", FIXTURES).await.unwrap();
        let names: Vec<_> = applied
            .iter()
            .filter_map(|object| object.metadata.name.as_deref())
            .collect();
        assert_eq!(names, ["one", "earth", "elsewhere"]);
    }
    assert_eq!(world.object(&config_map("one")).unwrap()["data"], json!({"on": "1"}));
    assert!(world.object(&format!("{PLANETS}/earth")).is_some());
    let elsewhere = world.object("/apis/test.example.com/v1/namespaces/kube-system/foobars/elsewhere");
    assert_eq!(elsewhere.unwrap()["metadata"]["generation"], json!(1));
}

#[tokio::test(start_paused = true)]
async fn an_invalid_fixture_is_refused_with_the_reason() {
    let world = world();
    for (text, message) in [
        ("a: [", "a fixture is not valid YAML"),
        ("a: 1", "a fixture is not an object"),
        ("apiVersion: v1\nkind: Unicorn\nmetadata: {name: a}", "Unicorn"),
        (
            "apiVersion: test.example.com/v1\nkind: FooBar\nmetadata: {name: a}\nspec: {}",
            "spec.target",
        ),
    ] {
        let error = apply(&world.client(), "default", text).await.unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_condition_of_an_earlier_generation_does_not_end_the_wait() {
    let world = world();
    let key = ObjectKey::new(Some("default"), "a");
    let absent = wait_for_condition::<FooBar>(&world.client(), &key, "Ready", "True")
        .await
        .unwrap_err();
    assert_eq!(
        absent.to_string(),
        "waited 30 s in vain for Ready=True of FooBar `default/a`: the object does not exist"
    );
    world.put(&at("a"), foobar("x"));
    let ready = |generation: i64| {
        let condition = json!({"type": "Ready", "status": "True", "reason": "Done", "message": "as asked",
            "observedGeneration": generation, "lastTransitionTime": "2026-01-01T00:00:00Z"});
        world.edit_status(&at("a"), |object| object["status"] = json!({"conditions": [condition]}));
    };
    ready(1);
    let found: FooBar = wait_for_condition(&world.client(), &key, "Ready", "True")
        .await
        .unwrap();
    assert_eq!(found.spec.target, "x");

    world.edit(&at("a"), |object| object["spec"]["target"] = json!("y"));
    let old = wait_for_condition::<FooBar>(&world.client(), &key, "Ready", "True")
        .await
        .unwrap_err();
    assert!(
        old.to_string().ends_with("it has no such condition for its generation"),
        "{old}"
    );
    let client = world.client();
    let waiting = wait_for_condition::<FooBar>(&client, &key, "Ready", "True");
    let (found, ()) = tokio::join!(waiting, async {
        seconds(5).await;
        ready(2);
    });
    assert_eq!(found.unwrap().spec.target, "y");

    let config_map = ObjectKey::new(Some("default"), "none");
    assert!(
        wait_for_condition::<ConfigMap>(&world.client(), &config_map, "Ready", "True")
            .await
            .is_err()
    );
}
