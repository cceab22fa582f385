//! Deletes the namespaces of a project, if no one else uses them.

use crate::installer::{is_marked, is_of_others};
use crate::rendered::{Document, Source, text};
use serde_json::Value;

/// The objects that clusters keep in each namespace by themselves (Kubernetes, OpenShift and Istio), and those that they make for objects there.
const OF_CLUSTER: [&str; 12] = [
    "ConfigMap/istio-ca-root-cert",
    "ConfigMap/kube-root-ca.crt",
    "ConfigMap/openshift-service-ca.crt",
    "Endpoints/",
    "EndpointSlice/",
    "Event/",
    "RoleBinding/system:deployers",
    "RoleBinding/system:image-builders",
    "RoleBinding/system:image-pullers",
    "ServiceAccount/builder",
    "ServiceAccount/default",
    "ServiceAccount/deployer",
];
/// The middle of the name of a Secret that OpenShift makes for each ServiceAccount, between the account and five random characters.
const OF_ACCOUNT: &str = "-dockercfg-";

/// The namespaces among the objects of a project.
pub(super) fn all(documents: &[Document]) -> Vec<Value> {
    let objects = documents.iter().map(|document| &document.object);
    objects.filter(|it| text(it, "/kind") == "Namespace").cloned().collect()
}

/// Deletes a namespace of the project. Returns why it stays; `None` if it is gone.
///
/// # Errors
/// kubectl fails.
pub(super) fn remove(source: &Source, wanted: &Value, operator: &str) -> Result<Option<String>, String> {
    let name = text(wanted, "/metadata/name");
    let left = |why: &str| Ok(Some(format!("the namespace {name}, {why}")));
    let found = source
        .kubectl
        .output(&["get", "namespace", name, "--ignore-not-found", "--output", "name"])?;
    if found.trim().is_empty() {
        return Ok(None);
    }
    if !is_marked(wanted) {
        return left("which has no labels by which undeploy knows that deploy has made it");
    }
    if is_of_others(source, wanted)? {
        return left("which `make deploy` has not made");
    }
    let Some(others) = others(source, name, operator) else {
        return left("of which not all objects can be listed");
    };
    if !others.is_empty() {
        return left(&format!("which has objects of others: {}", others.join(" ")));
    }
    source.kubectl.run(&["delete", "namespace", name])?;
    Ok(None)
}

/// The objects of others; `None` if not all objects can be listed.
fn others(source: &Source, namespace: &str, operator: &str) -> Option<Vec<String>> {
    let kinds = [
        "api-resources",
        "--namespaced",
        "--verbs",
        "list,delete",
        "--output",
        "name",
    ];
    let kinds = source
        .kubectl
        .output(&kinds)
        .ok()?
        .lines()
        .collect::<Vec<_>>()
        .join(",");
    // OLM copies its objects into each namespace, with this label.
    let selector = format!("app.kubernetes.io/name!={operator},kubewright.dev/operator!={operator},!olm.copiedFrom");
    let form = r#"jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.ownerReferences[*].uid}{"\n"}{end}"#;
    let all = ["get", &kinds, "--namespace", namespace, "--ignore-not-found"];
    let listed = source
        .kubectl
        .output(&[&all[..], &["--selector", &selector, "--output", form]].concat());
    let lease = format!("Lease/{operator}");
    let is_of_cluster = |object: &str| {
        let is_known = OF_CLUSTER.iter().any(|known| match known.ends_with('/') {
            true => object.starts_with(known),
            false => object == *known,
        });
        let secret = object
            .strip_prefix("Secret/")
            .and_then(|name| name.split_once(OF_ACCOUNT));
        let is_of_account = |(account, random): (&str, &str)| {
            let ours = format!("{operator}-controller-manager");
            random.len() == 5 && (account == ours || ["builder", "default", "deployer"].contains(&account))
        };
        is_known || secret.is_some_and(is_of_account)
    };
    let listed = listed.ok()?;
    let lines = listed.lines().filter_map(|line| line.split_once(' '));
    let unowned = lines.filter(|(_, owners)| owners.is_empty()).map(|(object, _)| object);
    let others = unowned.filter(|object| !is_of_cluster(object) && *object != lease);
    Some(others.map(str::to_owned).collect())
}
