//! The ServiceAccount `default` of every namespace, and the Secrets with tokens of ServiceAccounts.

use std::sync::Arc;

use kubewright_machinery::base64::{self, Encoding};
use serde_json::{Value, json};

use super::{ControllerSettings, act, namespaces};
use crate::{effects::Cluster, meta, state::Core, status::Status, store::Key};

pub(super) const RESOURCE: &str = "/serviceaccounts";
pub(super) const SECRETS: &str = "/secrets";
const NAME: &str = "default";
/// The type of a Secret with a token, and its annotations about the ServiceAccount.
const TOKEN: &str = "kubernetes.io/service-account-token";
const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
const ACCOUNT_UID: &str = "kubernetes.io/service-account.uid";

/// The key of the ServiceAccount of a namespace.
pub(super) fn key(namespace: &str) -> Key {
    Key::new(RESOURCE, namespace, NAME)
}

/// Creates the ServiceAccount of a namespace that is not terminating, if it does not exist.
///
/// # Errors
/// The Status of the refused write.
pub(super) async fn provide(cluster: &Arc<Cluster>, key: &Key) -> Result<(), Status> {
    let core = &cluster.core;
    if !namespaces::is_active(core, &key.namespace) || core.store.get(key).is_some() {
        return Ok(());
    }
    act::post(cluster, key, &json!({"metadata": {"name": NAME}})).await?;
    Ok(())
}

/// The Secrets of a namespace.
pub(super) fn secrets(core: &Core, namespace: &str) -> Vec<Key> {
    let secrets = core.store.all(SECRETS, namespace).into_iter();
    secrets.map(|secret| secret.key.clone()).collect()
}

/// Fills a Secret with a token of its ServiceAccount, or deletes it if the account is gone. A token that this server does not
/// accept, as of an earlier process or of a deleted Secret, is replaced.
///
/// # Errors
/// The Status of the refused write.
pub(super) async fn fill(cluster: &Arc<Cluster>, key: &Key, settings: &ControllerSettings) -> Result<(), Status> {
    let core = &cluster.core;
    let Some(present) = act::object(core, key).filter(|secret| secret["type"] == TOKEN) else {
        return Ok(());
    };
    let annotation = |name: &str| present["metadata"]["annotations"][name].as_str().unwrap_or_default();
    let account = act::object(core, &Key::new(RESOURCE, &key.namespace, annotation(ACCOUNT_NAME)));
    let is_meant = |account: &Value| ["", meta::text(account, "uid")].contains(&annotation(ACCOUNT_UID));
    let Some(account) = account.filter(is_meant) else {
        let options = json!({"preconditions": {"uid": meta::text(&present, "uid")}});
        return act::delete(cluster, key, &options).await.map(drop);
    };
    let mut secret = present.clone();
    let mut put = |field: &str, text: &str| {
        secret["data"][field] = base64::encode(text.as_bytes(), Encoding::Standard).into();
    };
    let text = |field: &str| {
        let bytes = base64::decode(present["data"][field].as_str().unwrap_or_default(), Encoding::Standard);
        String::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
    };
    if !settings.authority.is_empty() {
        put("ca.crt", &settings.authority);
    }
    if text("namespace").is_empty() {
        put("namespace", &key.namespace);
    }
    let (tokens, now) = (&settings.authenticator.issued, core.now());
    if !matches!(tokens.know(&text("token"), &core.store, now), Some(Ok(_))) {
        let token = tokens.issue_for(&account, &present, now);
        let token = token.ok_or_else(|| Status::internal("the token cannot be signed"))?;
        put("token", &token);
    }
    let annotations = &mut secret["metadata"]["annotations"];
    annotations[ACCOUNT_UID] = json!(meta::text(&account, "uid"));
    if secret == present {
        return Ok(());
    }
    act::put(cluster, key, "", &secret).await.map(drop)
}
