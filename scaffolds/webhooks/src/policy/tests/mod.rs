//! Policies as they are declared, refused, written and evaluated.

mod dynamic;
mod mutated;
mod mutating;
mod server;

use std::sync::Arc;

use k8s_openapi::api::{
    coordination::v1::Lease,
    core::v1::{ConfigMap, Namespace, Pod},
};
use serde_json::{Value, json};

use super::{component::files, expressions, registered::RegisteredPolicy, *};
use crate::{
    scope::{FailurePolicy, Operation},
    testing::Trial,
};

fn about(validation: &str) -> Policy<Validating> {
    Policy::validating::<ConfigMap>("names")
        .failure_policy(FailurePolicy::Fail)
        .validation(Validation::new(validation))
}

/// A CustomResourceDefinition that could be that of ConfigMaps, which the tests are about.
fn definitions() -> Vec<Value> {
    let names = json!({"type": "array", "items": {"type": "string"}});
    let data = json!({"type": "object", "properties": {"target": {"type": "string"}, "names": names}});
    let schema = json!({"type": "object", "properties": {"data": data}});
    let version = json!({"name": "v1", "schema": {"openAPIV3Schema": schema}});
    vec![json!({"spec": {"group": "", "names": {"plural": "configmaps"}, "versions": [version]}})]
}

#[test]
fn a_policy_and_its_binding_say_no_more_than_they_need() {
    let [policy, binding] = documents(&about(" true "), "foobar-operator");
    let metadata = json!({
        "name": "names",
        "annotations": {"kubewright.dev/namespace": ""},
        "labels": {"app.kubernetes.io/name": "foobar-operator"},
    });
    assert_eq!(
        policy,
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": metadata,
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {"matchPolicy": "Equivalent", "resourceRules": [{
                    "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
                    "resources": ["configmaps"], "scope": "Namespaced",
                }]},
                "matchConditions": [{
                    "name": "unless-deleting",
                    "expression": crate::scope::IS_KEPT,
                }],
                "validations": [{"expression": "true"}],
            },
        })
    );
    assert_eq!(binding["metadata"], metadata);
    assert_eq!(
        binding["spec"],
        json!({"policyName": "names", "validationActions": ["Deny"]})
    );
}

#[test]
fn everything_that_is_declared_is_written() {
    let policy = Policy::validating::<Namespace>("names")
        .failure_policy(FailurePolicy::Ignore)
        .operations([Operation::Create])
        .subresource("status")
        .when("other", "true")
        .variable("a", "1")
        .validation(
            Validation::new("variables.a == 1")
                .message("no")
                .message_expression("'no'")
                .reason(DenialReason::Forbidden),
        )
        .audit("who", "request.userInfo.username")
        .actions([ValidationAction::Warn, ValidationAction::Audit])
        .params(
            Params::named::<ConfigMap>("limits")
                .namespace("settings")
                .allow_missing(),
        );
    check(&policy).unwrap();
    let [policy, binding] = documents(&policy, "x");
    let spec = &policy["spec"];
    assert_eq!(spec["matchConstraints"]["resourceRules"][0]["scope"], "Cluster");
    assert_eq!(
        spec["matchConstraints"]["resourceRules"][0]["resources"],
        json!(["namespaces", "namespaces/status"])
    );
    // A creation cannot be of an object that is being deleted.
    assert_eq!(
        spec["matchConditions"],
        json!([{"name": "other", "expression": "true"}])
    );
    assert_eq!(spec["variables"], json!([{"name": "a", "expression": "1"}]));
    assert_eq!(
        spec["validations"],
        json!([{"expression": "variables.a == 1", "message": "no", "messageExpression": "'no'", "reason": "Forbidden"}])
    );
    assert_eq!(
        spec["auditAnnotations"],
        json!([{"key": "who", "valueExpression": "request.userInfo.username"}])
    );
    assert_eq!(spec["paramKind"], json!({"apiVersion": "v1", "kind": "ConfigMap"}));
    assert_eq!(binding["spec"]["validationActions"], json!(["Audit", "Warn"]));
    assert_eq!(
        binding["spec"]["paramRef"],
        json!({"name": "limits", "namespace": "settings", "parameterNotFoundAction": "Allow"})
    );
}

