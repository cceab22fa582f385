//! Namespaces for tests.

use anyhow::Result;
use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Client,
    api::{Api, ObjectMeta, PostParams},
};

/// Creates a namespace.
///
/// # Errors
///
/// If the request fails, for example because the namespace exists.
pub async fn make_namespace(client: &Client, name: &str) -> Result<()> {
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        ..ObjectMeta::default()
    };
    let namespace = Namespace {
        metadata,
        ..Namespace::default()
    };
    Api::<Namespace>::all(client.clone())
        .create(&PostParams::default(), &namespace)
        .await?;
    Ok(())
}
