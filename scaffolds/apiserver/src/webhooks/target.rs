//! The address of a webhook, by its `clientConfig`.

use std::time::Duration;

use kubewright_machinery::{
    base64::{self, Encoding},
    url::Url,
};
use serde_json::Value;

/// The address of a webhook, and the verification of its certificate.
#[derive(Debug)]
pub struct Target {
    /// The name that the certificate must be valid for.
    pub(super) host: String,
    /// The host as URLs and the header `Host` have it.
    pub(super) authority: String,
    /// Begins with a slash.
    pub(super) path: String,
    pub(super) place: Place,
    /// The authorities that sign the certificate, as PEM.
    #[cfg(feature = "webhooks")]
    pub(super) trust: super::tls::Trust,
}

/// The endpoint of the connection.
#[derive(Debug)]
pub(super) enum Place {
    /// Host and port.
    Host(String),
    Service(Service),
}

/// A Service.
#[derive(Debug)]
pub(super) struct Service {
    pub namespace: String,
    pub name: String,
    pub port: u16,
}

impl Target {
    /// Reads a `clientConfig`, which has been validated.
    ///
    /// # Errors
    /// The reason that no client can be made of it.
    pub fn read(config: &Value) -> Result<Self, String> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        #[cfg(feature = "webhooks")]
        let trust = super::tls::Trust::read(&bundle(config))?;
        let service = &config["service"];
        if service.is_object() {
            let port = service["port"].as_u64().and_then(|port| u16::try_from(port).ok());
            let service = Service {
                namespace: text(&service["namespace"]),
                name: text(&service["name"]),
                port: port.unwrap_or(443),
            };
            let host = format!("{}.{}.svc", service.name, service.namespace);
            return Ok(Self {
                authority: format!("{host}:{}", service.port),
                host,
                path: joined(&text(&config["service"]["path"])),
                place: Place::Service(service),
                #[cfg(feature = "webhooks")]
                trust,
            });
        }
        let url = Url::parse(&text(&config["url"]))?;
        let (host, port) = url.split_host();
        let port = if port.is_empty() { "443" } else { port };
        let shown = if host.contains(':') {
            format!("[{host}]")
        } else {
            host.to_owned()
        };
        Ok(Self {
            host: host.to_owned(),
            path: joined(&url.escaped_path()),
            place: Place::Host(format!("{shown}:{port}")),
            #[cfg(feature = "webhooks")]
            trust,
            authority: url.host,
        })
    }

    /// The path with its query, which tells the webhook how long it has.
    pub(super) fn path_and_query(&self, timeout: Duration) -> String {
        format!("{}?timeout={}s", self.path, timeout.as_secs())
    }

    /// The URL, as messages have it.
    pub(super) fn url(&self, timeout: Duration) -> String {
        format!("https://{}{}", self.authority, self.path_and_query(timeout))
    }
}

/// As Go's client joins a path to a host (`path.Join("/", path)`): without empty segments, `.` and `..`, and without a slash
/// at the end.
fn joined(path: &str) -> String {
    let mut segments = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => _ = segments.pop(),
            segment => segments.push(segment),
        }
    }
    format!("/{}", segments.join("/"))
}

#[cfg(feature = "webhooks")]
fn bundle(config: &Value) -> Vec<u8> {
    let text = config["caBundle"].as_str().unwrap_or_default();
    base64::decode(text, Encoding::Standard).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_as_in_go() {
        for (path, sent) in [
            ("", "/"),
            ("/", "/"),
            ("/a", "/a"),
            // As envtest writes it.
            ("//a", "/a"),
            ("a//b/", "/a/b"),
            ("/a/./b/../../../c", "/c"),
        ] {
            assert_eq!(joined(path), sent, "{path}");
        }
    }
}
