//! Raw requests, for tests of requests that no client library would send.
#![allow(dead_code, reason = "each test uses a part")]

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request};
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::{ApiServer, Options};
use serde_json::{Value, json};
use tower::ServiceExt;

/// The path of validating admission policies, and of their bindings, up to `validatingadmission`.
const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmission";

/// Sends requests to a server within the process.
#[derive(Clone)]
pub struct Wire {
    pub server: ApiServer,
    headers: Vec<(String, String)>,
}

/// An answer.
pub struct Answer {
    pub code: u16,
    pub text: String,
    headers: http::HeaderMap,
}

/// A client of a new server.
pub fn wire() -> Wire {
    to(ApiServer::new(Options::default()))
}

/// A client of this server.
pub fn to(server: ApiServer) -> Wire {
    Wire {
        server,
        headers: Vec::new(),
    }
}

impl Wire {
    /// The same client with an additional header.
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut wire = self.clone();
        wire.headers.push((name.to_owned(), value.to_owned()));
        wire
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "").await
    }

    /// The response to a GET, once it no longer changes.
    pub async fn settled(&self, path: &str) -> Answer {
        let mut before = self.get(path).await;
        loop {
            tokio::time::sleep(Duration::from_millis(30)).await;
            let after = self.get(path).await;
            if (after.code, &after.text) == (before.code, &before.text) {
                return after;
            }
            before = after;
        }
    }

    /// POSTs JSON.
    pub async fn post(&self, path: &str, body: impl Into<Bytes>) -> Answer {
        self.with("content-type", "application/json")
            .send("POST", path, body)
            .await
    }

    /// Creates a policy that refuses an operation with a resource, for example `DELETE` of `/configmaps`.
    pub async fn refuse(&self, operation: &str, resource: &str) {
        let (group, plural) = resource.split_once('/').unwrap();
        let rule =
            json!({"apiGroups": [group], "apiVersions": ["*"], "operations": [operation], "resources": [plural]});
        let policy = json!({"metadata": {"name": "refuse"}, "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": "false", "message": "not now"}],
        }});
        let binding =
            json!({"metadata": {"name": "refuse"}, "spec": {"policyName": "refuse", "validationActions": ["Deny"]}});
        for (plural, object) in [("policies", policy), ("policybindings", binding)] {
            let answer = self.post(&format!("{POLICIES}{plural}"), object.to_string()).await;
            assert_eq!(answer.code, 201, "{}", answer.text);
        }
    }

    /// Deletes the policy of [`refuse`](Self::refuse).
    pub async fn allow(&self) {
        for plural in ["policybindings", "policies"] {
            let answer = self.send("DELETE", &format!("{POLICIES}{plural}/refuse"), "").await;
            assert_eq!(answer.code, 200, "{}", answer.text);
        }
    }

    pub async fn send(&self, method: &str, path: &str, body: impl Into<Bytes>) -> Answer {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .body(Full::new(body.into()))
            .unwrap();
        for (name, value) in &self.headers {
            let name = HeaderName::try_from(name).unwrap();
            request
                .headers_mut()
                .insert(name, HeaderValue::from_str(value).unwrap());
        }
        let (parts, body) = self.server.service().oneshot(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            code: parts.status.as_u16(),
            text: String::from_utf8_lossy(&body).into_owned(),
            headers: parts.headers,
        }
    }
}

impl Answer {
    /// The value of a header; empty if it is absent.
    pub fn header(&self, name: &str) -> String {
        self.headers
            .get(name)
            .map(|value| value.to_str().unwrap().to_owned())
            .unwrap_or_default()
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }
}
