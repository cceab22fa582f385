//! Annotations that a client forged, and objects that a version cannot show.

use super::*;

/// An annotation that claims to come from `v1`, or what `field` says.
fn forged(entries: &Value) -> Value {
    json!({"test.example.com/v1-only": json!({"digest": "", "kept": entries}).to_string()})
}

/// The label of an object that is not shown as a whole.
fn mark(object: &Value) -> &str {
    object["metadata"]["labels"]["test.example.com/v1-only"]
        .as_str()
        .unwrap()
}

#[test]
fn an_annotation_adds_nothing_that_its_reader_could_see() {
    let mut new = object(V2, json!({"host": "a", "port": 1}));
    let digest = kept::digest(&json!({"metadata": {"labels": {}, "annotations": {}}, "spec": new["spec"]}));
    let target = json!([{"path": ["spec", "target"], "value": ["evil:6666"], "shown": ["a:1"]}]);
    let ready = json!([{"path": ["status"], "value": [{"ready": true}]}]);
    let both = json!([{"path": ["spec", "target"], "value": ["evil:1"], "shown": ["a:1"]}, {"path": ["spec", "colour"], "value": ["red"]}]);
    for entries in [target, ready, both] {
        for digest in ["", digest.as_str()] {
            let text = json!({"digest": digest, "kept": entries}).to_string();
            new["metadata"]["annotations"] = json!({"test.example.com/v1-only": text});
            let old = to(V1, &new);
            assert_eq!(old["spec"], json!({"target": "a:1"}), "{entries}");
            assert_eq!(old.get("status"), None, "{entries}");
        }
    }
    // What the version cannot show is a claim that nobody can check.
    new["metadata"]["annotations"] = forged(&json!([{"path": ["spec", "colour"], "value": ["red"]}]));
    assert_eq!(to(V1, &new)["spec"], json!({"target": "a:1", "colour": "red"}));
}

#[test]
fn an_annotation_with_a_value_that_its_schema_refuses_is_refused_and_a_read_goes_on_without_it() {
    let mut new = object(V2, json!({"host": "a", "port": 1}));
    new["metadata"]["annotations"] =
        forged(&json!([{"path": ["spec", "items"], "value": [[{"name": "x", "weight": {}}]]}]));
    // It does not even fit the type.
    assert_eq!(to(V1, &new)["spec"], json!({"target": "a:1"}));
    new["metadata"]["annotations"] = forged(&json!([{"path": ["spec", "colour"], "value": ["a very long colour"]}]));
    let why = "the annotation `test.example.com/v1-only` has an invalid value: spec.colour: Too long: may not be more than 8 bytes";
    assert_eq!(refused(new, V1), format!("from {V2} to {V1}: {why}"));
    let mut old = object(V1, json!({"target": "a:1"}));
    let tries = json!({"digest": "", "kept": [{"path": ["spec", "tries"], "value": [99]}]}).to_string();
    old["metadata"]["annotations"] = json!({"test.example.com/v2-only": tries});
    assert_eq!(to(V2, &old)["spec"], json!({"host": "a", "port": 1}));
}

#[test]
fn an_annotation_cannot_have_a_large_part_copied_many_times() {
    let names = (0..3_000).map(|number| json!({"name": format!("{number}")}));
    let mut new = object(V2, json!({"host": "a", "port": 1, "items": names.collect::<Vec<_>>()}));
    let entry = json!({"path": ["spec", "items"], "value": [[]], "shown": [[]]});
    new["metadata"]["annotations"] = forged(&json!(vec![entry; 3_000]));
    assert_eq!(to(V1, &new)["spec"]["items"], new["spec"]["items"]);
}

