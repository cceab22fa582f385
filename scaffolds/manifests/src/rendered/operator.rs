//! The operator among the objects of a project.

use super::text;
use serde_json::Value;

/// The label of the operator's Pods, as in kubebuilder's projects.
const CONTROL_PLANE: &str = "/spec/selector/matchLabels/control-plane";
/// The container with the operator.
const CONTAINER: &str = "manager";
/// The containers in a Deployment.
const CONTAINERS: &str = "/spec/template/spec/containers";

/// The reason that the operator's container is unknown.
#[derive(Debug, thiserror::Error)]
pub enum NoOperator {
    /// No Deployment is the operator's, or several could be.
    #[error(
        "{0} Deployments, and not exactly one that selects Pods by the label `control-plane: controller-manager`\n\nhint: \
         config/default has to contain ../manager"
    )]
    Deployment(usize),
    /// No container is the operator's.
    #[error(
        "the operator's Deployment has several containers, and none is called `manager`\n\nhint: see config/manager/deployment.yaml"
    )]
    Container,
}

/// The position of the operator's Deployment among `objects`: the one with the label, or the only one.
pub(crate) fn find(objects: &[&Value]) -> Result<usize, NoOperator> {
    let is_deployment = |at: &usize| text(objects[*at], "/kind") == "Deployment";
    let all: Vec<usize> = (0..objects.len()).filter(is_deployment).collect();
    let mut found = all.clone();
    found.retain(|at| text(objects[*at], CONTROL_PLANE) == "controller-manager");
    match (found.as_slice(), all.as_slice()) {
        ([one], _) | ([], [one]) => Ok(*one),
        _ => Err(NoOperator::Deployment(all.len())),
    }
}

/// The name of the ServiceAccount of the operator's Pods.
pub(crate) fn service_account(deployment: &Value) -> &str {
    let named = text(deployment, "/spec/template/spec/serviceAccountName");
    if named.is_empty() { "default" } else { named }
}

/// The position of the operator's container.
pub(crate) fn container(deployment: &Value) -> Result<usize, NoOperator> {
    let containers = deployment.pointer(CONTAINERS);
    let containers = containers
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    let named = containers.iter().position(|it| text(it, "/name") == CONTAINER);
    let only = (containers.len() == 1).then_some(0);
    named.or(only).ok_or(NoOperator::Container)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_operator_is_the_labelled_deployment_or_the_only_one() {
        let labelled = json!({"kind": "Deployment", "spec": {"selector": {"matchLabels": {"control-plane": "controller-manager"}}}});
        let other = json!({"kind": "Deployment"});
        assert_eq!(find(&[&other, &labelled]).unwrap(), 1);
        assert_eq!(find(&[&other]).unwrap(), 0);
        for (objects, count) in [(vec![], 0), (vec![&other, &other], 2), (vec![&labelled, &labelled], 2)] {
            assert!(matches!(find(&objects), Err(NoOperator::Deployment(n)) if n == count));
        }
    }
}
