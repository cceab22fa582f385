//! Bodies in Protobuf that a real kubectl sent (`protobuf.jsonl`, written by `fidelity record protobuf`), and others that Go's
//! types wrote (`forms.jsonl`). They create the same objects as the same objects in JSON.

use http::{Request, header};
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::ApiServer;
use recordings::Exchange;
use serde_json::{Value, json};
use tower::ServiceExt;

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// A command, the path of its POST, the body, and the same object in JSON unless it is a review.
struct Recorded {
    command: String,
    path: String,
    body: Vec<u8>,
    json: Option<String>,
}

fn recorded() -> Vec<Recorded> {
    let read = |line: Exchange<String, Value>| Recorded {
        command: line.asked,
        path: line.answered["path"].as_str().unwrap().to_owned(),
        body: bytes_of(line.answered["protobuf"].as_str().unwrap()),
        json: line.answered.get("json").map(Value::to_string),
    };
    recordings::read(include_str!("protobuf.jsonl"))
        .into_iter()
        .map(read)
        .collect()
}

fn bytes_of(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

async fn post(server: &ApiServer, path: &str, content_type: &str, body: Vec<u8>) -> (u16, Value) {
    let request = Request::post(path).header(header::CONTENT_TYPE, content_type);
    let request = request.body(Full::<bytes::Bytes>::from(body)).unwrap();
    let (parts, body) = server.service().oneshot(request).await.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (parts.status.as_u16(), serde_json::from_slice(&body).unwrap())
}

/// The object without values that differ for each object.
fn comparable(mut object: Value) -> Value {
    for field in ["uid", "creationTimestamp", "managedFields"] {
        object["metadata"].as_object_mut().unwrap().remove(field);
    }
    let text = object.to_string();
    let uid = object.pointer("/spec/selector/matchLabels/batch.kubernetes.io~1controller-uid");
    match uid.and_then(Value::as_str) {
        Some(uid) => serde_json::from_str(&text.replace(uid, "<uid>")).unwrap(),
        None => object,
    }
}

#[tokio::test]
async fn bodies_from_kubectl_become_the_objects_that_it_prints() {
    let server = ApiServer::new(Default::default());
    let objects = recorded().into_iter().filter_map(|it| Some((it.json.clone()?, it)));
    let mut count = 0;
    for (json, recorded) in objects {
        // Every create allocates other addresses and ports.
        let path = format!("{}&dryRun=All", recorded.path);
        let (code, sent) = post(&server, &path, PROTOBUF, recorded.body).await;
        assert_eq!(code, 201, "{}: {sent}", recorded.command);
        let (code, printed) = post(&server, &path, "application/json", json.into()).await;
        assert_eq!(code, 201, "{}: {printed}", recorded.command);
        assert_eq!(comparable(sent), comparable(printed), "{}", recorded.command);
        count += 1;
    }
    assert!(count > 15, "{count}");
}

/// Objects of every kind in both encodings, written by Go's types (`fidelity record forms`). Most are invalid, and refused in
/// the same words; the last definition of a kind is valid.
#[tokio::test]
async fn both_encodings_of_an_object_have_the_same_answer() {
    let server = ApiServer::new(Default::default());
    let (mut refused, mut accepted) = (0, 0);
    for line in recordings::read::<String, Value>(include_str!("../forms.jsonl")) {
        let (version, kind) = line.asked.split_once(' ').unwrap();
        let (body, text) = (
            line.answered["protobuf"].as_str().unwrap(),
            line.answered["json"].to_string(),
        );
        let Some(path) = path_of(&server, version, kind).await else {
            continue;
        };
        let (code, sent) = post(&server, &path, PROTOBUF, bytes_of(body)).await;
        let (expected, written) = post(&server, &path, "application/json", text.clone().into()).await;
        if code == 409 || expected == 409 {
            continue;
        }
        assert_eq!(code, expected, "{text}: {sent}");
        assert!(code == 201 || !text.contains("things.example.com"), "{sent}");
        match code {
            201 => accepted += 1,
            _ => refused += 1,
        }
        let said = |answer: Value| {
            let is_status = answer["kind"] == "Status";
            let name = match is_status {
                true => &answer["details"]["name"],
                false => &answer["metadata"]["name"],
            };
            let name = name.as_str().unwrap_or_default().to_owned();
            let answer = if is_status { answer } else { comparable(answer) };
            match text.contains("generateName") && name.len() > 5 {
                true => without_uid(&answer.to_string()).replace(&name, "<generated>"),
                false => without_uid(&answer.to_string()),
            }
        };
        assert_eq!(said(sent), said(written), "{text}");
    }
    assert!(accepted >= 5 && refused > 50, "{accepted}, {refused}");
}

/// A message without the uid that the selector of a new Job has.
fn without_uid(message: &str) -> String {
    const BEFORE: &str = r#"controller-uid\":\""#;
    let mut parts = message.split(BEFORE);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + &part["00000000-0000-0000-0000-000000000000".len()..]
    })
}

