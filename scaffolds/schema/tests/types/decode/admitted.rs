//! Values that a schema admits, at random: texts of the kinds that formats have, with changes, and numbers at the edges.

use std::cell::Cell;

use kubewright_schema::{CustomType, value::Structural};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

/// The cases for each kind. Most texts are refused by a format, so there are more of them.
const CASES: u32 = 400;

/// Whether the schema of a field admits the value.
pub fn admits(schema: &Value, value: &Value) -> bool {
    let schema = Structural::compile(&json!({"type": "object", "properties": {"value": schema}}));
    schema.validate(&json!({"value": value})).is_empty()
}

/// Decodes objects that the CRD admits.
pub fn all_decode<K: DeserializeOwned + JsonSchema + Serialize>(name: &str, crd: &Value) {
    all_are_decoded(name, crd, CustomType::of::<K>(|| ()).round_trip);
}

/// Not generic: dozens of types are tested, and the runner of random cases is large.
fn all_are_decoded(name: &str, crd: &Value, round_trip: fn(&Value) -> Result<Value, String>) {
    let version = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let schema = &version["properties"]["spec"]["properties"]["f"];
    let (compiled, whole) = (
        Structural::compile(&json!({"type": "object", "properties": {"f": schema}})),
        Structural::compile(version),
    );
    let tried = Cell::new(0);
    let mut runner = TestRunner::new(Config::with_cases(CASES));
    let result = runner.run(&of(schema), |value| {
        if !compiled.validate(&json!({"f": value})).is_empty() {
            return Ok(());
        }
        let mut object = json!({
            "apiVersion": "test.example.com/v1", "kind": "Other", "metadata": {"name": "a"}, "spec": {"f": value},
        });
        whole.prune(&mut object);
        whole.default(&mut object);
        if whole.validate(&object).is_empty() {
            tried.set(tried.get() + 1);
            if let Err(error) = round_trip(&object) {
                return Err(TestCaseError::fail(format!("{error}: {object}")));
            }
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(tried.get() > 0, "{name}: no value was admitted");
}

/// Values of roughly the schema's shape.
fn of(schema: &Value) -> BoxedStrategy<Value> {
    if schema["x-kubernetes-int-or-string"] == true {
        return prop_oneof![numbers(), texts()].boxed();
    }
    match schema["type"].as_str() {
        _ if schema["enum"].is_array() => {
            proptest::sample::select(schema["enum"].as_array().cloned().unwrap_or_default()).boxed()
        }
        Some("object") if schema["oneOf"].is_array() => {
            let fields = &schema["properties"];
            let branches = schema["oneOf"].as_array().into_iter().flatten();
            let names = branches.filter_map(|branch| branch["required"][0].as_str().map(str::to_owned));
            let variants: Vec<_> = names
                .clone()
                .map(|name| (Just(name.clone()), of(&fields[&name])))
                .collect();
            let mut rest = schema.clone();
            if let Some(rest) = rest.as_object_mut() {
                rest.remove("oneOf");
            }
            if let Some(rest) = rest["properties"].as_object_mut() {
                rest.retain(|name, _| !names.clone().any(|variant| variant == *name));
            }
            let one = proptest::strategy::Union::new(variants);
            (one, of(&rest))
                .prop_map(|((name, value), mut rest)| {
                    rest[name] = value;
                    rest
                })
                .boxed()
        }
        Some("object") if schema["properties"].is_object() => {
            let required: Vec<_> = schema["required"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let fields = schema["properties"].as_object().into_iter().flatten();
            let fields: Vec<_> = fields
                .map(|(name, field)| {
                    let value = of(field);
                    let value = if required.contains(&name.as_str()) {
                        value.prop_map(Some).boxed()
                    } else {
                        proptest::option::weighted(0.05, value).boxed()
                    };
                    (Just(name.clone()), value)
                })
                .collect();
            fields
                .prop_map(|fields| {
                    fields
                        .into_iter()
                        .filter_map(|(name, value)| Some((name, value?)))
                        .collect::<Map<_, _>>()
                        .into()
                })
                .boxed()
        }
        Some("object") if schema["additionalProperties"].is_object() => {
            let fields = proptest::collection::btree_map("[a-z0-9.]{0,4}", of(&schema["additionalProperties"]), 0..2);
            fields
                .prop_map(|fields| fields.into_iter().collect::<Map<_, _>>().into())
                .boxed()
        }
        Some("object") => Just(json!({})).boxed(),
        Some("array") => {
            let least = schema["minItems"]
                .as_u64()
                .map_or(0, |least| usize::try_from(least).unwrap());
            proptest::collection::vec(of(&schema["items"]), least..least + 2)
                .prop_map(Value::from)
                .boxed()
        }
        Some("boolean") => any::<bool>().prop_map(Value::from).boxed(),
        Some("integer") => {
            let bounds = ["minimum", "maximum"].map(|keyword| schema[keyword].clone());
            let bounds: Vec<_> = bounds.into_iter().filter(Value::is_number).collect();
            match bounds.is_empty() {
                true => numbers().boxed(),
                false => prop_oneof![numbers(), proptest::sample::select(bounds)].boxed(),
            }
        }
        Some("number") => prop_oneof![numbers(), any::<f64>().prop_map(Value::from)].boxed(),
        Some("string") => texts().boxed(),
        _ => Just(json!({})).boxed(),
    }
}

fn numbers() -> impl Strategy<Value = Value> {
    let edge = proptest::sample::select(vec![7_u32, 8, 15, 16, 31, 32, 63]);
    let near = (edge, -2_i128..3, any::<bool>()).prop_map(|(bits, off, negative)| {
        let edge = (1_i128 << bits) + off;
        let value = if negative { -edge } else { edge };
        Value::from(i64::try_from(value).unwrap_or(i64::MAX))
    });
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        near,
        (0_i64..10).prop_map(Value::from)
    ]
}

fn texts() -> impl Strategy<Value = Value> {
    let time = "[0-9]{4}-[01][0-9]-[0-3][0-9][Tt][0-2][0-9]:[0-5][0-9]:[0-5][0-9]([.,][0-9]{1,12})?([Zz]|[+-][0-9]{2}:[0-9]{2})?";
    let last = "9999-1[12]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](Z|[+-][012][0-9]:[0-5][0-9])";
    let uuid = "[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}";
    prop_oneof![
        time,
        last,
        "20[0-9]{2}-0[1-9]-[12][0-9]T1[0-9]:[0-5][0-9]:[0-5][0-9]",
        "[0-9]{4}-[01][0-9]-[0-3][0-9]",
        "[0-2][0-9]:[0-5][0-9]:[0-6][0-9](\\.[0-9]{1,10})?",
        uuid,
        "0?[0-9]{1,3}\\.0?[0-9]{1,3}\\.[0-9]{1,2}\\.[0-9]{1,2}",
        "([0-9a-f]{1,5}:){1,7}:?([0-9a-f]{1,5}|[0-9]{1,3}\\.[0-9]{1,3}\\.0?[0-9]{1,2}\\.[0-9])?",
        "::(ffff:)?([0-9a-f]{0,5}|[0-9]{1,2}\\.[0-9]{1,2}\\.[0-9]{1,2}\\.0?[0-9]{1,2})",
        "[+-]?[0-9]{1,20}(\\.[0-9]{1,3})?(Ki|Mi|k|m|e[0-9])?",
        "[a-z]{0,3}",
        "True|False|Unknown",
        ".{0,4}",
    ]
    .prop_map(Value::from)
}