#[test]
fn policies_are_written_in_the_order_of_their_names() {
    let stated = |name: &str| RegisteredPolicy {
        name: name.to_owned(),
        documents: vec![json!({"name": name})],
        expressions: Arc::new(about("true")),
    };
    assert!(files(&[]).is_empty());
    let files = files(&[stated("b"), stated("a")]);
    assert_eq!(files["manifests.yaml"], [json!({"name": "a"}), json!({"name": "b"})]);
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        ["kustomization.yaml", "kustomizeconfig.yaml", "manifests.yaml"]
    );
}

#[test]
fn what_the_api_server_refuses_or_could_block_a_cluster_is_refused_before() {
    let fine = || about("true");
    check(&fine()).unwrap();
    let leases = Policy::validating::<Lease>("leases").validation(Validation::new("true"));
    let pods = Policy::validating::<Pod>("pods").validation(Validation::new("true"));
    let in_none = Policy::validating::<Namespace>("a").failure_policy(FailurePolicy::Ignore);
    for (policy, why) in [
        (leases, "every controller of the cluster needs its leases"),
        (pods, "says nothing of requests for which an expression has no value"),
        (Policy::validating::<Pod>("A b"), "that is not a name"),
        (fine().operations([]), "no operation"),
        (fine().subresource("*"), "`*` is not a subresource"),
        (fine().when("a b", "true"), "`a b` cannot be the name of a condition"),
        (
            fine().when("a", "true").when("a", "true"),
            "two conditions are named `a`",
        ),
        (fine().variable("1a", "1"), "`1a` cannot be the name of a variable"),
        (
            fine().variable("a", "1").variable("a", "1"),
            "two variables are named `a`",
        ),
        (fine().audit("a b", "''"), "`a b` cannot be the key"),
        (
            in_none
                .validation(Validation::new("true"))
                .params(Params::named::<ConfigMap>("x")),
            "there is none to find params in",
        ),
        (
            fine().actions([ValidationAction::Deny, ValidationAction::Warn]),
            "not both",
        ),
        (
            fine().validation(Validation::new("true").message("a\nb")),
            "a message is one line",
        ),
        (
            Policy::validating::<ConfigMap>("none").failure_policy(FailurePolicy::Ignore),
            "it demands nothing",
        ),
    ] {
        let refused = check(&policy).unwrap_err().to_string();
        assert!(refused.starts_with("the policy `"), "{refused}");
        assert!(refused.contains(why), "{refused}");
        assert!(refused.contains("\n\nhint: "), "{refused}");
    }
}

#[test]
fn a_wrong_expression_is_named_with_the_policy_and_a_remedy() {
    let loops = "object.data.names.all(a, object.data.names.all(b, a == b))";
    for (policy, why, hint) in [
        (
            about("objekt.x"),
            "validation 1, `objekt.x`: compilation failed",
            "it is over object",
        ),
        (about("1"), "must evaluate to bool", "it is over object"),
        (
            about("object.data.tarket == ''"),
            "undefined field 'tarket'",
            "see the fields of ConfigMap",
        ),
        (
            about("true").when("a", "variables.b"),
            "condition `a`, `variables.b`",
            "all but conditions",
        ),
        (
            about("true").variable("a", "b"),
            "variable `a`, `b`",
            "it is over object",
        ),
        (
            about("true").audit("a", "1"),
            "audit annotation `a`, `1`: must evaluate to one of",
            "it is over",
        ),
        (
            about(loops),
            "estimated cost exceeds budget by factor of",
            "`#[schemars(length(max = 100))]`",
        ),
    ] {
        let refused = expressions::check(&policy, &definitions()).unwrap_err().to_string();
        assert!(refused.starts_with("the policy `names` is refused: "), "{refused}");
        for part in [why, hint] {
            assert!(refused.contains(part), "{refused}");
        }
    }
    // Without a type, only the API server's own checks are possible.
    expressions::check(&about("object.data.tarket == ''"), &[]).unwrap();
}

