//! Requests for FooBars in each of their versions.

use http::Request;
use kube::Client;
use serde_json::{Value, json};

use super::send;

/// The FooBars of one namespace.
#[derive(Clone, Copy)]
pub(super) struct FooBars<'a> {
    pub(super) client: &'a Client,
    pub(super) namespace: &'a str,
}

impl FooBars<'_> {
    pub(super) fn path(&self, version: &str) -> String {
        format!("/apis/test.example.com/{version}/namespaces/{}/foobars", self.namespace)
    }

    /// The object of this name.
    pub(super) fn object(version: &str, name: &str, spec: &Value) -> Value {
        let api_version = format!("test.example.com/{version}");
        json!({"apiVersion": api_version, "kind": "FooBar", "metadata": {"name": name}, "spec": spec})
    }

    /// Creates `a`.
    pub(super) async fn create(&self, version: &str, spec: Value) -> (u16, Value) {
        self.post(version, "", &Self::object(version, "a", &spec)).await
    }

    /// `query` is empty, or begins with a question mark.
    pub(super) async fn post(&self, version: &str, query: &str, object: &Value) -> (u16, Value) {
        let request = Request::post(format!("{}{query}", self.path(version)));
        send(self.client, request.header("content-type", "application/json"), object).await
    }

    pub(super) async fn get(&self, version: &str) -> (u16, Value) {
        self.read(version, "a").await
    }

    pub(super) async fn read(&self, version: &str, name: &str) -> (u16, Value) {
        let request = Request::get(format!("{}/{name}", self.path(version)));
        send(self.client, request, &Value::Null).await
    }

    /// All of them; `None` if they cannot be listed.
    pub(super) async fn list(&self, version: &str) -> Option<Vec<Value>> {
        let request = Request::get(self.path(version));
        let (code, list) = send(self.client, request, &Value::Null).await;
        list["items"].as_array().cloned().filter(|_| code == 200)
    }

    pub(super) async fn replace(&self, version: &str, object: &Value) -> (u16, Value) {
        let request = Request::put(format!("{}/a", self.path(version)));
        send(self.client, request.header("content-type", "application/json"), object).await
    }

    /// A JSON merge patch.
    pub(super) async fn patch(&self, version: &str, name: &str, patch: &Value) -> (u16, Value) {
        let request = Request::patch(format!("{}/{name}", self.path(version)));
        let request = request.header("content-type", "application/merge-patch+json");
        send(self.client, request, patch).await
    }

    pub(super) async fn delete(&self, version: &str, name: &str) -> (u16, Value) {
        let request = Request::delete(format!("{}/{name}", self.path(version)));
        send(self.client, request, &Value::Null).await
    }

    /// Applies `a` as this field manager.
    pub(super) async fn apply(&self, manager: &str, version: &str, spec: Value) -> Value {
        let request = Request::patch(format!("{}/a?fieldManager={manager}", self.path(version)));
        let request = request.header("content-type", "application/apply-patch+yaml");
        let (code, answer) = send(self.client, request, &Self::object(version, "a", &spec)).await;
        assert!(code < 300, "{answer}");
        answer
    }
}
