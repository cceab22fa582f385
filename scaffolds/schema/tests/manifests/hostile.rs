//! Fuzz tests: no schema and no value causes a panic. Both can come from any client of a server.

use kubewright_schema::lint;
use kubewright_schema::value::Structural;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Keywords, so that random schemas have an effect, and names that have a meaning in resources.
const KEYS: [&str; 44] = [
    "type",
    "properties",
    "items",
    "additionalProperties",
    "required",
    "enum",
    "default",
    "nullable",
    "format",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "uniqueItems",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "spec",
    "status",
    "metadata",
    "kind",
    "apiVersion",
    "labels",
    "ownerReferences",
    "creationTimestamp",
    "managedFields",
    "a",
    "",
    "x.y",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-validations",
];

const TEXTS: [&str; 30] = [
    "object",
    "array",
    "string",
    "integer",
    "number",
    "boolean",
    "set",
    "map",
    "atomic",
    "date",
    "date-time",
    "duration",
    "uri",
    "email",
    "cidr",
    "mac",
    "creditcard",
    "isbn",
    "int32",
    "a",
    "",
    "é\u{0}🦀",
    "(a|b)*$",
    "[",
    "\\",
    "2024-02-30",
    "9223372036854775808h",
    "http://[::%25",
    "\"@(",
    "::ffff:1.2.3.4/129",
];

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|it| json!(it)),
        (-3i64..4).prop_map(Value::from),
        prop::sample::select(&TEXTS[..]).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 6, |inner| {
        let key = prop_oneof![9 => prop::sample::select(&KEYS[..]).prop_map(str::to_owned), 1 => any::<String>()];
        let rule = prop::sample::select(&["self == oldSelf", "self.a", "size(self) > 0"][..]);
        prop_oneof![
            2 => prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            6 => prop::collection::vec((key, inner), 0..6).prop_map(|it| it.into_iter().collect::<Map<_, _>>().into()),
            1 => rule.prop_map(|rule| json!([{"rule": rule}])),
        ]
    })
}

fn run(schema: &Value, values: [Value; 2]) {
    let crd = json!({"spec": {"versions": [{"name": "v1", "storage": true, "schema": {"openAPIV3Schema": schema}}]}});
    lint::causes(&crd);
    lint::warnings(&crd);
    let structural = Structural::compile(schema);
    let [mut new, mut old] = values;
    structural.prune(&mut new);
    structural.prune(&mut old);
    _ = structural.coerce(&mut new);
    structural.default(&mut new);
    structural.validate(&new);
    structural.validate_update(&new, &old);
    structural.validate_status(&new, &old);
    // No unknown fields are left, and defaults add none.
    assert_eq!(structural.prune(&mut new), Vec::<String>::new());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_schemas_and_values_cause_no_panic(schema in anything(), new in anything(), old in anything()) {
        run(&schema, [new, old]);
    }

    #[test]
    fn random_values_cause_no_panic_in_a_schema_with_all_keywords(mut spec in anything(), new in anything(), old in anything()) {
        if let Value::Object(spec) = &mut spec {
            spec.remove("$ref");
        }
        let schema = json!({"type": "object", "properties": {
            "spec": spec,
            "status": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", ""], "items": {"type": "object"}},
            "a": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true},
            "items": {"type": "array", "x-kubernetes-list-type": "set", "items": {"x-kubernetes-int-or-string": true}},
        }});
        let wrap = |value: &Value| json!({"spec": value, "status": value, "a": value, "items": value});
        run(&schema, [wrap(&new), wrap(&old)]);
    }
}

#[test]
fn the_deepest_json_that_can_be_parsed_fits_on_the_stack() {
    let nest = |open: &str, inner: &str, close: &str, times: usize| -> Value {
        serde_json::from_str(&format!("{}{inner}{}", open.repeat(times), close.repeat(times))).unwrap()
    };
    for (schema, value) in [
        (
            nest(r#"{"type": "array", "items": "#, r#"{"type": "string"}"#, "}", 120),
            nest("[", "1", "]", 120),
        ),
        (
            nest(
                r#"{"type": "object", "properties": {"a": "#,
                r#"{"type": "string"}"#,
                "}}",
                60,
            ),
            nest(r#"{"a": "#, "{}", "}", 120),
        ),
        (
            nest(r#"{"anyOf": [{"not": "#, r#"{"minimum": 1}"#, "}]}", 40),
            nest("[", "1", "]", 120),
        ),
        (
            json!({"type": "object", "additionalProperties": true}),
            nest(r#"[{"a": "#, "{}", "}]", 60),
        ),
    ] {
        run(&schema, [value.clone(), value]);
    }
}
