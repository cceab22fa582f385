//! The ConfigMap `kube-root-ca.crt` of every namespace: the certificate authority by which Pods verify the server.

use std::sync::Arc;

use serde_json::json;

use super::{act, namespaces};
use crate::{effects::Cluster, status::Status, store::Key};

pub(super) const RESOURCE: &str = "/configmaps";
const NAME: &str = "kube-root-ca.crt";
/// The annotation and its text are upstream's.
const DESCRIPTION: (&str, &str) = (
    "kubernetes.io/description",
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal \
     service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.",
);

/// The key of the ConfigMap of a namespace.
pub(super) fn key(namespace: &str) -> Key {
    Key::new(RESOURCE, namespace, NAME)
}

/// Creates the ConfigMap of a namespace that is not terminating, or restores its contents.
///
/// # Errors
/// The Status of the refused write.
pub(super) async fn provide(cluster: &Arc<Cluster>, key: &Key, authority: &str) -> Result<(), Status> {
    if authority.is_empty() || !namespaces::is_active(&cluster.core, &key.namespace) {
        return Ok(());
    }
    let (name, description) = DESCRIPTION;
    let wanted = json!({"metadata": {"name": NAME, "annotations": {name: description}}, "data": {"ca.crt": authority}});
    match act::object(&cluster.core, key) {
        None => act::post(cluster, key, &wanted).await?,
        Some(present) if present["data"] == wanted["data"] => return Ok(()),
        Some(mut present) => {
            present["data"] = wanted["data"].clone();
            act::put(cluster, key, "", &present).await?
        }
    };
    Ok(())
}