#[test]
fn what_annotations_have_no_room_for_is_left_out_and_the_object_is_not_written_back() {
    let colour = |annotations: &Value| {
        let mut old = object(V1, json!({"target": "a:1", "colour": "r"}));
        old["metadata"]["annotations"] = annotations.clone();
        old
    };
    let full = json!({"a": "x".repeat(262_050)});
    let large = object(V1, json!({"target": "a:1", "unknown": "x".repeat(300_000)}));
    for old in [colour(&full), large] {
        let mut new = to(V2, &old);
        assert_eq!(new["spec"], json!({"host": "a", "port": 1}));
        assert!(mark(&new).starts_with("too-large."), "{new}");
        // API servers do this before they delete it.
        assert_eq!(to(V1, &new)["spec"], json!({"target": "a:1"}));
        new["spec"]["port"] = json!(2);
        assert_eq!(
            refused(new.clone(), V1),
            format!(
                "from {V2} to {V1}: the label `test.example.com/v1-only: too-large` says that this version does not show all \
                 of the object: write it in v1"
            )
        );
        // Finalizers have to go.
        new["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        let gone = to(V1, &new);
        assert_eq!(
            (&gone["spec"], gone["metadata"].get("labels")),
            (&json!({"target": "a:2"}), None)
        );
    }
    // Nothing is lost on the way into the stored version.
    let mut new = object(V2, json!({"host": "a", "port": 1, "tries": 3}));
    new["metadata"]["annotations"] = full;
    let why = refused(new, V1);
    let expected = "the fields that this version does not have need ";
    assert!(why.starts_with(&format!("from {V2} to {V1}: {expected}")), "{why}");
    // A label that somebody has made up means nothing in the stored version.
    let mut old = object(V1, json!({"target": "a:1"}));
    old["metadata"]["labels"] = json!({"test.example.com/v1-only": "too-large"});
    assert_eq!(to(V2, &old)["metadata"].get("labels"), None);
}

#[tokio::test]
async fn an_object_that_cannot_be_converted_takes_no_other_along() {
    let metrics = Metrics::new();
    let conversion = Arc::new(Conversion::new("/convert".to_owned(), converter(), &metrics));
    let good = object(V1, json!({"target": "a:1"}));
    let mut deep = json!(1);
    for _ in 0..200 {
        deep = json!([deep]);
    }
    let bad = [
        object(V1, json!({"target": 1})),
        object(V1, json!({"target": "a:b"})),
        object(V1, json!({"target": "a:1", "unknown": deep})),
    ];
    for bad in bad {
        let answer = ask(&conversion, V2, vec![good.clone(), bad]).await;
        assert_eq!(answer["result"]["status"], "Success");
        assert_eq!(answer["convertedObjects"][0]["spec"], json!({"host": "a", "port": 1}));
        let shown = &answer["convertedObjects"][1];
        assert!(mark(shown).starts_with("not-convertible."), "{shown}");
        let mut expected = json!({"apiVersion": V2, "kind": "FooBar"});
        expected["metadata"] =
            json!({"name": "a", "namespace": "default", "uid": "u", "labels": shown["metadata"]["labels"]});
        assert_eq!(shown, &expected);
        // API servers do this before they delete it.
        let answer = ask(&conversion, V1, vec![shown.clone()]).await;
        assert_eq!(answer["result"]["status"], "Success", "{answer}");
        let [mut deleted, mut written] = [shown.clone(), shown.clone()];
        deleted["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        deleted["metadata"]["finalizers"] = json!(["example.com/cleanup"]);
        written["status"] = json!({"ready": true});
        for written in [written, deleted] {
            let answer = ask(&conversion, V1, vec![written]).await;
            assert_eq!(answer["result"]["status"], "Failure", "{answer}");
        }
    }
    let failures = "kubewright_conversion_failures_total{webhook=\"/convert\"} 9\n";
    assert!(metrics.encode().contains(failures), "{}", metrics.encode());
    let answer = ask(&conversion, "test.example.com/v9", vec![good]).await;
    assert_eq!(answer["result"]["status"], "Failure", "there is no such version");
}
