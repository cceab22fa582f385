//! Rules that compare lists and maps of an object with old ones: items that are null, do not match the schema, or cannot be keys
//! of Go's maps. Random tests found the first of each kind.

use super::{Case, cases::update};
use serde_json::{Value, json};

pub fn all() -> Vec<Case> {
    let mut all = nulls();
    all.extend(sets());
    all.extend(keyed());
    all.extend(sums());
    all
}

/// A schema with rules.
fn ruled(mut schema: Value, rules: &[&str]) -> Value {
    schema["x-kubernetes-validations"] = rules.iter().map(|rule| json!({"rule": rule})).collect();
    schema
}

/// A list of at most five items.
fn list(items: Value) -> Value {
    json!({"type": "array", "maxItems": 5, "items": items})
}

const COMPARED: [&str; 6] = [
    "self == oldSelf",
    "oldSelf == self",
    "self != oldSelf",
    "[self] == [oldSelf]",
    "self in [oldSelf]",
    "self == oldSelf || true",
];

fn nulls() -> Vec<Case> {
    let inner =
        json!({"type": "array", "nullable": true, "maxItems": 5, "items": {"type": "integer", "nullable": true}});
    let map = json!({"type": "object", "maxProperties": 5, "additionalProperties": inner});
    let object = json!({"type": "object", "properties": {"a": inner, "b": {"type": "object", "nullable": true, "properties": {"c": {"type": "integer"}}}}});
    let either = json!({"x-kubernetes-int-or-string": true, "nullable": true});
    let lists = json!([
        [[[1]], [null]],
        [[null], [[1]]],
        [[null], [null]],
        [[[null]], [[1]]],
        [[[1]], [[null]]],
        [[1], [[1]]],
        [[[1], "a"], [[1], [2]]],
        [["a", [1]], [[2], [1]]]
    ]);
    let inside = [
        "self[0] == oldSelf[0]",
        "oldSelf.exists(x, x == self[0])",
        "self[0] in oldSelf",
    ];
    vec![
        update(
            "equality of lists with null",
            ruled(list(inner.clone()), &COMPARED),
            lists.clone(),
        ),
        update("equality of items that are null", ruled(list(inner), &inside), lists),
        update(
            "equality of maps with null",
            ruled(map, &COMPARED),
            json!([[{"a": [1]}, {"a": null}], [{"a": null}, {"a": [1]}], [{"a": null}, {"a": null}], [{"a": 1}, {"a": [1]}], [{"a": null}, {"b": null}]]),
        ),
        update(
            "equality of objects with null",
            ruled(object, &COMPARED),
            json!([[{"a": [1]}, {"a": null}], [{"b": null}, {"b": {"c": 1}}], [{"b": 1}, {"b": {"c": 1}}], [{"b": {"c": "x"}}, {"b": {"c": 1}}], [{"a": null}, {"b": null}]]),
        ),
        update(
            "equality of items that are integers or strings",
            ruled(list(either), &COMPARED),
            json!([
                [[[1]], [1]],
                [[null], [1]],
                [[1], [null]],
                [["1"], [1]],
                [[{}, 1], [2, 1]]
            ]),
        ),
    ]
}

fn sets() -> Vec<Case> {
    let set = |items: Value| {
        let mut set = list(items);
        set["x-kubernetes-list-type"] = json!("set");
        set
    };
    let rules = [
        "self == oldSelf",
        "oldSelf == self",
        "self != oldSelf",
        "self == oldSelf || true",
        "self + oldSelf == self",
        "oldSelf + self == self",
    ];
    let optional = json!({"rule": "!oldSelf.hasValue() || self == oldSelf.value()", "optionalOldSelf": true});
    let map = json!({"type": "object", "x-kubernetes-map-type": "atomic", "properties": {"k": {"type": "integer"}}});
    vec![
        update(
            "equality of sets of objects",
            ruled(set(map), &rules),
            json!([[[{"k": 1}], [{"k": 1}]], [[1], [{"k": 1}]], [[[1]], [{"k": 1}]], [[1], []], [[], []]]),
        ),
        update(
            "equality of sets of integers with other items",
            ruled(set(json!({"type": "integer"})), &rules),
            json!([
                [[[1]], [1]],
                [[1, {}], [1, 2]],
                [["a"], [1]],
                [[1, 1], [1, 2]],
                [[null, 1], [2, 1]]
            ]),
        ),
        Case {
            schema: json!({"type": "array", "maxItems": 5, "x-kubernetes-list-type": "set", "items": {"type": "string"}, "x-kubernetes-validations": [optional]}),
            ..update(
                "equality of sets with null",
                Value::Null,
                json!([[[null], [null]], [["a", null], [null, "a"]], [["a"], ["a"]], [[{"a": 1}], [{"a": 1}]]]),
            )
        },
        // The first comparison leaves what it has made of the list.
        update(
            "equality of sets that were compared before",
            ruled(
                set(json!({"type": "integer"})),
                &[
                    "self == oldSelf",
                    "self == oldSelf",
                    "oldSelf + self == self",
                    "oldSelf == self",
                    "self + oldSelf == self",
                    "oldSelf == self",
                ],
            ),
            json!([[[{"b": 2}, 4], [{"b": 2}, 4]], [[4, {"b": 2}], [4, {"b": 2}]], [[1, 2], [1, 2]], [[1, 2], [3, 4]], [[[1], 2], [2, 1]]]),
        ),
        update(
            "equality of sets of numbers",
            ruled(set(json!({"type": "number"})), &rules),
            json!([[[1], [1]], [[1.5], [1.5]], [[1.5, 2], [2, 1.5]]]),
        ),
        update(
            "equality of sets of bytes",
            ruled(set(json!({"type": "string", "format": "byte", "maxLength": 8})), &rules),
            json!([[["YQ=="], ["YQ=="]], [[], []]]),
        ),
        update(
            "equality of sets of durations",
            ruled(set(json!({"type": "string", "format": "duration"})), &rules),
            json!([[["1s"], ["1s"]], [["1s", "2s"], ["2s"]]]),
        ),
    ]
}

