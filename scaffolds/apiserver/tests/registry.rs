//! The write verbs, compared answer by answer with kube-apiserver 1.36.3. The transcripts are in `registry/`.
//! Placeholders replace UIDs, resourceVersions, times and random suffixes; equal values have equal placeholders, so
//! equality is compared too.

use http::Request;
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::{ApiServer, Options, controllers::Controllers};
use serde_json::Value;
use std::collections::BTreeMap;
use tower::ServiceExt;

/// Gives each UID and resourceVersion a placeholder, in the order of their occurrence.
#[derive(Default)]
struct Normal {
    uids: BTreeMap<String, String>,
    versions: BTreeMap<String, String>,
}

impl Normal {
    fn walk(&mut self, value: &mut Value, key: &str) {
        match value {
            Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| self.walk(value, key)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.walk(item, "")),
            Value::String(text) => *text = self.text(text, key),
            _ => {}
        }
    }

    fn text(&mut self, text: &str, key: &str) -> String {
        let is_uid = text.len() == 36 && text.as_bytes().get(8) == Some(&b'-');
        if key == "uid" && is_uid {
            let next = format!("<uid-{}>", self.uids.len());
            return self.uids.entry(text.to_owned()).or_insert(next).clone();
        }
        if key == "resourceVersion" && !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
            let next = format!("<rv-{}>", self.versions.len());
            return self.versions.entry(text.to_owned()).or_insert(next).clone();
        }
        if text.len() >= 20 && text.ends_with('Z') && text.starts_with("20") && !text.starts_with("2020") {
            return "<time>".to_owned();
        }
        let mut text = text.to_owned();
        for (uid, name) in &self.uids {
            text = text.replace(uid, name);
        }
        for (version, name) in &self.versions {
            text = text.replace(&format!("in record ({version})"), &format!("in record ({name})"));
        }
        suffixed(&text)
    }

    fn fill(&self, text: &str) -> String {
        let names = self.uids.iter().chain(&self.versions);
        names.fold(text.to_owned(), |text, (value, name)| text.replace(name, value))
    }
}

/// Normalises parts of an answer that are in random order or in the order of Go fields: errors of several map entries,
/// and quoted documents.
fn settle(answer: &mut Value) {
    if let Some(causes) = answer.pointer_mut("/details/causes").and_then(Value::as_array_mut) {
        causes.iter_mut().for_each(|cause| unquote(&mut cause["message"]));
        causes.sort_by_key(Value::to_string);
        if causes.len() > 1 {
            answer["message"] = Value::from("as the causes say");
        }
    }
    unquote(&mut answer["message"]);
}

/// Removes the document from `Invalid value: "{…}": why`, and sorts unknown fields.
fn unquote(message: &mut Value) {
    let Some(text) = message.as_str() else { return };
    let mut text = text.to_owned();
    if let (Some(start), Some(end)) = (text.find("\"{"), text.rfind("}\"")) {
        text.replace_range(start..=end + 1, "<document>");
    }
    if let Some((before, list)) = text.clone().split_once("strict decoding error: ") {
        let mut fields: Vec<&str> = list.split(", ").collect();
        fields.sort_unstable();
        text = format!("{before}strict decoding error: {}", fields.join(", "));
    }
    *message = Value::from(text);
}

/// Replaces the random suffixes of generated names.
fn suffixed(text: &str) -> String {
    let mut out = text.to_owned();
    for prefix in ["foo-", "Foo_-", &"a".repeat(58)] {
        let mut from = 0;
        while let Some(at) = out[from..].find(prefix) {
            let start = from + at + prefix.len();
            from = start;
            let is_random = |byte: &u8| b"bcdfghjklmnpqrstvwxz2456789".contains(byte);
            let random = out
                .as_bytes()
                .iter()
                .skip(start)
                .take_while(|byte| is_random(byte))
                .count();
            if random == 5 {
                out.replace_range(start..start + 5, "<x>");
            }
        }
    }
    out
}

/// Sends the requests of a transcript, and returns the differences in the answers.
async fn replay(transcript: &str) -> Vec<String> {
    let server = ApiServer::new(Options {
        controllers: Controllers::NONE,
        ..Options::default()
    });
    let steps: Vec<Value> = serde_json::from_str(transcript).unwrap();
    let mut normal = Normal::default();
    let mut differences = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let (method, path) = step["request"].as_str().unwrap().split_once(' ').unwrap();
        let body = normal.fill(step["body"].as_str().unwrap_or_default());
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("user-agent", "probe/1.0");
        if let Some(media_type) = step["type"].as_str() {
            request = request.header("content-type", media_type);
        }
        let request = request.body(Full::<bytes::Bytes>::from(body)).unwrap();
        let (parts, body) = server.service().oneshot(request).await.unwrap().into_parts();
        let (code, text) = (parts.status.as_u16(), body.collect().await.unwrap().to_bytes());
        let mut warned: Vec<&str> = parts
            .headers
            .get_all("warning")
            .iter()
            .filter_map(|it| it.to_str().ok())
            .collect();
        warned.sort_unstable();
        let mut found = serde_json::from_slice(&text).unwrap_or_else(|_| Value::from(String::from_utf8_lossy(&text)));
        if found["kind"].as_str().is_some_and(|kind| kind.ends_with("List")) {
            found["metadata"].as_object_mut().unwrap().remove("resourceVersion");
        }
        normal.walk(&mut found, "");
        let mut expected = step.get("answer").cloned();
        if found["kind"] == "Status" {
            settle(&mut found);
            expected
                .iter_mut()
                .filter(|answer| answer["kind"] == "Status")
                .for_each(settle);
        }
        let same_warnings = warnings(step) == warned;
        if step["code"] != code || !same_warnings || expected.as_ref().is_some_and(|answer| *answer != found) {
            differences.push(format!(
                "{number}: {} {}\n  expected {} {:?} {}\n  found    {} {:?} {found}",
                step["request"],
                step["body"].as_str().unwrap_or_default(),
                step["code"],
                warnings(step),
                expected.unwrap_or_default(),
                code,
                warned,
            ));
        }
    }
    differences
}

fn warnings(step: &Value) -> Vec<String> {
    let list = step["warnings"].as_array().into_iter().flatten();
    let mut list: Vec<String> = list.filter_map(Value::as_str).map(str::to_owned).collect();
    list.sort_unstable();
    list
}

async fn same(transcript: &str) {
    let differences = replay(transcript).await;
    assert!(
        differences.is_empty(),
        "{} differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[tokio::test]
async fn objects_are_created_as_by_the_real_server() {
    same(include_str!("registry/create.json")).await;
}

#[tokio::test]
async fn objects_are_updated_and_deleted_as_by_the_real_server() {
    same(include_str!("registry/updates.json")).await;
}

#[tokio::test]
async fn metadata_is_checked_as_by_the_real_server() {
    same(include_str!("registry/metadata.json")).await;
}

#[tokio::test]
async fn objects_are_patched_as_by_the_real_server() {
    same(include_str!("registry/patches.json")).await;
}

#[tokio::test]
async fn scales_are_read_and_written_as_by_the_real_server() {
    same(include_str!("registry/scales.json")).await;
}

#[tokio::test]
async fn pods_are_deleted_gracefully_as_by_the_real_server() {
    same(include_str!("registry/deletes.json")).await;
}

#[tokio::test]
async fn custom_objects_are_written_as_by_the_real_server() {
    same(include_str!("registry/custom.json")).await;
}
