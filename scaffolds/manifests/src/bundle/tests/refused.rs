//! Objects that OLM would leave out, or not accept, are refused by name.

use super::*;

fn refused(objects: &[Value]) -> String {
    made(objects).unwrap_err().to_string()
}

fn with(object: Value) -> Vec<Value> {
    [project(), vec![object]].concat()
}

#[test]
fn an_object_that_olm_does_not_apply_is_refused() {
    let policy = cluster(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicy",
        "foo-names",
        json!({}),
    );
    let error = refused(&with(policy));
    assert!(
        error.starts_with("OLM bundles cannot contain `ValidatingAdmissionPolicy/foo-names`"),
        "{error}"
    );
    assert!(error.contains("config/bundle/kustomization.yaml"), "{error}");
    let service = object("serving.knative.dev/v1", "Service", "foo", json!({}));
    assert!(refused(&with(service)).contains("`Service/foo`"));
    let mut role = object(RBAC, "Role", "foo-other", json!({"rules": []}));
    role["metadata"]["namespace"] = "other".into();
    assert!(refused(&with(role)).starts_with("`Role/foo-other` is in the namespace `other`"));
}

#[test]
fn what_olm_cannot_give_the_service_account_and_the_deployment_is_refused() {
    let mut objects = project();
    objects[2]["metadata"]["annotations"] = json!({"eks.amazonaws.com/role-arn": "x"});
    assert!(
        refused(&objects)
            .starts_with("OLM makes `ServiceAccount/foo-controller-manager` itself, and cannot give it `annotations`")
    );
    let mut objects = project();
    objects[2]["imagePullSecrets"] = json!([{"name": "x"}]);
    assert!(refused(&objects).contains("`imagePullSecrets`"));
    let mut objects = project();
    objects[DEPLOYMENT]["metadata"]["annotations"] = json!({"a": "b"});
    assert!(refused(&objects).starts_with("OLM makes `Deployment/foo-controller-manager` itself"));
}

#[test]
fn a_binding_without_known_rules_or_with_others_is_refused() {
    let admin = binding(
        "ClusterRoleBinding",
        "foo-admin",
        ["ClusterRole", "cluster-admin"],
        subject(),
    );
    let error = refused(&with(admin));
    assert!(
        error.starts_with(
            "`ClusterRoleBinding/foo-admin` binds the operator's ServiceAccount to `ClusterRole/cluster-admin`"
        ),
        "{error}"
    );
    let mut objects = project();
    objects[4]["aggregationRule"] = json!({"clusterRoleSelectors": []});
    assert!(refused(&objects).contains("to `ClusterRole/foo-manager-role`, whose rules"));
    let mut objects = project();
    let other = json!({"kind": "Group", "name": "others"});
    objects[7]["subjects"].as_array_mut().unwrap().push(other);
    assert!(
        refused(&objects)
            .starts_with("`ClusterRoleBinding/foo-manager` binds the operator's ServiceAccount and others")
    );
}

#[test]
fn namespaces_that_the_deployment_names_are_refused() {
    for flags in [json!(["--namespace=a,b"]), json!(["--namespace", "a"])] {
        let mut objects = project();
        container(&mut objects)["args"] = flags;
        assert!(refused(&objects).starts_with("`--namespace=a"), "{}", refused(&objects));
    }
    let mut objects = project();
    container(&mut objects)["env"] = json!([{"name": "WATCH_NAMESPACE", "value": "a"}]);
    assert!(refused(&objects).starts_with("`WATCH_NAMESPACE` selects"));
    container(&mut objects)["env"] = json!([{"name": "WATCH_NAMESPACE", "value": ""}]);
    container(&mut objects)["args"] = json!(["--namespace-selector", "team=a"]);
    assert!(made(&objects).is_ok(), "these watch all namespaces");
}

#[test]
fn a_project_without_an_operator_and_names_that_are_too_long_are_refused() {
    assert!(refused(&project()[..9]).starts_with("0 Deployments"));
    let mut objects = webhooks::serving_with("/timeoutSeconds", json!(5));
    let base = "f".repeat(40);
    let text = serde_json::to_string(&objects)
        .unwrap()
        .replace("foo-", &format!("{base}-"));
    objects = serde_json::from_str(&text).unwrap();
    assert!(refused(&objects).starts_with(&format!(
        "under OLM the name of the Service of the webhooks would be `{base}-controller-manager-service`"
    )));
}
