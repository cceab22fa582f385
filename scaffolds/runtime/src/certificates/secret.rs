//! The Secret that keeps the certificates.

use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};
use kubewright_machinery::base64::{self, Encoding};
use serde_json::{Value, json};
use tracing::warn;

use super::plan::State;
use crate::error::{Error, Result};

/// The key of all that the operator itself needs. The others are for other programs, under their usual names.
const STATE: &str = "state.json";

/// The state that a Secret keeps; `None` if it keeps none, or one that cannot be read.
pub fn read(secret: &Secret) -> Option<State> {
    let text = secret.data.as_ref()?.get(STATE)?;
    serde_json::from_slice(&text.0)
        .inspect_err(|error| warn!("`{STATE}` of the certificates' Secret cannot be read, and is replaced: {error}"))
        .ok()
}

/// Writes a state into the Secret, unless it has changed since.
///
/// # Errors
///
/// If it cannot be written. A Secret that has changed is none: its new state will be seen.
pub async fn write(client: &Client, secret: &Secret, state: &State, manager: &str) -> Result<()> {
    let (name, namespace) = (secret.metadata.name.as_deref(), secret.metadata.namespace.as_deref());
    let (name, namespace) = (name.unwrap_or_default(), namespace.unwrap_or_default());
    let api: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let patch = Patch::Apply(json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "resourceVersion": secret.metadata.resource_version},
        "data": data(state),
    }));
    let written = api.patch(name, &PatchParams::apply(manager).force(), &patch).await;
    unless_conflict(written.map(|_| ()))
}

fn data(state: &State) -> Value {
    let texts = [
        (STATE, json!(state).to_string()),
        ("ca.crt", state.bundle()),
        ("tls.crt", state.leaf.pem()),
        ("tls.key", state.leaf.key_pem()),
    ];
    let entries = texts.map(|(key, text)| {
        (
            key.to_owned(),
            json!(base64::encode(text.as_bytes(), Encoding::Standard)),
        )
    });
    Value::Object(entries.into_iter().collect())
}

/// A conflict means that another process was faster.
pub(super) fn unless_conflict(written: kube::Result<()>) -> Result<()> {
    match written.map_err(Error::from) {
        Err(error) if error.code() == Some(409) => Ok(()),
        written => written,
    }
}
