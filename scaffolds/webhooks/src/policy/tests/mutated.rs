//! Objects that a trial has mutated equal an API server's: the server of this workspace, and a real one.

use std::time::Duration;

use kube::{Client, CustomResourceExt, Resource};
use kubewright_runtime::testing::TestCluster;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    config_map,
    mutating::{FooBar, foobar, of_config_maps, of_foobars},
    server::{create, in_process, state, told},
};
use crate::{
    policy::{Mutating, Policy},
    scope::FailurePolicy,
    testing::{Mutated, Trial},
};

const CONFIGURATIONS: [&str; 10] = [
    "Object{spec: Object.spec{mode: namespaceObject.metadata.labels['kubernetes.io/metadata.name']}}",
    "Object{metadata: Object.metadata{labels: {'a/b': request.operation + object.metadata.name}}}",
    "Object{spec: Object.spec{ports: [Object.spec.ports{name: 'b', number: 2}, Object.spec.ports{name: 'a', number: 1}]}}",
    "Object{spec: Object.spec{args: ['a']}}",
    "Object{spec: Object.spec{unknown: 'a'}}",
    "Object{spec: Object.spec{mode: 1}}",
    "Object{spec: Object.other{mode: 'a'}}",
    "Object{spec: Object.spec{mode: object.spec.missing}}",
    "Object{}",
    "object.metadata.name == 'other' ? Object{spec: Object.spec{mode: 'a'}} : Object{}",
];
const PATCHES: [&str; 7] = [
    "[JSONPatch{op: 'add', path: '/data', value: {'a': 'b'}}]",
    "[JSONPatch{op: 'replace', path: '/metadata/labels/x', value: 'z'}]",
    "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: 'c'}]",
    "[JSONPatch{op: 'test', path: '/metadata/labels/x', value: 'other'}, JSONPatch{op: 'remove', path: '/metadata/labels'}]",
    "[JSONPatch{op: 'replace', path: '/data/a', value: 'b'}]",
    "[JSONPatch{op: 'add', path: '/metadata/labels/n', value: object.data.n}]",
    "object.metadata.name == 'other' ? [JSONPatch{op: 'remove', path: '/data'}] : []",
];

/// A policy about one object alone, and the creation of that.
struct Case {
    policy: Policy<Mutating>,
    write: Trial,
    path: String,
    object: Value,
}

impl Case {
    fn of_foobar(name: &str, namespace: &str, policy: Policy<Mutating>) -> Self {
        let mut object = foobar(name);
        object.meta_mut().namespace = Some(namespace.to_owned());
        Self {
            write: Trial::create(&object).schema_of::<FooBar>(),
            path: format!("/apis/test.example.com/v1/namespaces/{namespace}/foobars"),
            object: json!(object),
            policy: only(name, policy),
        }
    }

    fn of_config_map(name: &str, namespace: &str, policy: Policy<Mutating>) -> Self {
        let mut object = config_map(name, json!({"x": "y"}));
        object.meta_mut().namespace = Some(namespace.to_owned());
        Self {
            write: Trial::create(&object),
            path: format!("/api/v1/namespaces/{namespace}/configmaps"),
            object: json!(object),
            policy: only(name, policy),
        }
    }

    /// The object that the server would store according to the trial, or the reason of the refusal.
    fn tried(&self) -> Result<Value, String> {
        match self.write.mutate(&self.policy) {
            Mutated::Changed(made) => Ok(made),
            Mutated::Failed(_) if self.policy.declared.scope.failure_policy == Some(FailurePolicy::Ignore) => {
                Ok(self.object.clone())
            }
            Mutated::Failed(why) => Err(why),
            Mutated::Unchanged => Ok(self.object.clone()),
            other => panic!("{other:?}"),
        }
    }
}

/// The policy under the name of an object, for that object.
fn only(name: &str, mut policy: Policy<Mutating>) -> Policy<Mutating> {
    policy.declared.name = name.to_owned();
    policy.when("only", format!("object.metadata.name == '{name}'"))
}

fn cases(namespace: &str) -> Vec<Case> {
    let custom = CONFIGURATIONS.into_iter().enumerate();
    let custom = custom.map(|(nth, text)| Case::of_foobar(&format!("foobar-{nth}"), namespace, of_foobars(text)));
    let patched = PATCHES.into_iter().enumerate().flat_map(|(nth, text)| {
        [FailurePolicy::Fail, FailurePolicy::Ignore].map(|failures| {
            let name = format!("{}-{nth}", format!("{failures:?}").to_lowercase());
            Case::of_config_map(&name, namespace, of_config_maps(text).failure_policy(failures))
        })
    });
    // The server knows all policies when it knows the last one.
    let last = Case::of_foobar("last", namespace, of_foobars("Object{spec: Object.spec{mode: 'last'}}"));
    custom.chain(patched).chain([last]).collect()
}

/// The stored object, without the fields that every object gets; or the reason of the refusal.
fn stored(mut answer: Value) -> Result<Value, String> {
    if answer["kind"] == "Status" {
        return Err(told(&answer));
    }
    if let Some(metadata) = answer["metadata"].as_object_mut() {
        let added = [
            "creationTimestamp",
            "generation",
            "managedFields",
            "resourceVersion",
            "uid",
        ];
        metadata.retain(|field, _| !added.contains(&field.as_str()));
    }
    Ok(answer)
}

async fn compare(client: Client, namespace: &str) {
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    create(&client, definitions, &json!(FooBar::crd())).await;
    let cases = cases(namespace);
    for case in &cases {
        state(&client, &case.policy).await;
    }
    let last = cases.last().unwrap();
    // kube-apiserver compiles new policies once a second.
    for _ in 0..240 {
        let answer = create(&client, &format!("{}?dryRun=All", last.path), &last.object).await;
        if answer["spec"]["mode"] == "last" {
            break;
        }
        sleep(Duration::from_millis(250)).await;
    }
    for case in &cases {
        let answer = create(&client, &case.path, &case.object).await;
        let (name, tried) = (&case.policy.declared.name, case.tried());
        assert_eq!(tried, stored(answer), "{name}");
    }
    assert!(cases.iter().any(|case| case.tried().is_err()));
}

#[tokio::test]
async fn a_trial_makes_of_an_object_what_the_api_server_makes() {
    compare(in_process(), "default").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs KUBEBUILDER_ASSETS"]
async fn the_same_on_a_real_api_server() {
    let cluster = TestCluster::start().await.unwrap();
    compare(cluster.client(), cluster.namespace()).await;
}
