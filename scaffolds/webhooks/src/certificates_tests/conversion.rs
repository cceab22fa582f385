//! The life of an object with a conversion, on the in-process API server and on a real one.

use kube::Client;
use kubewright_apiserver::{ApiServer, Controllers, Options as ServerOptions};
use kubewright_runtime::testing::TestCluster;
use serde_json::{Value, json};

use super::{foobars::FooBars, migration::migrated, *};
use crate::conversion::tests::kinds::{definition, hub};

const ONLY_V1: &str = "test.example.com/v1-only";

/// A process of the operator.
async fn operator(client: &Client, namespace: &str) -> Replica {
    let manager = Manager::builder(client.clone()).name(OPERATOR).build();
    hub().register(&manager).unwrap();
    Replica::start_here(&manager, namespace)
}

async fn ready(replica: &Replica, foobars: &FooBars<'_>) {
    until("a definition that names the converter", async || {
        replica.standing.check().is_ok()
    })
    .await;
    // The API server may not have seen it yet.
    until("a converter that is called", async || {
        let (code, object) = foobars.get("v2").await;
        code == 200 && object["spec"]["host"].is_string()
    })
    .await;
}

/// The kind, an object of it, and the operator that converts it.
async fn converted(foobars: &FooBars<'_>) -> Replica {
    let FooBars { client, namespace } = *foobars;
    assert!(apply(client, DEFINITIONS, &definition()).await.0 < 300);
    until("the kind", async || {
        foobars.get("v1").await.1["reason"] == "NotFound" && foobars.get("v2").await.0 == 404
    })
    .await;
    until("an object", async || {
        let red = json!({"target": "a:1", "colour": "red", "items": [{"name": "x", "weight": 7}]});
        matches!(foobars.create("v1", red).await.0, 201 | 409)
    })
    .await;
    let replica = operator(client, namespace).await;
    until("a replica without its Secret", async || {
        replica
            .standing
            .check()
            .is_err_and(|why| why.contains("no certificate yet"))
    })
    .await;
    let name = format!("{PREFIX}{}", SECRET);
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}});
    let secrets = format!("/api/v1/namespaces/{namespace}/secrets");
    assert!(apply(client, &secrets, &secret).await.0 < 300);
    ready(&replica, foobars).await;
    replica
}

async fn story(client: Client, namespace: &str) {
    let foobars = FooBars {
        client: &client,
        namespace,
    };
    let replica = converted(&foobars).await;
    written_and_read(&foobars).await;
    applied_in_two_versions(&foobars).await;
    hostile(&foobars).await;
    // `make install` leaves the conversion alone.
    let (_, applied) = apply(&client, DEFINITIONS, &definition()).await;
    assert_eq!(applied["spec"]["conversion"]["strategy"], "Webhook", "{applied}");
    let _replica = down_and_back(&foobars, replica).await;
    migrated(&foobars).await;
}

/// Two processes that API servers reach at different addresses, as an operator in the cluster and one on a machine.
#[tokio::test(flavor = "multi_thread")]
async fn two_processes_with_different_addresses_do_not_overwrite_each_other_in_a_loop() {
    let server = ApiServer::new(ServerOptions::default());
    let (client, namespace) = (Client::new(server.service(), "default"), "default");
    let foobars = FooBars {
        client: &client,
        namespace,
    };
    let _one = converted(&foobars).await;
    let _other = operator(&client, namespace).await;
    let path = format!("{DEFINITIONS}/foobars.test.example.com");
    let generation = async || {
        let request = http::Request::get(&path);
        let (_, definition) = send(&client, request, &Value::Null).await;
        definition["metadata"]["generation"].as_u64().unwrap()
    };
    sleep(Duration::from_secs(2)).await;
    let (before, since) = (generation().await, Instant::now());
    sleep(Duration::from_secs(4)).await;
    let writes = u128::from(generation().await - before);
    // Each writes once in a look, and not once in each round trip.
    let looks = since.elapsed().as_millis() / PACE.look.as_millis();
    assert!(writes <= 3 * looks, "{writes} in {looks} looks");
}

