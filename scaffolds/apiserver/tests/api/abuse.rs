//! Malformed requests of every sort: the answer is always a Status, and the server keeps running.

use crate::common::wire;
use kubewright_apiserver::testing::{LIMIT, json::DEPTH};

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

#[tokio::test]
async fn malformed_bodies_are_refused() {
    let wire = wire();
    let deep = format!("{{\"a\":{}", "[".repeat(100_000));
    let bodies: [&[u8]; 9] = [
        b"",
        b"{",
        b"{bad",
        b"[]",
        b"1",
        b"\"x\"",
        b"{\"kind\":1}",
        b"{\"metadata\":[]}",
        deep.as_bytes(),
    ];
    for body in bodies {
        let answer = wire.post(CONFIG_MAPS, body.to_vec()).await;
        let shown = String::from_utf8_lossy(body.get(..20).unwrap_or(body)).into_owned();
        assert_eq!(
            (answer.code, answer.json()["reason"].as_str()),
            (400, Some("BadRequest")),
            "{shown}"
        );
    }
    let yaml = wire.with("content-type", "application/yaml");
    for body in [
        "a: [b\nfoo",
        "&a [*a]",
        "a: b: c",
        &"- ".repeat(50_000),
        &"[".repeat(50_000),
        "\u{0}",
    ] {
        let answer = yaml.send("POST", CONFIG_MAPS, body.to_owned()).await;
        assert_eq!(
            (answer.code, answer.json()["reason"].as_str()),
            (400, Some("BadRequest")),
            "{body:.20}"
        );
    }
    assert_eq!(
        wire.post(CONFIG_MAPS, r#"{"metadata":{"name":"still-there"}}"#)
            .await
            .code,
        201
    );
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused() {
    let answer = wire().post(CONFIG_MAPS, vec![b' '; LIMIT + 1]).await;
    assert_eq!(answer.code, 413);
    assert_eq!(answer.json()["message"], "Request entity too large: limit is 3145728");
}

#[tokio::test]
async fn invalid_utf_8_is_replaced_or_refused() {
    let wire = wire();
    let answer = wire
        .post(
            CONFIG_MAPS,
            b"{\"metadata\":{\"name\":\"a\"},\"data\":{\"x\":\"\xff\"}}".to_vec(),
        )
        .await;
    assert_eq!(
        (answer.code, answer.json()["data"]["x"].as_str()),
        (201, Some("\u{fffd}"))
    );
    let answer = wire
        .post(CONFIG_MAPS, b"{\"metadata\":{\"name\":\"\xff\"}}".to_vec())
        .await;
    assert_eq!(answer.code, 422);
    assert_eq!(wire.get(&format!("{CONFIG_MAPS}/%ff")).await.code, 404);
}

#[tokio::test]
async fn malformed_patches_are_refused() {
    let wire = wire();
    wire.post(CONFIG_MAPS, r#"{"metadata":{"name":"a"}}"#).await;
    let path = format!("{CONFIG_MAPS}/a?fieldManager=x");
    let types = [
        "application/json-patch+json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/apply-patch+yaml",
    ];
    let deep = "[".repeat(100_000);
    for media_type in types {
        for body in ["", "{", "1", "null", "\u{0}", &deep] {
            let answer = wire
                .with("content-type", media_type)
                .send("PATCH", &path, body.to_owned())
                .await;
            assert!(
                (400..=422).contains(&answer.code) || body == "null",
                "{media_type} {body:.20}: {}",
                answer.text
            );
        }
    }
    assert_eq!(
        wire.with("content-type", "text/plain")
            .send("PATCH", &path, "{}")
            .await
            .code,
        415
    );
}

#[tokio::test]
async fn an_object_of_the_greatest_depth_is_stored_and_a_deeper_one_is_refused() {
    let wire = wire();
    let crd = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"foobars.shell.example.com"},
        "spec":{"group":"shell.example.com","scope":"Namespaced","names":{"kind":"FooBar","plural":"foobars"},
        "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":
        {"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}"#;
    assert_eq!(
        wire.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
            .await
            .code,
        201
    );
    let object = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(
            r#"{{"apiVersion":"shell.example.com/v1","kind":"FooBar","metadata":{{"name":"a"}},"spec":{open}{close}}}"#
        )
    };
    let path = "/apis/shell.example.com/v1/namespaces/default/foobars";
    assert_eq!(wire.post(path, object(DEPTH)).await.code, 400);
    assert_eq!(wire.post(path, object(DEPTH - 2)).await.code, 201);
    for (media_type, force) in [
        ("application/merge-patch+json", ""),
        ("application/apply-patch+yaml", "&force=true"),
    ] {
        let patching = wire.with("content-type", media_type);
        let answer = patching
            .send("PATCH", &format!("{path}/a?fieldManager=x{force}"), object(DEPTH - 2))
            .await;
        assert!(answer.code == 200, "{}", answer.text);
    }
}

#[tokio::test]
async fn odd_paths_and_queries_are_answered() {
    let wire = wire();
    for path in [
        "//",
        "/api//",
        "/apis/%2f/%2f",
        "/api/v1/namespaces//pods",
        "/api/v1/watch",
        "/api/v1/watch/watch/pods",
        "/api/v1/namespaces/%00/pods",
        "/apis/../api/v1/pods",
        "/api/v1/pods?%%%&=&;&a=%zz",
        "/openapi/v3/../../etc/passwd",
    ] {
        let answer = wire.get(path).await;
        assert!((200..=501).contains(&answer.code), "{path}: {}", answer.code);
    }
    for query in [
        "limit=x",
        "timeoutSeconds=x",
        "resourceVersion=x",
        "continue=%00",
        "labelSelector=((((",
        "fieldSelector==",
    ] {
        assert_eq!(wire.get(&format!("{CONFIG_MAPS}?{query}")).await.code, 400, "{query}");
    }
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_watches_start_get_an_event_and_are_dropped() {
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    let wire = wire();
    let mut watches = Vec::new();
    for _ in 0..10_000 {
        let request = http::Request::get(format!("{CONFIG_MAPS}?watch=1&resourceVersion=0"))
            .body(String::new())
            .unwrap();
        watches.push(wire.server.service().oneshot(request).await.unwrap().into_body());
    }
    assert_eq!(
        wire.post(CONFIG_MAPS, r#"{"metadata":{"name":"seen-by-all"}}"#)
            .await
            .code,
        201
    );
    for watch in &mut watches {
        let line = watch.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(String::from_utf8_lossy(&line).contains("seen-by-all"));
    }
    drop(watches);
    assert_eq!(wire.get(CONFIG_MAPS).await.code, 200);
}