fn keyed() -> Vec<Case> {
    let keyed = |keys: &[&str], schema: Value| {
        let properties = keys.iter().map(|key| ((*key).to_owned(), schema.clone()));
        let mut items = json!({"type": "object", "required": keys});
        items["properties"] = Value::Object(
            properties
                .chain([("v".to_owned(), json!({"type": "integer"}))])
                .collect(),
        );
        let mut list = list(items);
        list["x-kubernetes-list-type"] = json!("map");
        list["x-kubernetes-list-map-keys"] = json!(keys);
        list
    };
    let rules = [
        "self == oldSelf",
        "oldSelf == self",
        "self == oldSelf || true",
        "self + oldSelf == self",
        "oldSelf + self == self",
    ];
    let text = json!({"type": "string", "maxLength": 5});
    let four = json!({"a": "1", "b": "2", "c": "3", "d": "4"});
    let other = json!({"a": 1, "b": "2", "c": "3", "d": "4"});
    vec![
        update(
            "equality of lists with old items of one key",
            ruled(keyed(&["a"], text.clone()), &rules),
            json!([
                [[{"a": "x", "v": 1}, {"a": "x", "v": 2}], [{"a": "x", "v": 1}, {"a": "y", "v": 2}]],
                [[{"a": "x", "v": 1}, {"a": "x", "v": 2}], [{"a": "x", "v": 2}]],
                [[{"a": "x", "v": 1}, {"a": "y", "v": 2}], [{"a": "y", "v": 2}, {"a": "x", "v": 1}]],
                [[{"a": "x"}, 1], [{"a": "x"}, {"a": "y"}]],
                [[{"a": []}], [{"a": "x"}]]
            ]),
        ),
        update(
            "equality of lists with a key that rules write differently",
            ruled(keyed(&["a-b"], text.clone()), &rules),
            json!([
                [[{"a-b": "x", "v": 1}, {"a-b": "y", "v": 2}], [{"a-b": "x", "v": 1}, {"a-b": "y", "v": 2}]],
                [[{"a-b": "x", "v": 1}], [{"a-b": "x", "v": 1}]],
                [[{"a-b": "x", "v": 1}], [{"a-b": "y", "v": 1}]]
            ]),
        ),
        update(
            "equality of lists with four keys",
            ruled(keyed(&["a", "b", "c", "d"], text), &rules),
            json!([[[four], [four]], [[other], [four]], [[{"a": []}], [four]]]),
        ),
        update(
            "equality of lists with keys that are numbers",
            ruled(keyed(&["a", "b"], json!({"type": "integer"})), &rules),
            json!([[[{"a": 1, "b": 2}], [{"a": 1, "b": 2}]], [[{"a": 1.5, "b": {}}], [{"a": 1, "b": 2}]], [[{"a": 1}], [{"a": 1, "b": 2}]]]),
        ),
    ]
}

fn sums() -> Vec<Case> {
    let rules = [
        "self + self == oldSelf + self",
        "oldSelf + self == self + oldSelf",
        "(self + oldSelf)[0] == self[0]",
        "[] + self == self",
        "self + [] == self",
        "size(self + oldSelf) > 1",
        "(oldSelf + self).exists(x, x == self[0])",
        "self[0] in oldSelf + self",
        "self[0] in [self[0]] + oldSelf",
        "[self[0]] + self == [self[0]] + oldSelf",
    ];
    let nested = json!({"type": "array", "nullable": true, "maxItems": 5, "items": {"type": "integer"}});
    vec![
        update(
            "sums of texts with other items",
            ruled(list(json!({"type": "string", "maxLength": 5})), &rules),
            json!([
                [[1], ["a"]],
                [["a"], ["a"]],
                [["a", 1], ["a", "b"]],
                [[null], ["a"]],
                [[], ["a"]]
            ]),
        ),
        update(
            "sums of bytes and nulls",
            ruled(
                list(json!({"type": "string", "format": "byte", "nullable": true, "maxLength": 8})),
                &rules,
            ),
            json!([[["YQ=="], ["YQ=="]], [[null], ["YQ=="]], [["YQ=="], [null]]]),
        ),
        update(
            "sums of dates",
            ruled(list(json!({"type": "string", "format": "date"})), &rules),
            json!([[["2024-01-01"], ["2024-01-01"]], [["2024-01-01"], ["2024-01-02"]]]),
        ),
        update(
            "sums of lists",
            ruled(list(nested), &rules),
            json!([[[[1]], [[1]]], [[[1]], [null]], [[null], [[1]]], [["a"], [[1]]]]),
        ),
    ]
}