/// As after `make undeploy KEEP_CRDS=1` and `make deploy`: the Secret is new, and the Service leads to no Pod that is not ready.
#[tokio::test(flavor = "multi_thread")]
async fn a_definition_with_earlier_authorities_gets_new_ones_without_the_service() {
    let server = ApiServer::new(ServerOptions::default());
    let (client, namespace) = (Client::new(server.service(), "default"), "default");
    let manager = Manager::builder(client.clone()).name(OPERATOR).build();
    hub().register(&manager).unwrap();
    assert!(apply(&client, DEFINITIONS, &definition()).await.0 < 300);
    let secrets = format!("/api/v1/namespaces/{namespace}/secrets");
    let name = format!("{PREFIX}{SECRET}");
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}});
    let authorities = async || {
        let path = format!("{DEFINITIONS}/foobars.test.example.com");
        let (_, definition) = send(&client, http::Request::get(path), &Value::Null).await;
        definition["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"].clone()
    };
    assert!(apply(&client, &secrets, &secret).await.0 < 300);
    let first = Replica::start(&manager, namespace, PACE, None);
    until("a definition that names the converter", async || {
        authorities().await.is_string()
    })
    .await;
    let before = authorities().await;
    drop(first);
    let delete = http::Request::delete(format!("{secrets}/{name}"));
    assert!(send(&client, delete, &Value::Null).await.0 < 300);
    assert!(apply(&client, &secrets, &secret).await.0 < 300);
    let pod = Replica::start_in_pod(&manager, namespace);
    pod.ready().await;
    assert_ne!(authorities().await, before);
}

/// v1 written, v2 read and written, v1 read.
async fn written_and_read(foobars: &FooBars<'_>) {
    let (_, before) = foobars.get("v1").await;
    let (_, mut new) = foobars.get("v2").await;
    assert_eq!(new["spec"], json!({"host": "a", "port": 1, "items": [{"name": "x"}]}));
    assert!(new["metadata"]["annotations"][ONLY_V1].is_string(), "{new}");
    // Written as it was read: nothing has changed.
    let (code, same) = foobars.replace("v2", &new).await;
    assert_eq!(
        (code, &same["metadata"]["resourceVersion"]),
        (200, &before["metadata"]["resourceVersion"])
    );
    new["spec"]["port"] = json!(2);
    new["spec"]["tries"] = json!(3);
    let (code, written) = foobars.replace("v2", &new).await;
    assert_eq!((code, &written["spec"]["tries"]), (200, &json!(3)), "{written}");
    let (_, old) = foobars.get("v1").await;
    let items = json!([{"name": "x", "weight": 7}]);
    assert_eq!(old["spec"], json!({"target": "a:2", "colour": "red", "items": items}));
    assert_eq!(foobars.get("v2").await.1["spec"], new["spec"]);
    let (code, refused) = foobars.create("v2", json!({"host": "panic", "port": 1})).await;
    let message = refused["message"].as_str().unwrap_or_default();
    assert_eq!(code, 500, "{refused}");
    assert!(message.contains("FooBar "), "{message}");
    assert!(message.ends_with("the conversion panicked: no host"), "{message}");
}