/// The collection of a kind in the namespace `default`, for a dry run.
async fn path_of(server: &ApiServer, version: &str, kind: &str) -> Option<String> {
    let base = if version.contains('/') { "apis" } else { "api" };
    let request = Request::get(format!("/{base}/{version}"))
        .body(Full::<bytes::Bytes>::default())
        .unwrap();
    let body = server.service().oneshot(request).await.unwrap().into_body();
    let list: Value = serde_json::from_slice(&body.collect().await.unwrap().to_bytes()).unwrap();
    let resources = list["resources"].as_array()?;
    let resource = resources
        .iter()
        .find(|it| it["kind"] == kind && !it["name"].as_str().unwrap().contains('/'))?;
    let namespace = match resource["namespaced"] == true {
        true => "namespaces/default/",
        false => "",
    };
    let plural = resource["name"].as_str()?;
    Some(format!("/{base}/{version}/{namespace}{plural}?dryRun=All"))
}

#[tokio::test]
async fn reviews_and_token_requests_are_answered() {
    let server = ApiServer::new(Default::default());
    let account = json!({"metadata": {"name": "default"}}).to_string();
    let accounts = "/api/v1/namespaces/default/serviceaccounts";
    post(&server, accounts, "application/json", account.into()).await;
    for recorded in recorded().into_iter().filter(|it| it.json.is_none()) {
        let (code, answer) = post(&server, &recorded.path, PROTOBUF, recorded.body).await;
        assert_eq!(code, 201, "{}: {answer}", recorded.command);
        let expected = match recorded
            .command
            .split(' ')
            .take(2)
            .collect::<Vec<_>>()
            .join(" ")
            .as_str()
        {
            "auth whoami" => answer["status"]["userInfo"]["username"] == "admin",
            "create token" => answer["spec"]["expirationSeconds"] == 600 && answer["status"]["token"].is_string(),
            _ if recorded.command.contains("--list") => answer["status"]["resourceRules"].is_array(),
            _ => answer["status"]["allowed"] == true,
        };
        assert!(expected, "{}: {answer}", recorded.command);
    }
}

#[tokio::test]
async fn a_body_truncated_at_any_byte_does_not_break_the_server() {
    let server = ApiServer::new(Default::default());
    for recorded in recorded() {
        for end in 0..recorded.body.len() {
            let path = format!("{}&dryRun=All", recorded.path);
            let (code, answer) = post(&server, &path, PROTOBUF, recorded.body[..end].to_vec()).await;
            assert!(
                matches!(code, 201 | 400 | 404 | 422),
                "{} up to {end}: {answer}",
                recorded.command
            );
        }
    }
    let strange = b"k8s\0\x0a\x0a\x0a\x02v1\x12\x04Nope".to_vec();
    let (code, answer) = post(&server, "/api/v1/namespaces", PROTOBUF, strange).await;
    assert!(
        code == 400 && answer["message"].as_str().unwrap().contains("no kind \"Nope\""),
        "{answer}"
    );
}
