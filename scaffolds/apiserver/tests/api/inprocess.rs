//! `kube::Client` on the server without sockets, with time that tests control.

use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
    runtime::{WatchStreamExt, watcher},
};
use kubewright_apiserver::{ApiServer, Options};
use serde_json::{from_value, json};

fn config_maps() -> Api<ConfigMap> {
    Api::default_namespaced(Client::new(ApiServer::new(Options::default()).service(), "default"))
}

fn config_map(name: &str) -> ConfigMap {
    from_value(json!({"metadata": {"name": name}, "data": {"a": "1"}})).unwrap()
}

#[tokio::test]
async fn objects_are_created_read_updated_and_deleted() {
    let api = config_maps();
    let made = api.create(&PostParams::default(), &config_map("a")).await.unwrap();
    assert!(made.uid().is_some() && made.resource_version().is_some());
    let conflict = api.create(&PostParams::default(), &config_map("a")).await.unwrap_err();
    let kube::Error::Api(status) = conflict else {
        panic!("{conflict}")
    };
    assert_eq!(
        (status.code, status.message.as_str()),
        (409, "configmaps \"a\" already exists")
    );

    let patch = Patch::Apply(json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"b": "2"}}));
    let applied = api.patch("a", &PatchParams::apply("tester"), &patch).await.unwrap();
    assert_eq!(applied.data.unwrap().len(), 2);
    let mut stale = made.clone();
    stale.data = None;
    let refused = api.replace("a", &PostParams::default(), &stale).await.unwrap_err();
    assert!(
        refused.to_string().contains("the object has been modified"),
        "{refused}"
    );

    api.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(api.get_opt("a").await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_watcher_sees_hours_pass_in_no_time() {
    let begun = std::time::Instant::now();
    let api = config_maps();
    let mut seen = std::pin::pin!(watcher(api.clone(), watcher::Config::default()).applied_objects());
    let mut created = Vec::new();
    for hour in 0..6 {
        api.create(&PostParams::default(), &config_map(&format!("hour-{hour}")))
            .await
            .unwrap();
        let object = seen.next().await.unwrap().unwrap();
        assert_eq!(object.name_any(), format!("hour-{hour}"));
        created.push(object.creation_timestamp().unwrap().0);
        tokio::time::sleep(Duration::from_secs(3600)).await;
    }
    for pair in created.windows(2) {
        let hours = pair[1].duration_since(pair[0]).as_secs();
        assert!(
            (3599..=3601).contains(&hours),
            "{hours} s between two objects made an hour apart"
        );
    }
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn clones_share_a_server_and_new_servers_are_separate() {
    let server = ApiServer::new(Options::default());
    let one: Api<ConfigMap> = Api::default_namespaced(Client::new(server.service(), "default"));
    let other: Api<ConfigMap> = Api::default_namespaced(Client::new(server.clone().service(), "default"));
    one.create(&PostParams::default(), &config_map("a")).await.unwrap();
    assert!(other.get_opt("a").await.unwrap().is_some());
    assert!(config_maps().get_opt("a").await.unwrap().is_none());
}