/// Two field managers own fields in different versions, and one of them moves to the other version.
async fn applied_in_two_versions(foobars: &FooBars<'_>) {
    assert_eq!(foobars.delete("v1", "a").await.0, 200);
    foobars
        .apply("one", "v1", json!({"target": "a:1", "colour": "red"}))
        .await;
    let both = foobars
        .apply("two", "v2", json!({"host": "a", "port": 1, "tries": 3}))
        .await;
    assert_eq!(both["spec"], json!({"host": "a", "port": 1, "tries": 3}));
    let (_, old) = foobars.get("v1").await;
    assert_eq!(old["spec"], json!({"target": "a:1", "colour": "red"}));
    // A field that its owner does not apply any more is removed, and the other owner's stays.
    foobars.apply("one", "v1", json!({"target": "a:1"})).await;
    assert_eq!(foobars.get("v1").await.1["spec"], json!({"target": "a:1"}));
    assert_eq!(foobars.get("v2").await.1["spec"]["tries"], 3);
    // For this the API server converts objects without required fields.
    let moved = foobars.apply("one", "v2", json!({"host": "a", "port": 1})).await;
    assert_eq!(moved["spec"], json!({"host": "a", "port": 1, "tries": 3}));
    let managers = moved["metadata"]["managedFields"].as_array().unwrap().iter();
    let managers: Vec<_> = managers
        .map(|entry| (&entry["manager"], &entry["apiVersion"]))
        .collect();
    let v2 = json!("test.example.com/v2");
    assert_eq!(managers.len(), 2, "{moved}");
    assert!(
        managers.contains(&(&json!("one"), &v2)) && managers.contains(&(&json!("two"), &v2)),
        "{managers:?}"
    );
}

/// Objects that whoever may write them can write: they concern nobody else, and mean the same in both versions.
async fn hostile(foobars: &FooBars<'_>) {
    let in_v1 = |name: &str, spec: Value| FooBars::object("v1", name, &spec);
    let mut full = in_v1("full", json!({"target": "a:1", "colour": "r"}));
    full["metadata"]["annotations"] = json!({"a": "x".repeat(262_050)});
    full["metadata"]["finalizers"] = json!(["example.com/cleanup"]);
    for object in [&full, &in_v1("unconvertible", json!({"target": "a:b"}))] {
        let (code, created) = foobars.post("v1", "", object).await;
        assert_eq!(code, 201, "{created}");
    }
    let list = foobars.list("v2").await.expect("a list of all objects");
    let found = |name: &str| list.iter().find(|it| it["metadata"]["name"] == name).unwrap().clone();
    assert_eq!(found("a")["spec"]["host"], "a");
    let (incomplete, shell) = (found("full"), found("unconvertible"));
    assert_eq!(incomplete["spec"], json!({"host": "a", "port": 1}));
    let mark = |object: &Value| object["metadata"]["labels"][ONLY_V1].as_str().unwrap().to_owned();
    assert!(mark(&incomplete).starts_with("too-large."), "{incomplete}");
    assert_eq!(shell.get("spec"), None);
    assert!(mark(&shell).starts_with("not-convertible."), "{shell}");
    for name in ["full", "unconvertible"] {
        let (code, refused) = foobars
            .patch("v2", name, &json!({"spec": {"host": "b", "port": 2}}))
            .await;
        assert_eq!(code, 500, "{refused}");
        assert!(
            refused["message"].as_str().unwrap().ends_with("write it in v1"),
            "{refused}"
        );
        let (code, answer) = foobars.delete("v2", name).await;
        assert_eq!(code, 200, "{name}: {answer}");
    }
    let (code, answer) = foobars
        .patch("v2", "full", &json!({"metadata": {"finalizers": null}}))
        .await;
    assert_eq!(code, 200, "{answer}");

    cannot_be_shown(foobars).await;

    let forged = r#"{"digest":"","kept":[{"path":["spec","target"],"value":["evil:6666"],"shown":["b:1"]}]}"#;
    let mut object = FooBars::object("v2", "forged", &json!({"host": "b", "port": 1}));
    object["metadata"]["annotations"] = json!({ONLY_V1: forged});
    assert_eq!(foobars.post("v2", "", &object).await.0, 201);
    assert_eq!(foobars.read("v1", "forged").await.1["spec"], json!({"target": "b:1"}));
    assert_eq!(foobars.delete("v1", "forged").await.0, 200);
}

