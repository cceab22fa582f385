//! The operator's webhooks: what `config/webhook` has of them, and the process behind their Service.

use std::{
    io,
    net::{SocketAddr, TcpListener},
    path::Path,
};

use serde_json::json;

use super::{
    NAMESPACE,
    apply::apply,
    manifests::{self, Manifest},
};
use crate::server::ApiServer;

/// The kinds that are applied; the rest of the component changes the Deployment.
const KINDS: [&str; 4] = [
    "MutatingWebhookConfiguration",
    "Secret",
    "Service",
    "ValidatingWebhookConfiguration",
];

/// The webhooks of one operator.
#[derive(Debug)]
pub(super) struct Webhooks {
    manifests: Vec<Manifest>,
    /// The address at which the operator serves them.
    address: SocketAddr,
}

impl Webhooks {
    /// Reads `config/webhook`, and chooses a port; `None` if the folder does not exist.
    ///
    /// # Errors
    /// The first file that cannot be read, with the reason; or that there is no free port.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, String> {
        let mut manifests = manifests::in_folder(folder)?;
        manifests.retain(|manifest| KINDS.iter().any(|kind| manifest.object["kind"] == *kind));
        if manifests.is_empty() {
            return Ok(None);
        }
        for Manifest { object, .. } in &mut manifests {
            // Kustomize replaces the placeholder by the operator's namespace.
            if let Some(metadata) = object["metadata"].as_object_mut() {
                metadata.remove("namespace");
            }
            // Selectors keep it: they leave out no namespace, so that webhooks are called for objects in [`NAMESPACE`] too.
            let hooks = object.get_mut("webhooks").and_then(|hooks| hooks.as_array_mut());
            for hook in hooks.into_iter().flatten() {
                if let Some(service) = hook.pointer_mut("/clientConfig/service") {
                    service["namespace"] = json!(NAMESPACE);
                }
            }
        }
        let address = free_address().map_err(|error| format!("no free port for the operator's webhooks: {error}"))?;
        Ok(Some(Self { manifests, address }))
    }

    /// The flags with which the operator serves them here.
    pub(super) fn flags(&self) -> Vec<String> {
        let address = format!("--webhook-bind-address={}", self.address);
        vec![address, "--webhook-name-prefix=".to_owned()]
    }

    /// Applies them, and makes their Service lead to the operator.
    ///
    /// # Errors
    /// The object that is refused, with the server's message.
    pub(super) async fn deploy(&self, server: &ApiServer) -> Result<(), String> {
        for manifest in &self.manifests {
            apply(server, manifest).await?;
            let object = &manifest.object;
            if object["kind"] == "Service" {
                let name = object["metadata"]["name"].as_str().unwrap_or_default();
                server.set_backend(NAMESPACE, name, Some(self.address));
            }
        }
        Ok(())
    }
}

/// An address on loopback that nothing listens at. The operator takes it a moment later.
fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind(("127.0.0.1", 0))?.local_addr()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::server::Options;

    #[test]
    fn without_the_folder_there_are_no_webhooks() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Webhooks::read(&folder.path().join("webhook")).unwrap().is_none());
    }

    #[tokio::test]
    async fn configurations_are_applied_where_the_operator_runs() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| fs::write(folder.path().join(file), text).unwrap();
        write("deployment_patch.yaml", "- op: test\n  path: /a\n  value: b\n");
        write("kustomizeconfig.yaml", "nameReference: []\n");
        write(
            "service.yaml",
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: webhook-service\n  namespace: system\nspec:\n  ports:\n  - port: 443\n",
        );
        write(
            "manifests.yaml",
            "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata:\n  name: v\n\
             webhooks:\n- name: a.b.c\n  sideEffects: None\n  admissionReviewVersions: [v1]\n  clientConfig:\n    service:\n\
             \x20     name: webhook-service\n      namespace: system\n  rules:\n  - operations: [CREATE]\n    apiGroups: ['']\n\
             \x20   apiVersions: [v1]\n    resources: [configmaps]\n",
        );
        let webhooks = Webhooks::read(folder.path()).unwrap().unwrap();
        assert!(webhooks.flags()[0].starts_with("--webhook-bind-address=127.0.0.1:"));
        let server = ApiServer::new(Options::default());
        webhooks.deploy(&server).await.unwrap();
        let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}});
        let file = "x.yaml".into();
        let refused = super::super::apply::once(&server, &Manifest { file, object })
            .await
            .unwrap_err();
        // The call is made, to a process that does not listen.
        assert!(refused.contains("failed calling webhook \"a.b.c\""), "{refused}");
        assert!(refused.contains("connection refused"), "{refused}");
    }
}
