//! The API server's requests, from its audit log.

use std::{
    fs::File,
    io::{BufRead, BufReader, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use serde::Deserialize;

/// Logs every request with its user, object and response code; watches when they start, other requests when they are
/// answered.
pub(crate) const POLICY: &str = r#"{
  "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
  "rules": [{"level": "Metadata"}]
}"#;

/// The audit log of one control plane.
#[derive(Clone, Debug)]
pub struct Audit {
    log: PathBuf,
}

/// A position in the audit log.
#[derive(Clone, Copy, Debug)]
pub struct Mark(u64);

/// One request that was answered, or a watch that was started.
#[derive(Clone, Debug)]
pub struct Request {
    /// `system:serviceaccount:NAMESPACE:NAME` for a service account.
    pub user: String,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// Plural, with the subresource if there is one: `foobars`, `foobars/status`.
    pub resource: String,
    /// Empty for cluster-wide requests.
    pub namespace: String,
    /// Empty for lists and watches.
    pub name: String,
    /// The HTTP status.
    pub code: u16,
    /// Path and query.
    pub uri: String,
    /// When it was received, in seconds since 1970.
    pub received: f64,
}

impl Request {
    /// Whether it could have changed something.
    pub fn is_write(&self) -> bool {
        matches!(
            self.verb.as_str(),
            "create" | "update" | "patch" | "delete" | "deletecollection"
        )
    }
}

impl Audit {
    pub(crate) fn new(log: &Path) -> Self {
        Self { log: log.to_owned() }
    }

    /// The current position.
    ///
    /// # Errors
    ///
    /// The file system's.
    pub fn mark(&self) -> Result<Mark> {
        Ok(Mark(std::fs::metadata(&self.log).context("no audit log")?.len()))
    }

    /// The requests that were answered since, in that order.
    ///
    /// # Errors
    ///
    /// The file system's, and a line that is not an audit event.
    pub fn since(&self, mark: Mark) -> Result<Vec<Request>> {
        let mut file = File::open(&self.log).context("no audit log")?;
        file.seek(SeekFrom::Start(mark.0))?;
        let mut requests = Vec::new();
        for line in BufReader::new(file).split(b'\n') {
            let line = line?;
            // The last line may be incomplete.
            let Ok(event) = serde_json::from_slice::<Event>(&line) else {
                continue;
            };
            requests.extend(event.request());
        }
        Ok(requests)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    stage: String,
    verb: String,
    #[serde(default)]
    user: User,
    impersonated_user: Option<User>,
    #[serde(default)]
    object_ref: ObjectRef,
    response_status: Option<Status>,
    #[serde(rename = "requestURI")]
    request_uri: String,
    request_received_timestamp: MicroTime,
}

#[derive(Default, Deserialize)]
struct User {
    #[serde(default)]
    username: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ObjectRef {
    resource: String,
    namespace: String,
    name: String,
    subresource: String,
}

#[derive(Deserialize)]
struct Status {
    code: u16,
}

impl Event {
    fn request(self) -> Option<Request> {
        // A watch has both stages; the code of its response is not known before the first one.
        let begins = self.stage == "ResponseStarted";
        if (self.verb == "watch") != begins {
            return None;
        }
        let ObjectRef {
            resource,
            namespace,
            name,
            subresource,
        } = self.object_ref;
        Some(Request {
            user: self.impersonated_user.unwrap_or(self.user).username,
            verb: self.verb,
            resource: if subresource.is_empty() {
                resource
            } else {
                format!("{resource}/{subresource}")
            },
            namespace,
            name,
            code: self.response_status.map_or(0, |status| status.code),
            uri: self.request_uri,
            received: self.request_received_timestamp.0.as_microsecond() as f64 / 1e6,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(stage: &str, verb: &str) -> Option<Request> {
        let text = format!(
            r#"{{"stage":"{stage}","verb":"{verb}","user":{{"username":"admin"}},"requestURI":"/x",
            "objectRef":{{"resource":"foobars","namespace":"a","name":"b","subresource":"status"}},
            "responseStatus":{{"metadata":{{}},"code":200}},"requestReceivedTimestamp":"1970-01-01T00:00:01.500000Z"}}"#
        );
        serde_json::from_str::<Event>(&text).unwrap().request()
    }

    #[test]
    fn a_watch_counts_when_it_starts_and_other_requests_when_they_are_answered() {
        let patch = event("ResponseComplete", "patch").unwrap();
        assert_eq!(
            (patch.resource.as_str(), patch.code, patch.is_write()),
            ("foobars/status", 200, true)
        );
        assert!(patch.is_write() && event("ResponseComplete", "watch").is_none());
        assert!(event("ResponseStarted", "watch").is_some_and(|watch| !watch.is_write()));
    }
}
