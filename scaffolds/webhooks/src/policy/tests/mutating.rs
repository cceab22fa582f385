//! Policies that change objects: as they are written, refused, noted and tried.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResource, CustomResourceExt, ResourceExt};
use kubewright_schema::{Options, assemble};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::{expressions, *};
use crate::{
    scope::{FailurePolicy, Operation},
    testing::{Mutated, Trial},
};

#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(group = "test.example.com", version = "v1", kind = "FooBar", namespaced)]
pub(super) struct FooBarSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
    args: Vec<String>,
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    ports: Vec<Port>,
}

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
struct Port {
    name: String,
    number: i32,
}

pub(super) fn foobar(name: &str) -> FooBar {
    let port = |name: &str| Port {
        name: name.to_owned(),
        number: 80,
    };
    let spec = FooBarSpec {
        mode: None,
        args: Vec::new(),
        ports: vec![port("a"), port("c")],
    };
    FooBar::new(name, spec)
}

pub(super) fn of_foobars(expression: &str) -> Policy<Mutating> {
    Policy::mutating::<FooBar>("modes").apply_configuration(expression)
}

pub(super) fn of_config_maps(expression: &str) -> Policy<Mutating> {
    Policy::mutating::<ConfigMap>("modes")
        .failure_policy(FailurePolicy::Fail)
        .json_patch(expression)
}

fn definitions() -> Vec<Value> {
    assemble(&[("FooBar", FooBar::crd as fn() -> _)], &Options::default()).unwrap()
}

const SETS: &str = "Object{spec: Object.spec{mode: 'a'}}";

#[test]
fn a_policy_that_changes_objects_is_written_with_its_binding() {
    let policy = of_foobars(SETS)
        .json_patch(" [JSONPatch{op: 'add', path: '/spec/mode', value: 'b'}] ")
        .params(Params::named::<ConfigMap>("modes"));
    check(&policy).unwrap();
    let [policy, binding] = documents(&policy, "x");
    assert_eq!(policy["kind"], "MutatingAdmissionPolicy");
    assert_eq!(
        policy["spec"],
        json!({
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": {"matchPolicy": "Equivalent", "resourceRules": [{
                "apiGroups": ["test.example.com"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
                "resources": ["foobars"], "scope": "Namespaced",
            }]},
            "matchConditions": [{
                "name": "unless-deleting",
                "expression": crate::scope::IS_KEPT,
            }],
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "mutations": [
                {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": SETS}},
                {"patchType": "JSONPatch", "jsonPatch": {
                    "expression": "[JSONPatch{op: 'add', path: '/spec/mode', value: 'b'}]",
                }},
            ],
        })
    );
    assert_eq!(binding["kind"], "MutatingAdmissionPolicyBinding");
    assert_eq!(
        binding["spec"],
        json!({"policyName": "modes", "paramRef": {"name": "modes", "parameterNotFoundAction": "Deny"}})
    );
    let [again, _] = documents(&of_foobars(SETS).reinvoked(), "x");
    assert_eq!(again["spec"]["reinvocationPolicy"], "IfNeeded");
}

#[test]
fn what_the_api_server_refuses_of_mutations_is_refused_before() {
    let all = [Operation::Create, Operation::Delete];
    for (policy, why) in [
        (Policy::mutating::<FooBar>("none"), "it changes nothing"),
        (of_foobars(SETS).operations(all), "a deletion has no object to change"),
        (
            Policy::mutating::<ConfigMap>("a").json_patch("[]"),
            "says nothing of requests for which an expression has no value",
        ),
    ] {
        let refused = check(&policy).unwrap_err().to_string();
        assert!(refused.contains(why) && refused.contains("\n\nhint: "), "{refused}");
    }
}

