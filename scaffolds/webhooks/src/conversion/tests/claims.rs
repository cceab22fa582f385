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
    // A value that the version cannot show is a claim that cannot be checked.
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
    let conversion = conversion(&metrics);
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
    }
    let failures = "kubewright_conversion_failures_total{webhook=\"/convert\"} 3\n";
    assert!(metrics.encode().contains(failures), "{}", metrics.encode());
    let answer = ask(&conversion, "test.example.com/v9", vec![good]).await;
    assert_eq!(answer["result"]["status"], "Failure", "there is no such version");
}

/// A list in lists, with this many levels.
fn nested(levels: usize) -> Value {
    (0..levels).fold(json!(1), |inner, _| json!([inner]))
}

#[test]
fn a_value_that_is_too_deep_for_an_annotation_is_left_out_and_the_object_is_not_written_back() {
    // The most that an annotation of these levels can restore.
    let deep = |levels| object(V1, json!({"target": "a:1", "unknown": nested(levels)}));
    let kept = deep(123);
    assert_eq!(to(V1, &to(V2, &kept)), kept);
    let mut new = to(V2, &deep(124));
    assert!(mark(&new).starts_with("too-large."), "{new}");
    new["spec"]["port"] = json!(2);
    assert!(refused(new, V1).ends_with("write it in v1"));
    // Nothing is lost on the way into the stored version.
    let deep = object(V2, json!({"host": "a", "port": 1, "unknown": nested(124)}));
    let why = "the field spec.unknown, which this version does not have, has more than 123 levels of nested lists and objects";
    assert_eq!(refused(deep, V1), format!("from {V2} to {V1}: {why}"));
}

#[tokio::test]
async fn an_object_that_is_too_deep_is_refused_by_name() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = object(V2, json!({"host": "a", "port": 1, "unknown": 5}));
    let text = text.to_string().replace("5", &deep);
    let review = empty_review(V1).to_string().replace("[]", &format!("[{text}]"));
    let conversion = conversion(&Metrics::new());
    let (code, answer) = conversion
        .answer(review.into(), Duration::from_secs(30), local_share())
        .await;
    assert_eq!(code, http::StatusCode::OK);
    let answer: Value = serde_json::from_slice(&answer.bytes()).unwrap();
    let why = answer["response"]["result"]["message"].as_str().unwrap();
    let expected =
        "FooBar default/a: it cannot be decoded: it has more than 127 levels of nested lists and objects at ";
    assert!(why.starts_with(expected), "{why}");
}

#[tokio::test]
async fn a_read_of_objects_that_cannot_be_converted_fails_for_none_and_a_write_has_one_short_message() {
    let metrics = Metrics::new();
    let conversion = conversion(&metrics);
    let bad = |api_version: &str| {
        object(
            api_version,
            json!({"target": {"a": "x".repeat(100_000)}, "host": {}, "port": "x".repeat(100_000)}),
        )
    };
    let answer = ask(&conversion, V2, vec![bad(V1); 5]).await;
    assert_eq!(answer["convertedObjects"].as_array().unwrap().len(), 5);
    let answer = ask(&conversion, V1, vec![bad(V2); 5]).await;
    let text = answer["result"]["message"].as_str().unwrap();
    assert!(text.len() < 2_000 && text.ends_with("; and 4 more objects"), "{text}");
    assert_eq!(text.matches("default/a").count(), 1, "{text}");
    let failures = "kubewright_conversion_failures_total{webhook=\"/convert\"} 10\n";
    assert!(metrics.encode().contains(failures));
}
