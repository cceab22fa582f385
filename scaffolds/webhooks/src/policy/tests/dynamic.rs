//! Policies about kinds without Rust types, with parameters of such kinds.

use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kubewright_runtime::Kind;
use serde_json::{Value, json};

use crate::{
    policy::{Params, Policy, Validation, check, documents},
    testing::{Mutated, Trial},
};

fn kind(name: &str, plural: &str) -> Kind<DynamicObject> {
    let kind = GroupVersionKind::gvk("storage.example.org", "v1", name);
    Kind::namespaced(ApiResource::from_gvk_with_plural(&kind, plural))
}

/// A Bucket as operators make it: its types are those of the kind.
fn bucket(spec: Value) -> DynamicObject {
    let mut bucket = DynamicObject {
        types: None,
        metadata: Default::default(),
        data: json!({"spec": spec}),
    };
    bucket.metadata.name = Some("a".to_owned());
    bucket
}

#[test]
fn a_policy_and_its_parameters_are_about_kinds_without_types() {
    let (buckets, limits) = (kind("Bucket", "buckets"), kind("Limit", "limits"));
    let policy = Policy::validating_kind(&buckets, "sizes")
        .params(Params::named_of(&limits, "default"))
        .validation(Validation::new("object.spec.size <= params.spec.size").message("it is too large"));
    check(&policy).unwrap();
    let [stated, binding] = documents(&policy, "x");
    let rule = &stated["spec"]["matchConstraints"]["resourceRules"][0];
    assert_eq!(
        [&rule["apiGroups"][0], &rule["resources"][0]],
        ["storage.example.org", "buckets"]
    );
    let params = json!({"apiVersion": "storage.example.org/v1", "kind": "Limit"});
    assert_eq!(stated["spec"]["paramKind"], params);
    assert_eq!(binding["spec"]["paramRef"]["name"], "default");
    let selected = Params::selected_of(&limits, Default::default()).reference();
    assert_eq!(selected["selector"], json!({}));

    let params = json!({"spec": {"size": 2}});
    let refusals = |size: u32| {
        let write = Trial::create_of(&buckets, &bucket(json!({"size": size})));
        write.params(&params).refusals(&policy)
    };
    assert_eq!(refusals(2), [""; 0]);
    assert_eq!(refusals(3), ["it is too large"]);
}

#[test]
fn a_trial_knows_the_kind_and_the_objects_of_a_write() {
    let buckets = kind("Bucket", "buckets");
    let policy = Policy::validating_kind(&buckets, "kinds").validation(Validation::new(
        "object.kind == 'Bucket' && object.apiVersion == 'storage.example.org/v1' && request.resource.resource == 'buckets' \
         && object.spec.size >= oldObject.spec.size",
    ));
    let [small, large] = [1, 2].map(|size| bucket(json!({"size": size})));
    assert_eq!(Trial::update_of(&buckets, &small, &large).refusals(&policy), [""; 0]);
    assert_eq!(Trial::update_of(&buckets, &large, &small).refusals(&policy).len(), 1);
    assert!(Trial::delete_of(&buckets, &small).refusals(&policy).is_empty());
}

#[test]
fn a_mutation_merges_by_the_schema_that_a_trial_is_given() {
    let buckets = kind("Bucket", "buckets");
    let policy = Policy::mutating_kind(&buckets, "sizes").apply_configuration("Object{spec: Object.spec{size: 3}}");
    let spec = json!({"type": "object", "properties": {"size": {"type": "integer"}}});
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    let write = Trial::create_of(&buckets, &bucket(json!({"unknown": 1}))).schema(schema);
    let Mutated::Changed(changed) = write.mutate(&policy) else {
        panic!("it is not changed")
    };
    assert_eq!(
        changed["spec"],
        json!({"size": 3}),
        "what the schema does not know is dropped"
    );
}