#[test]
fn a_wrong_mutation_is_named_with_the_policy_and_a_remedy() {
    let loops = "Object{spec: Object.spec{mode: \
                 object.spec.ports.map(a, object.spec.ports.map(b, a.name + b.name)[0])[0]}}";
    for (expression, why) in [
        ("true", "mutation 1, `true`: must evaluate to Object but got bool"),
        ("Object{spec: Object.spec{mod: 'a'}}", "undefined field 'mod'"),
        (
            "Object{spec: Object.spec{mode: 1}}",
            "'.spec.mode' is of type string, not int",
        ),
        (
            "Object{spec: Object.spec{args: ['a']}}",
            "'.spec.args' is an atomic list",
        ),
        (
            "Object{spec: Object.spec{mode: object.spec.mod}}",
            "undefined field 'mod'",
        ),
        (loops, "estimated cost exceeds budget"),
    ] {
        let refused = expressions::check(&of_foobars(expression), &definitions());
        let refused = refused.unwrap_err().to_string();
        assert!(
            refused.starts_with("the policy `modes` is refused: mutation 1"),
            "{refused}"
        );
        assert!(refused.contains(why), "{refused}");
    }
}

#[test]
fn a_mutation_that_a_default_could_replace_is_noted() {
    let notes = |policy: Policy<Mutating>| expressions::check(&policy, &definitions()).unwrap();
    let noted = notes(of_foobars(SETS).when("unset", "!has(object.spec.mode)"));
    assert!(noted[0].contains("a default in the schema does this"), "{noted:?}");
    for not_a_default in [
        of_foobars(SETS),
        of_foobars("Object{spec: Object.spec{mode: request.userInfo.username}}")
            .when("unset", "!has(object.spec.mode)"),
    ] {
        assert_eq!(notes(not_a_default), [""; 0]);
    }
}

#[test]
fn a_trial_tells_what_becomes_of_an_object() {
    let write = || Trial::create(&foobar("sample")).schema_of::<FooBar>();
    let made: FooBar = write().mutate(&of_foobars(SETS)).object();
    assert_eq!(made.spec.mode.as_deref(), Some("a"));
    assert_eq!(made.name_any(), "sample");
    assert_eq!(write().mutate(&of_foobars("Object{}")), Mutated::Unchanged);
    let elsewhere = of_foobars(SETS).when("elsewhere", "request.namespace == 'other'");
    assert_eq!(write().mutate(&elsewhere), Mutated::Skipped);
    let on_update = of_foobars(SETS).operations([Operation::Update]);
    assert_eq!(write().mutate(&on_update), Mutated::Skipped);
    let failed = write().mutate(&of_foobars("Object{spec: Object.spec{mode: object.spec.none}}"));
    let Mutated::Failed(why) = failed else {
        panic!("{failed:?}")
    };
    assert!(why.contains("no such key: none"), "{why}");
}

#[test]
fn a_trial_finds_a_policy_that_changes_its_own_result() {
    let grows = "[JSONPatch{op: 'add', path: '/spec/args/-', value: 'a'}]";
    let policy = Policy::mutating::<FooBar>("args").json_patch(grows);
    let found = Trial::create(&foobar("sample")).mutate(&policy);
    let Mutated::NotIdempotent { once, twice } = found else {
        panic!("{found:?}")
    };
    assert_eq!(once["spec"]["args"], json!(["a"]));
    assert_eq!(twice["spec"]["args"], json!(["a", "a"]));
    let moves = "[JSONPatch{op: 'move', from: '/spec/args', path: '/spec/mode'}]";
    let found = Trial::create(&foobar("sample")).mutate(&Policy::mutating::<FooBar>("args").json_patch(moves));
    let Mutated::Failed(why) = found else {
        panic!("{found:?}")
    };
    assert!(why.starts_with("evaluated on its own result: JSON Patch: "), "{why}");
}

#[test]
fn mutations_follow_each_other_and_see_parameters() {
    let policy = of_foobars("Object{spec: Object.spec{mode: params.data.mode}}")
        .json_patch("[JSONPatch{op: 'add', path: '/spec/args', value: [object.spec.mode]}]")
        .params(Params::named::<ConfigMap>("modes"));
    let write = Trial::create(&foobar("sample")).schema_of::<FooBar>();
    let made: FooBar = write.params(&json!({"data": {"mode": "x"}})).mutate(&policy).object();
    assert_eq!(made.spec.args, ["x"]);
}

#[test]
#[should_panic = "add `.schema_of::<FooBar>()`"]
fn an_apply_configuration_is_not_merged_without_a_schema() {
    Trial::create(&foobar("sample")).mutate(&of_foobars(SETS));
}
