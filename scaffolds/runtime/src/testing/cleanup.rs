//! The end of a test on the user's own cluster: its namespace is deleted, with all that is in it.

use std::path::Path;

use k8s_openapi::api::core::v1::Namespace;
use kube::{
    Api, Client, ResourceExt,
    api::{ApiResource, DeleteParams, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams},
};
use kubewright_schema::files;
use serde_json::{Value, json};

use super::{TestCluster, builder::Server, client_of};
use crate::error::{Error, Result};

impl Drop for TestCluster {
    fn drop(&mut self) {
        let Server::Existing = self.server else {
            return;
        };
        // A client needs the runtime that created it, and a drop must not block that runtime.
        let (config, namespace) = (self.config.clone(), self.namespace.clone());
        let deleted = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let client = client_of(config).map_err(std::io::Error::other)?;
                let namespaces: Api<Namespace> = Api::all(client.clone());
                let deleted = namespaces.delete(&namespace, &DeleteParams::default()).await;
                deleted.map_err(std::io::Error::other)?;
                release_objects(client, &namespace).await.map_err(std::io::Error::other)
            })
        });
        let why = match deleted.join() {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the thread panicked".to_owned(),
        };
        eprintln!("warning: the namespace `{}` may be left: {why}", self.namespace);
    }
}

/// Removes the finalizers of the project's objects in a namespace that is being deleted: no operator runs that would, and the namespace would
/// never be gone.
async fn release_objects(client: Client, namespace: &str) -> Result<()> {
    let mut definitions = files::documents(Path::new("config/crd/bases")).map_err(Error::Setup)?;
    definitions.retain(|definition| definition["spec"]["scope"] == "Namespaced");
    let mut failed = Ok(());
    for definition in &definitions {
        let (spec, text) = (&definition["spec"], |value: &Value| {
            value.as_str().unwrap_or_default().to_owned()
        });
        // Needs no converter.
        let mut versions = spec["versions"].as_array().into_iter().flatten();
        let stored = versions
            .find(|version| version["storage"] == true)
            .unwrap_or(&Value::Null);
        let kind = GroupVersionKind::gvk(
            &text(&spec["group"]),
            &text(&stored["name"]),
            &text(&spec["names"]["kind"]),
        );
        let resource = ApiResource::from_gvk_with_plural(&kind, &text(&spec["names"]["plural"]));
        let objects: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, &resource);
        let Some(listed) = existing(objects.list(&ListParams::default()).await)? else {
            continue;
        };
        for object in listed
            .items
            .iter()
            .filter(|object| object.metadata.finalizers.is_some())
        {
            let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
            // One that cannot be patched keeps no other from being gone.
            let patched = objects.patch(&object.name_any(), &PatchParams::default(), &patch).await;
            failed = failed.and(existing(patched).map(drop));
        }
    }
    failed
}

/// `None` for what does not exist.
fn existing<T>(found: kube::Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(error.into()),
    }
}
