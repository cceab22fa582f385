//! Objects in etcd: the API server does not show the version in which it has stored an object.

use std::collections::BTreeMap;

use anyhow::Result;
use k8s_openapi::ByteString;
use kube::{Client, Config};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ControlPlane;

/// The answer to a range request.
#[derive(Deserialize)]
struct Range {
    #[serde(default)]
    kvs: Vec<Pair>,
}

#[derive(Deserialize)]
struct Pair {
    key: ByteString,
    value: ByteString,
    /// A number as a string.
    mod_revision: String,
}

/// An object in etcd.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// As it is stored: without a resourceVersion.
    pub object: Value,
    /// The revision at which it was last written, which clients see as its resourceVersion.
    pub revision: u64,
}

impl ControlPlane {
    /// The objects of a custom kind as etcd has them, by their keys in it. The folder is group and plural, as
    /// `example.com/things`.
    ///
    /// # Errors
    ///
    /// If etcd does not answer, or something else than JSON is stored there.
    pub async fn stored(&self, folder: &str) -> Result<BTreeMap<String, Stored>> {
        let client = Client::try_from(Config::new(self.etcd().parse()?))?;
        // The range ends before the first key that follows the folder: `0` is what follows `/`.
        let [first, end] = ["/", "0"].map(|last| ByteString(format!("/registry/{folder}{last}").into_bytes()));
        let body = json!({"key": first, "range_end": end}).to_string().into_bytes();
        let request = http::Request::post("/v3/kv/range").header("content-type", "application/json");
        let range: Range = client.request(request.body(body)?).await?;
        let stored = |pair: Pair| -> Result<_> {
            let object = serde_json::from_slice(&pair.value.0)?;
            let revision = pair.mod_revision.parse()?;
            Ok((String::from_utf8(pair.key.0)?, Stored { object, revision }))
        };
        range.kvs.into_iter().map(stored).collect()
    }
}