#[test]
fn a_validation_that_could_be_a_rule_on_the_type_is_noted() {
    let notes = |policy| expressions::check(&policy, &definitions()).unwrap();
    let rule = || about("object.data.target != ''");
    let noted = notes(rule());
    assert!(noted[0].contains("reads nothing but the ConfigMap"), "{noted:?}");
    assert!(noted[0].contains("`#[kube(validation = …)]`"), "{noted:?}");
    for not_a_rule in [
        about("request.userInfo.username != object.data.target"),
        rule().operations([Operation::Delete]),
        rule().actions([ValidationAction::Warn]),
        rule().when("not-jane", "request.userInfo.username != 'jane'"),
    ] {
        assert_eq!(notes(not_a_rule), [""; 0]);
    }
}

fn config_map(name: &str, labels: Value) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name, "labels": labels}})).unwrap()
}

#[test]
fn a_trial_tells_what_clients_would_be_told() {
    let policy = about("object.metadata.name.startsWith(variables.prefix)")
        .variable("prefix", "namespaceObject.metadata.?labels[?'prefix'].orValue('')");
    let a = config_map("a", json!({}));
    let labelled = |prefix| Trial::create(&a).namespace_labels([("prefix", prefix)]);
    assert_eq!(Trial::create(&a).refusals(&policy), [""; 0]);
    assert_eq!(labelled("a").refusals(&policy), [""; 0]);
    assert_eq!(
        labelled("b").refusals(&policy),
        ["failed expression: object.metadata.name.startsWith(variables.prefix)"]
    );
    let with_message = about("false").validation(
        Validation::new("false")
            .message("plain")
            .message_expression("'x' + '\\n'"),
    );
    assert_eq!(
        Trial::create(&a).refusals(&with_message),
        ["failed expression: false", "x"]
    );
}

#[test]
fn a_trial_knows_what_a_policy_is_about() {
    let a = config_map("a", json!({"team": "a"}));
    let labels = |text: &str| serde_json::from_value(json!({"matchLabels": {"team": text}})).unwrap();
    let policy = || about("false");
    assert_eq!(Trial::update(&a, &a).refusals(&policy()).len(), 1);
    assert!(Trial::delete(&a).refusals(&policy()).is_empty());
    assert!(Trial::create(&a).refusals(&policy().objects(labels("b"))).is_empty());
    assert_eq!(Trial::create(&a).refusals(&policy().objects(labels("a"))).len(), 1);
    let here = || policy().namespaces(labels("a"));
    assert!(Trial::create(&a).refusals(&here()).is_empty());
    let labelled = Trial::create(&a).namespace_labels([("team", "a")]);
    assert_eq!(labelled.refusals(&here()).len(), 1);
    let of_admins = policy().when("admins", "'admins' in request.userInfo.groups");
    assert!(Trial::create(&a).refusals(&of_admins).is_empty());
    assert_eq!(Trial::create(&a).user("joe", ["admins"]).refusals(&of_admins).len(), 1);
    let deleted = json!({"metadata": {"name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z"}});
    let deleted: ConfigMap = serde_json::from_value(deleted).unwrap();
    assert!(Trial::update(&a, &deleted).refusals(&policy()).is_empty());
    assert_eq!(
        Trial::update(&a, &deleted).refusals(&policy().even_if_deleting()).len(),
        1
    );
}

#[test]
fn a_trial_has_parameters_permissions_and_errors() {
    let a = config_map("a", json!({}));
    let limit = about("object.metadata.name != params.data.forbidden").params(Params::named::<ConfigMap>("limits"));
    let params = json!({"data": {"forbidden": "a"}});
    assert_eq!(Trial::create(&a).params(&params).refusals(&limit).len(), 1);
    let may = about("authorizer.group('apps').resource('deployments').check('create').allowed()");
    assert_eq!(Trial::create(&a).refusals(&may).len(), 1);
    assert!(Trial::create(&a).may("create", "deployments").refusals(&may).is_empty());
    let error = about("object.data.x == ''");
    let refused = Trial::create(&a).refusals(&error);
    assert!(
        refused[0].contains("resulted in error: no such key: data"),
        "{refused:?}"
    );
    let ignored = error.failure_policy(FailurePolicy::Ignore);
    assert!(Trial::create(&a).refusals(&ignored).is_empty());
}

#[test]
#[should_panic = "the label `prefix: team-` is invalid"]
fn a_trial_has_no_labels_that_a_namespace_could_not_have() {
    let _ = Trial::create(&config_map("a", json!({}))).namespace_labels([("prefix", "team-")]);
}
