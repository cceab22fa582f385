//! The policies of an operator under test, as a deployment would have them, for the namespace of the test.

use std::path::Path;

use kubewright_schema::files;
use serde_json::{Value, json};

use super::{TestCluster, fixtures::apply_one};
use crate::error::{Error, Result};

/// The folder that `make manifests` writes.
const FOLDER: &str = "config/policy";

/// Applies the policies of `config/policy`, for this namespace alone; none on a user's own cluster, where they would stay.
/// kube-apiserver compiles new policies once a second.
pub(super) async fn deploy(cluster: &TestCluster) -> Result<()> {
    let mut objects = files::documents(Path::new(FOLDER)).map_err(Error::Setup)?;
    objects.retain(|object| object["apiVersion"] == "admissionregistration.k8s.io/v1");
    if cluster.is_existing() {
        return Ok(());
    }
    for object in &objects {
        apply_one(&cluster.client, &cluster.namespace, placed(object, &cluster.namespace)).await?;
    }
    Ok(())
}

/// The object for a test in this namespace, with its name as a prefix: a binding is about this namespace only.
fn placed(object: &Value, namespace: &str) -> Value {
    let mut placed = object.clone();
    let prefixed = |name: &Value| json!(format!("{namespace}-{}", name.as_str().unwrap_or_default()));
    placed["metadata"] = json!({"name": prefixed(&object["metadata"]["name"])});
    if !object["spec"]["policyName"].is_null() {
        placed["spec"]["policyName"] = prefixed(&object["spec"]["policyName"]);
        let here = json!({"matchLabels": {"kubernetes.io/metadata.name": namespace}});
        placed["spec"]["matchResources"] = json!({"namespaceSelector": here});
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binding_is_about_the_namespace_of_its_test() {
        let binding = json!({
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": "names", "labels": {"a": "b"}},
            "spec": {"policyName": "names"},
        });
        let here = json!({"matchLabels": {"kubernetes.io/metadata.name": "test-1"}});
        assert_eq!(
            placed(&binding, "test-1"),
            json!({
                "kind": "ValidatingAdmissionPolicyBinding",
                "metadata": {"name": "test-1-names"},
                "spec": {"policyName": "test-1-names", "matchResources": {"namespaceSelector": here}},
            })
        );
        let policy = json!({"kind": "ValidatingAdmissionPolicy", "metadata": {"name": "names"}, "spec": {}});
        assert_eq!(placed(&policy, "test-1")["metadata"], json!({"name": "test-1-names"}));
    }
}