/// An object that v2 cannot show is deleted in v2, and keeps its fields until it is gone.
async fn cannot_be_shown(foobars: &FooBars<'_>) {
    let mut object = FooBars::object("v1", "kept", &json!({"target": "a:b", "colour": "red"}));
    object["metadata"]["finalizers"] = json!(["example.com/cleanup"]);
    assert_eq!(foobars.post("v1", "", &object).await.0, 201);
    let (code, answer) = foobars.delete("v2", "kept").await;
    assert_eq!(code, 200, "{answer}");
    let (_, stored) = foobars.read("v1", "kept").await;
    assert!(stored["metadata"]["deletionTimestamp"].is_string(), "{stored}");
    assert_eq!(stored["spec"], object["spec"]);
    let finalizers = json!({"metadata": {"finalizers": null}});
    let (code, answer) = foobars.patch("v2", "kept", &finalizers).await;
    assert_eq!(code, 200, "{answer}");
    assert_eq!(foobars.read("v1", "kept").await.0, 404);

    // Annotations of a client on an object with fields are not trusted.
    for reason in ["not-convertible", "not-convertible.0123456789abcdef", "too-large"] {
        let mut object = FooBars::object("v2", "labelled", &json!({"host": "b", "port": 1}));
        object["metadata"]["labels"] = json!({ONLY_V1: reason});
        let (code, answer) = foobars.post("v2", "", &object).await;
        assert_eq!(code, 500, "{answer}");
        assert!(
            answer["message"].as_str().unwrap().ends_with("write it in v1"),
            "{answer}"
        );
    }
}

/// The operator goes, and another process of it comes.
async fn down_and_back(foobars: &FooBars<'_>, replica: Replica) -> Replica {
    let (_, before) = foobars.get("v2").await;
    let mut object = FooBars::object("v1", "leaving", &json!({"target": "a:1"}));
    object["metadata"]["finalizers"] = json!(["example.com/cleanup"]);
    assert_eq!(foobars.post("v1", "", &object).await.0, 201);
    drop(replica);
    until("a converter that is down", async || foobars.get("v2").await.0 == 500).await;
    assert_eq!(foobars.get("v1").await.0, 200, "what is stored needs no converter");
    assert_eq!(foobars.delete("v1", "leaving").await.0, 200);
    let (code, answer) = foobars
        .patch("v1", "leaving", &json!({"metadata": {"finalizers": null}}))
        .await;
    assert_eq!((code, foobars.read("v1", "leaving").await.0), (200, 404), "{answer}");
    let replica = operator(foobars.client, foobars.namespace).await;
    ready(&replica, foobars).await;
    assert_eq!(foobars.get("v2").await.1, before);
    replica
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_written_in_one_version_is_read_in_the_other_and_back_and_nothing_is_lost() {
    let server = ApiServer::new(ServerOptions {
        controllers: Controllers::NONE,
        ..ServerOptions::default()
    });
    story(Client::new(server.service(), "default"), "default").await;
}

/// On a real cluster the namespace waits: `tests/control-plane/tests/runtime/converted.rs`.
#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_and_a_definition_go_while_their_converter_is_down() {
    let server = ApiServer::new(ServerOptions::default());
    let client = Client::new(server.service(), "default");
    let team = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}});
    assert_eq!(apply(&client, "/api/v1/namespaces", &team).await.0, 201);
    let foobars = FooBars {
        client: &client,
        namespace: "team",
    };
    drop(converted(&foobars).await);
    until("a converter that is down", async || foobars.get("v2").await.0 == 500).await;
    let kept = FooBars {
        namespace: "default",
        ..foobars
    };
    assert_eq!(kept.create("v1", json!({"target": "a:1"})).await.0, 201);

    let definition = format!("{DEFINITIONS}/foobars.test.example.com");
    for path in ["/api/v1/namespaces/team", definition.as_str()] {
        let code = send(&client, http::Request::delete(path), &Value::Null).await.0;
        assert!(code < 300, "{path}: {code}");
        until("its end", async || {
            send(&client, http::Request::get(path), &Value::Null).await.0 == 404
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs KUBEBUILDER_ASSETS"]
async fn nothing_is_lost_on_a_real_api_server_either() {
    let cluster = TestCluster::start().await.unwrap();
    story(cluster.client(), cluster.namespace()).await;
}
