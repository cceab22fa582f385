//! Objects that are being deleted and do not fit their type.

use super::*;

#[tokio::test]
async fn of_an_object_that_is_being_deleted_and_does_not_fit_only_finalizers_are_removed_unchecked() {
    let manager = manager();
    let fails = FailurePolicy::Fail;
    let validating = Webhook::validating(Obedient)
        .foreign()
        .objects(some_objects())
        .even_if_deleting();
    validating.failure_policy(fails).register(&manager).unwrap();
    let defaulting = Webhook::defaulting(SetsA)
        .foreign()
        .objects(some_objects())
        .even_if_deleting();
    defaulting.failure_policy(fails).register(&manager).unwrap();
    let old = json!({"data": {"a": 1}, "status": {"b": 1}, "metadata": {
        "name": "x", "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a", "b"], "labels": {"c": "d"},
        "annotations": {"e": "f"}, "resourceVersion": "1", "generation": 1, "managedFields": [],
    }});
    let allowed = async |change: fn(&mut Value)| {
        let mut new = old.clone();
        change(&mut new);
        let mut answers = Vec::new();
        for mutating in [false, true] {
            let update = json!({"operation": "UPDATE", "object": new, "oldObject": old});
            let (code, answer) = ask(&manager, mutating, update).await;
            assert_eq!(code, 200, "{answer}");
            answers.push(answer["allowed"] == true);
        }
        assert_eq!(answers[0], answers[1]);
        answers[0]
    };
    assert!(allowed(|new| new["metadata"]["finalizers"] = json!(["b"])).await);
    assert!(allowed(|new| new["metadata"]["finalizers"] = Value::Null).await);
    let with_it: fn(&mut Value) = |new| {
        new["metadata"].as_object_mut().unwrap().remove("finalizers");
        new["metadata"]["managedFields"] = json!([{"manager": "m"}]);
        new["metadata"]["generation"] = json!(2);
    };
    assert!(allowed(with_it).await);
    let others: [fn(&mut Value); 7] = [
        |new| new["metadata"]["labels"]["c"] = json!("e"),
        |new| new["metadata"]["annotations"] = json!({}),
        |new| new["metadata"]["ownerReferences"] = json!([]),
        |new| new["metadata"]["finalizers"] = json!(["a", "b", "c"]),
        |new| new["status"] = json!({"b": 2}),
        |new| new["data"] = json!({"a": 2}),
        |new| new["more"] = json!(1),
    ];
    for (number, change) in others.into_iter().enumerate() {
        assert!(!allowed(change).await, "{number}");
    }
}
