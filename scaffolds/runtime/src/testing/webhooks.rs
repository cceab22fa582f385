//! The webhooks of an operator under test: its configurations, at a URL on loopback.

use std::path::Path;

use kubewright_schema::files;
use serde_json::{Value, json};

use super::{TestCluster, fixtures::apply_one};
use crate::{
    error::{Error, Result},
    webhook::component::{CONFIGURATIONS, SECRET},
};

/// The folder that `make manifests` writes.
const FOLDER: &str = "config/webhook";

/// The webhooks of one operator, with the namespace's name as a prefix of their names, as in a deployment.
pub(super) struct Webhooks {
    objects: Vec<Value>,
    namespace: String,
    port: u16,
}

impl Webhooks {
    /// Reads `config/webhook`, for a server at this port; `None` if there is none, and on a user's own cluster, which
    /// cannot call programs on this machine.
    pub(super) fn read(cluster: &TestCluster, port: u16) -> Result<Option<Self>> {
        let mut objects = files::documents(Path::new(FOLDER)).map_err(Error::Setup)?;
        objects.retain(|object| is_configuration(object) || object["kind"] == "Secret");
        if objects.is_empty() || !cluster.calls_webhooks() {
            return Ok(None);
        }
        let namespace = cluster.namespace().to_owned();
        let objects = objects.iter().map(|object| placed(object, &namespace, port)).collect();
        Ok(Some(Self {
            objects,
            namespace,
            port,
        }))
    }

    /// The flags with which the operator serves them.
    pub(super) fn flags(&self) -> [String; 4] {
        [
            format!("--webhook-bind-address=127.0.0.1:{}", self.port),
            format!("--webhook-name-prefix={}-", self.namespace),
            "--webhook-host=127.0.0.1".to_owned(),
            format!("--webhook-url=https://127.0.0.1:{}", self.port),
        ]
    }

    /// Applies them.
    pub(super) async fn deploy(&self, cluster: &TestCluster) -> Result<()> {
        for object in self.objects.iter().cloned() {
            apply_one(&cluster.client, &self.namespace, object).await?;
        }
        Ok(())
    }
}

fn is_configuration(object: &Value) -> bool {
    CONFIGURATIONS.iter().any(|it| object["kind"] == it.kind)
}

/// Whether kustomize puts its prefix before this name in a role.
pub(super) fn is_prefixed(name: &str) -> bool {
    name == SECRET || CONFIGURATIONS.iter().any(|it| name == it.name)
}

/// The object for a test in this namespace: a configuration names a URL in place of the Service, and other namespaces are
/// none of its business.
fn placed(object: &Value, namespace: &str, port: u16) -> Value {
    let mut placed = object.clone();
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    placed["metadata"] = json!({"name": format!("{namespace}-{name}")});
    let hooks = placed.get_mut("webhooks").and_then(Value::as_array_mut);
    for hook in hooks.into_iter().flatten() {
        let path = hook["clientConfig"]["service"]["path"].as_str().unwrap_or_default();
        hook["clientConfig"] = json!({"url": format!("https://127.0.0.1:{port}{path}")});
        if hook["rules"][0]["scope"] == "Namespaced" {
            hook["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"] = json!(namespace);
        }
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_names_the_program_under_test() {
        let service = json!({"name": "webhook-service", "namespace": "system", "path": "/validate-x"});
        let hook = json!({"name": "a", "clientConfig": {"service": service}, "rules": [{"scope": "Namespaced"}]});
        let object = json!({"kind": "ValidatingWebhookConfiguration", "metadata": {"name": "v"}, "webhooks": [hook]});
        assert!(is_configuration(&object));
        let placed = placed(&object, "test-1", 4000);
        assert_eq!(placed["metadata"], json!({"name": "test-1-v"}));
        assert_eq!(
            placed["webhooks"][0]["clientConfig"],
            json!({"url": "https://127.0.0.1:4000/validate-x"})
        );
        let only_here = json!({"matchLabels": {"kubernetes.io/metadata.name": "test-1"}});
        assert_eq!(placed["webhooks"][0]["namespaceSelector"], only_here);
    }
}
