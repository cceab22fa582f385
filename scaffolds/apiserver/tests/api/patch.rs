//! Patches, compared with answers of kube-apiserver 1.37.

use kubewright_apiserver::testing::{
    Status,
    apply::Schema,
    patch::{self, Patched},
};
use serde_json::{Value, json};

const REJECTED: &str = "the server rejected our request due to an error in our request";

fn config() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "finalizers": ["e/f", "c/d"]},
        "data": {"k": "v"}})
}

fn json_patch(patch: &str) -> Result<Value, Status> {
    patch::json(&config(), patch.as_bytes(), true).map(|it| it.object)
}

/// The relevant part of a ConfigMap's schema, and a kind with lists.
fn schema() -> Schema {
    let item = json!({"type": "object", "required": ["name"], "properties": {
        "name": {"type": "string"}, "value": {"type": "string"}, "deep": {"type": "object", "properties": {
            "a": {"type": "string"}, "b": {"type": "string"}}}}});
    let merged = json!({"type": "array", "items": {"$ref": "#/components/schemas/io.Item"},
        "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name"});
    let strategy = json!({"type": "object", "x-kubernetes-patch-strategy": "retainKeys", "properties": {
        "type": {"type": "string"}, "more": {"type": "object", "properties": {"a": {"type": "string"}}}}});
    let root = json!({"type": "object", "properties": {
        "metadata": {"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
        "data": {"type": "object", "additionalProperties": {"type": "string"}},
        "items": merged, "plain": {"type": "array", "items": {"type": "string"}}, "strategy": strategy}});
    Schema::compile(
        &json!({"$ref": "#/components/schemas/io.ConfigMap"}),
        &|name| match name {
            "io.Item" => Some(item.clone()),
            "io.ConfigMap" => Some(root.clone()),
            _ => None,
        },
    )
}

fn strategic(object: &Value, patch: &Value) -> Result<Patched, Status> {
    patch::strategic(object, patch.to_string().as_bytes(), &schema(), true)
}

fn becomes(object: Value, patch: Value, expected: Value) {
    assert_eq!(
        strategic(&object, &patch).map(|it| it.object),
        Ok(expected),
        "{patch} on {object}"
    );
}

#[test]
fn json_patches_that_fail_are_rejected_without_a_reason() {
    for patch in [
        r#"[{"op":"test","path":"/data/k","value":"x"}]"#,
        r#"[{"op":"remove","path":"/data/zz"}]"#,
        r#"[{"op":"add","path":"/foo/bar/x","value":1}]"#,
        r#"[{"op":"bad","path":"/data"}]"#,
        r#"[{"path":"/data"}]"#,
        r#"[{"op":"add"}]"#,
        r#"[null]"#,
        r#"[{"op":"remove","path":"data"}]"#,
        r#"[{"op":"replace","path":"","value":"x"}]"#,
        r#"[{"op":"add","path":"","value":{}}]"#,
        r#"[{"op":"test","path":"/data","value":null}]"#,
        r#"[{"op":"add","path":"/metadata/finalizers/3","value":"x"}]"#,
        r#"[{"op":"remove","path":"/metadata/finalizers/2"}]"#,
        r#"[{"op":"remove","path":"/metadata/finalizers/x"}]"#,
    ] {
        let status = json_patch(patch).expect_err(patch);
        let body = status.body();
        assert_eq!(
            (status.code, status.message.as_str(), &body["details"]),
            (422, REJECTED, &json!({})),
            "{patch}"
        );
    }
}

#[test]
fn malformed_json_patches_get_gos_messages() {
    for (patch, checked, message) in [
        ("nope", true, "invalid JSON patch"),
        ("", true, "invalid JSON patch"),
        (
            r#"{"op":"x"}"#,
            true,
            "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
        ),
        (
            "[1]",
            true,
            "error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp",
        ),
        (
            r#"[{"op":1,"path":"/x"}]"#,
            true,
            "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
        ),
        (
            "[1]",
            false,
            "json: cannot unmarshal number into Go value of type jsonpatch.Operation",
        ),
        ("nope", false, "invalid JSON patch"),
    ] {
        let status = patch::json(&config(), patch.as_bytes(), checked).expect_err(patch);
        assert_eq!((status.code, status.message.as_str()), (400, message), "{patch}");
    }
}

#[test]
fn json_patches_apply_their_operations() {
    for (patch, pointer, expected) in [
        (r#"[]"#, "/data", json!({"k": "v"})),
        (r#"null"#, "/data", json!({"k": "v"})),
        (
            r#"[{"op":"add","path":"/data/q"}]"#,
            "/data",
            json!({"k": "v", "q": null}),
        ),
        (
            r#"[{"op":"replace","path":"/data/new","value":"1"}]"#,
            "/data",
            json!({"k": "v", "new": "1"}),
        ),
        (
            r#"[{"op":"copy","from":"/data/k","path":"/data/k2"}]"#,
            "/data",
            json!({"k": "v", "k2": "v"}),
        ),
        (
            r#"[{"op":"move","from":"/data/k","path":"/data/k2"}]"#,
            "/data",
            json!({"k2": "v"}),
        ),
        (
            r#"[{"op":"add","path":"/data/a~1b~0c","value":"1"}]"#,
            "/data",
            json!({"k": "v", "a/b~c": "1"}),
        ),
        (
            r#"[{"op":"add","path":"/metadata/finalizers/-","value":"x"}]"#,
            "/metadata/finalizers",
            json!(["e/f", "c/d", "x"]),
        ),
        (
            r#"[{"op":"add","path":"/metadata/finalizers/1","value":"x"}]"#,
            "/metadata/finalizers",
            json!(["e/f", "x", "c/d"]),
        ),
        (
            r#"[{"op":"add","path":"/metadata/finalizers/-1","value":"x"}]"#,
            "/metadata/finalizers",
            json!(["e/f", "c/d", "x"]),
        ),
        (
            r#"[{"op":"remove","path":"/metadata/finalizers/-1"}]"#,
            "/metadata/finalizers",
            json!(["e/f"]),
        ),
        (
            r#"[{"op":"test","path":"/nope","value":null}]"#,
            "/data",
            json!({"k": "v"}),
        ),
        (r#"[{"op":"test","path":"/nope"}]"#, "/data", json!({"k": "v"})),
        (r#"[{"op":"replace","path":"","value":{"a":1}}]"#, "", json!({"a": 1})),
    ] {
        let object = json_patch(patch).expect(patch);
        assert_eq!(object.pointer(pointer), Some(&expected), "{patch}");
    }
}

#[test]
fn unknown_and_duplicate_members_of_operations_are_reported() {
    let patch = br#"[{"op":"add","op":"add","path":"/data/q","value":"1","extra":1}]"#;
    let strange = patch::json(&config(), patch, true).expect("applies").strict_errors;
    assert_eq!(
        strange,
        [
            "json patch duplicate field \"[0].op\"",
            "json patch unknown field \"[0].extra\""
        ]
    );
    assert!(
        patch::json(&config(), patch, false)
            .expect("applies")
            .strict_errors
            .is_empty()
    );
}

#[test]
fn too_many_operations_are_refused() {
    let patch = vec![r#"{"op":"test","path":"/data/k","value":"v"}"#; 10_001].join(",");
    let status = json_patch(&format!("[{patch}]")).expect_err("too many");
    let message = "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001";
    assert_eq!(
        (status.code, status.reason.as_ref(), status.message.as_str()),
        (413, "RequestEntityTooLarge", message)
    );
}

#[test]
fn patches_cannot_grow_an_object_without_bound() {
    let mut deep = vec![r#"{"op":"add","path":"/x","value":{"y":1}}"#.to_owned()];
    deep.extend((1..300).map(|depth| format!(r#"{{"op":"add","path":"/x{}","value":{{"y":1}}}}"#, "/y".repeat(depth))));
    assert_eq!(
        json_patch(&format!("[{}]", deep.join(","))).expect_err("too deep").code,
        422
    );
    let mut wide = vec![format!(
        r#"{{"op":"add","path":"/data/k","value":"{}"}}"#,
        "x".repeat(100_000)
    )];
    wide.extend((0..40).map(|at| format!(r#"{{"op":"copy","from":"/data/k","path":"/data/{at}"}}"#)));
    assert_eq!(
        json_patch(&format!("[{}]", wide.join(","))).expect_err("too much").code,
        422
    );
}

#[test]
fn merge_patches_delete_by_null_and_replace_lists() {
    let merge = |patch: Value| {
        patch::merge(&config(), patch.to_string().as_bytes(), true)
            .expect("applies")
            .object
    };
    assert_eq!(merge(json!({"data": {"k": null}}))["data"], json!({}));
    assert_eq!(merge(json!({"data": null})).get("data"), None);
    assert_eq!(
        merge(json!({"metadata": {"finalizers": ["x"]}}))["metadata"]["finalizers"],
        json!(["x"])
    );
    assert_eq!(
        merge(json!({"new": {"a": null, "b": [null, {"c": null}]}}))["new"],
        json!({"b": [null, {}]})
    );
    assert_eq!(merge(json!({"data": [{"c": null}]}))["data"], json!([{"c": null}]));
}

#[test]
fn malformed_merge_patches_are_refused() {
    for (patch, checked, message) in [
        ("null", true, "Invalid JSON Patch"),
        ("nope", false, "invalid JSON patch"),
        (r#""x""#, false, "Invalid JSON Patch"),
        ("nope", true, "invalid JSON patch"),
        (
            "[]",
            true,
            "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
        (r#"{"data":{"z":"1"}} x"#, true, "invalid JSON patch"),
    ] {
        let status = patch::merge(&config(), patch.as_bytes(), checked).expect_err(patch);
        assert_eq!((status.code, status.message.as_str()), (400, message), "{patch}");
    }
    assert_eq!(
        patch::merge(&config(), b"[1]", false).expect("a list").object,
        json!([1])
    );
}

#[test]
fn decoding_errors_quote_the_patched_document_or_the_patch() {
    let patched = patch::merge(&json!({"kind": "X"}), br#"{"a":"<"}"#, true).expect("applies");
    let status = patched.refuse("strict decoding error: unknown field \"a\"");
    let message = r#" "" is invalid: patch: Invalid value: "{\"a\":\"\\u003c\",\"kind\":\"X\"}": strict decoding error: unknown field "a""#;
    assert_eq!(
        (status.code, status.reason.as_ref(), status.message.as_str()),
        (422, "Invalid", message)
    );
    assert_eq!(status.body()["details"]["causes"][0]["field"], "patch");
    let patched = strategic(&config(), &json!({"data": {"n": {"a": 1}}})).expect("applies");
    let message = r#" "" is invalid: patch: Invalid value: "map[data:map[n:map[a:1]]]": unrecognized type: string"#;
    assert_eq!(patched.refuse("unrecognized type: string").message, message);
}

#[test]
fn strategic_patches_merge_lists_by_key_and_scalars_as_sets() {
    let object = json!({"items": [{"name": "a", "value": "1"}, {"name": "b"}], "plain": ["x"]});
    becomes(
        object.clone(),
        json!({"items": [{"name": "c"}, {"name": "a", "deep": {"a": "1"}}], "plain": ["y"]}),
        json!({"items": [{"name": "c"}, {"name": "a", "value": "1", "deep": {"a": "1"}}, {"name": "b"}], "plain": ["y"]}),
    );
    becomes(
        object.clone(),
        json!({"items": [{"name": "a", "$patch": "delete"}, {"name": "c"}]}),
        json!({"items": [{"name": "c"}, {"name": "b"}], "plain": ["x"]}),
    );
    becomes(
        object.clone(),
        json!({"items": [{"$patch": "replace"}, {"name": "c"}]}),
        json!({"items": [{"name": "c"}], "plain": ["x"]}),
    );
    becomes(
        object.clone(),
        json!({"$setElementOrder/items": [{"name": "b"}, {"name": "a"}]}),
        json!({"items": [{"name": "b"}, {"name": "a", "value": "1"}], "plain": ["x"]}),
    );
    becomes(
        object.clone(),
        json!({"plain": null}),
        json!({"items": [{"name": "a", "value": "1"}, {"name": "b"}]}),
    );
    becomes(
        object,
        json!({"$patch": "replace", "plain": ["z"]}),
        json!({"plain": ["z"]}),
    );
    becomes(
        config(),
        json!({"metadata": {"finalizers": ["a/b"]}, "data": {"$patch": "replace", "only": "1"}}),
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"only": "1"},
            "metadata": {"name": "a", "finalizers": ["a/b", "e/f", "c/d"]}}),
    );
    becomes(
        json!({"metadata": {"finalizers": ["e/f", "c/d"]}}),
        json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["c/d"]}}),
        json!({"metadata": {"finalizers": ["e/f"]}}),
    );
}

#[test]
fn retain_keys_removes_all_other_keys() {
    let object = json!({"strategy": {"type": "A", "more": {"a": "1"}}});
    becomes(
        object.clone(),
        json!({"strategy": {"$retainKeys": ["type"], "type": "B"}}),
        json!({"strategy": {"type": "B"}}),
    );
    let status = strategic(&object, &json!({"strategy": {"$retainKeys": ["more"], "type": "B"}})).expect_err("no");
    assert_eq!(
        (status.code, status.message.as_str()),
        (400, "invalid patch format of retainKeys")
    );
}

#[test]
fn strategic_patches_that_do_not_match_get_the_servers_errors() {
    let owner = json!({"metadata": {"finalizers": ["e/f", "c/d"], "ownerReferences": [{"uid": "1", "name": "x"}]}});
    for (patch, code, message) in [
        (
            json!({"$patch": "wat"}),
            500,
            "unknown patch type: wat in map: map[$patch:wat]",
        ),
        (
            json!([]),
            400,
            "json: cannot unmarshal array into Go value of type map[string]interface {}",
        ),
        (
            json!("x"),
            400,
            "json: cannot unmarshal string into Go value of type map[string]interface {}",
        ),
        (
            json!({"metadata": {"$setElementOrder/finalizers": 1}}),
            500,
            "expected a []interface {}, but received a int64",
        ),
        (
            json!({"metadata": {"$setElementOrder": ["x"]}}),
            400,
            "invalid patch format of setElementOrder list",
        ),
        (
            json!({"metadata": {"$deleteFromPrimitiveList": ["x"]}}),
            400,
            "invalid patch format of primitive list",
        ),
        (
            json!({"metadata": {"finalizers": [1]}}),
            500,
            "list element types are not identical: [[e/f c/d] [1]]",
        ),
        (
            json!({"metadata": {"finalizers": [["x"]]}}),
            500,
            "list element types are not identical: [[e/f c/d] [[x]]]",
        ),
        (
            json!({"metadata": {"ownerReferences": [{"name": "x"}]}}),
            500,
            "map: map[name:x] does not contain declared merge key: uid",
        ),
        (json!({"items": [{"name": "a", "$patch": "merge"}]}), 200, ""),
    ] {
        match strategic(&owner, &patch) {
            Ok(_) => assert_eq!(code, 200, "{patch}"),
            Err(status) => assert_eq!((status.code, status.message.as_str()), (code, message), "{patch}"),
        }
    }
    assert_eq!(
        patch::strategic(&owner, b"null", &schema(), true)
            .expect("nothing")
            .object,
        owner
    );
}
