//! The client of the DNS service, which keeps one JSON document for each record.

use std::fmt::Display;
use std::time::Duration;

use k8s_openapi::serde_json::Value;
use kube::api::{DeleteParams, PostParams};
use kube::core::Request;
use kube::{Client, Config};
use kubewright_runtime::{Error, Result};

/// The path of the records.
const RECORDS: &str = "/records";

/// The time to wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The DNS service. `kube::Client` is a client of any HTTP service.
#[derive(Clone)]
pub struct Dns(Client);

impl Dns {
    /// The service at this URL. The client connects when it sends its first request.
    pub fn at(url: &str) -> Result<Self> {
        let invalid = |error: &dyn Display| Error::Setup(format!("`--dns-url {url}`: {error}"));
        let mut config = Config::new(url.parse().map_err(|error| invalid(&error))?);
        config.read_timeout = Some(TIMEOUT);
        // The controller repeats what fails, with a growing delay.
        config.default_retry = false;
        let client = Client::try_from(config).map_err(|error| invalid(&error))?;
        Ok(Self::over(client))
    }

    /// The service behind this client, such as a simulated one.
    pub fn over(client: Client) -> Self {
        Self(client)
    }

    /// Creates or replaces the record with this key, so that a repeated request changes nothing.
    pub async fn put(&self, key: &str, record: &Value) -> Result<()> {
        let body = record.to_string().into_bytes();
        let request = Request::new(RECORDS).replace(key, &PostParams::default(), body);
        let request = request.map_err(Error::retry)?;
        self.0.request_text(request).await.map_err(classified)?;
        Ok(())
    }

    /// Deletes the record with this key, if it exists.
    pub async fn delete(&self, key: &str) -> Result<()> {
        let request = Request::new(RECORDS).delete(key, &DeleteParams::default());
        let request = request.map_err(Error::retry)?;
        match self.0.request_text(request).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            // No change of the object makes this one succeed.
            deleted => deleted.map(drop).map_err(Error::retry),
        }
    }
}

/// The service refuses the content of a record with one of two codes: only a change of the spec makes such a request succeed.
/// Any other error, such as one of credentials or of the network, may be gone next time.
fn classified(error: kube::Error) -> Error {
    match error {
        kube::Error::Api(status) if matches!(status.code, 400 | 422) => Error::terminal(
            "RecordRefused",
            format!("the DNS service refuses it: {}", status.message),
        ),
        error => Error::retry(error),
    }
}
