//! Values at the edges of fields: those for which decoders are known to differ from schemas, and typical ones.

use serde_json::{Value, json};

use super::text;
use crate::value::Structural;

/// Texts, typical ones first: types write these as they read them. Behind those, texts that API servers accept in a format and decoders refuse.
const TEXTS: [&str; 76] = [
    "a",
    "1",
    "10.0.0.1",
    "::1",
    "10.0.0.1:80",
    "[::1]:80",
    "10.0.0.0/8",
    "https://example.com/a",
    "example.com",
    "a@example.com",
    "2026-01-02T03:04:05Z",
    "2026-01-02T03:04:05",
    "2026-01-02",
    "03:04:05",
    "1m",
    "1h30m",
    "PT1M",
    "30",
    "1.5",
    "1.2.3",
    "100Mi",
    "9a2f1c64-0d7e-4f3b-8a51-2b9d6c7e8f10",
    "YQ==",
    "true",
    "Red",
    "red",
    "Europe/Berlin",
    "*/5 * * * *",
    "#ffffff",
    "a/b",
    "a=b",
    "a:b",
    "a:1",
    "50%",
    "abc",
    "",
    "é ü",
    "-1",
    "01",
    "256",
    "70000",
    "-129",
    "5000000000",
    "18446744073709551616",
    "1.2.18446744073709551616",
    "010.0.0.1",
    "::ffff:1.2.3.4",
    "::00001",
    "1::10.0.0.01",
    "10.0.0.1:99999",
    "/relative",
    "http://a:99999/",
    "http://",
    "http://[a]/",
    "mailto:a@example.com",
    "9a2f1c640d7e4f3b8a512b9d6c7e8f10",
    "9a2f1c640d7e-4f3b8a51-2b9d6c7e8f10",
    "9A2F1C64-0D7E-4F3B-8A51-2B9D6C7E8F10",
    "0000-01-01T00:00:00Z",
    "2026-01-02t03:04:05z",
    "2026-01-02T03:04:05.1234567890123Z",
    "2026-01-02T03:04:05,5Z",
    "2026-01-02T03:04:05x5Z",
    "2026-01-02T03:04:05+24:00",
    "2026-01-02T03:04:05+99:99",
    "2026-01-02T03:04:05+00:60",
    "2026-01-02T03:04:05-00:00",
    "9999-12-31T23:59:59Z",
    "9999-12-30T23:00:00-23:59",
    "0000-01-01T00:00:00+23:59",
    "0000-01-01",
    "1d",
    "1w",
    "P1D",
    "2 days",
    "-1.5h",
];

/// The number of typical texts.
const TYPICAL: usize = 37;

/// Numbers, typical ones first; then the edges of Rust's integers.
const NUMBERS: [i64; 19] = [
    1,
    0,
    2,
    10,
    80,
    1_000,
    -1,
    i8::MIN as i64 - 1,
    i8::MAX as i64 + 1,
    u8::MAX as i64 + 1,
    i16::MIN as i64 - 1,
    i16::MAX as i64 + 1,
    u16::MAX as i64 + 1,
    i32::MIN as i64 - 1,
    i32::MAX as i64 + 1,
    u32::MAX as i64 + 1,
    i64::MIN,
    i64::MAX,
    3_000_000_000,
];

/// Lengths beyond those of Kubernetes' names, 63 and 253 characters, and one beyond a kibibyte.
const LENGTHS: [usize; 3] = [64, 254, 1_025];

/// The longest text that is tried.
const LONGEST: usize = 10_000;

/// The texts to try as keys of a map.
pub(crate) fn of_keys() -> Vec<Value> {
    let long = LENGTHS.iter().map(|length| json!("a".repeat(*length)));
    TEXTS.iter().map(|text| json!(text)).chain(long).collect()
}

/// The length of a text that is tried because of its length.
#[cfg(feature = "lint")]
pub(crate) fn long(value: &Value) -> Option<usize> {
    let length = value.as_str()?.chars().count();
    let longest = TEXTS.iter().map(|text| text.chars().count()).max();
    (Some(length) > longest).then_some(length)
}

/// The first value that the schema of a field admits.
pub(crate) fn typical(schema: &Value) -> Option<Value> {
    admitted(schema).next()
}

/// The values to try in a field that its schema admits.
pub(crate) fn admitted(schema: &Value) -> impl Iterator<Item = Value> {
    among(schema, of_schema(schema).into_iter().chain(long_texts(schema)))
}

/// Those of these values that the schema of a field admits.
pub(super) fn among(schema: &Value, values: impl IntoIterator<Item = Value>) -> impl Iterator<Item = Value> {
    let compiled = Structural::compile(&json!({"type": "object", "properties": {"value": schema}}));
    let admits = move |value: &Value| compiled.validate(&json!({"value": value})).is_empty();
    values.into_iter().filter(admits)
}

/// The values to try in a field, the author's own first. The schema may refuse some.
pub(crate) fn of_schema(schema: &Value) -> Vec<Value> {
    own(schema).chain(of_type(schema)).collect()
}

fn own(schema: &Value) -> impl Iterator<Item = Value> {
    let own = ["default", "example"].into_iter();
    own.filter_map(|keyword| schema.get(keyword).cloned())
}

fn of_type(schema: &Value) -> Vec<Value> {
    if let Some(values) = schema["enum"].as_array() {
        return values.clone();
    }
    let texts = || texts(schema, TEXTS.len());
    let numbers = || {
        let limits = ["minimum", "maximum"].map(|keyword| schema[keyword].as_i64());
        let step = schema["multipleOf"].as_i64().unwrap_or(1);
        let multiples = NUMBERS.iter().map(move |number| number.saturating_mul(step));
        limits.into_iter().flatten().chain(multiples).map(Value::from)
    };
    match schema["type"].as_str() {
        _ if schema["x-kubernetes-int-or-string"] == true => numbers().chain(texts()).collect(),
        Some("string") => texts().collect(),
        Some("integer") => numbers().collect(),
        Some("number") => {
            // API servers cut the fraction of a bound off when they compare it with an integer: they accept 0 with a minimum of 0.5, and refuse
            // the 0.0 that every Rust type writes for it.
            let is_cut =
                ["minimum", "maximum"].map(|keyword| schema[keyword].as_f64().is_some_and(|it| it.fract() != 0.0));
            // Types write integers that a float does not hold exactly as other numbers.
            let is_inexact = |it: &Value| it.as_i64().is_some_and(|it| it.unsigned_abs() > 1 << 53);
            let number = |it: Value| {
                if is_cut.contains(&true) || is_inexact(&it) {
                    json!(it.as_f64())
                } else {
                    it
                }
            };
            let floats = [0.5, -2.25, 1e300, -1e300, 1e-300].map(Value::from);
            numbers().map(number).chain(floats).collect()
        }
        Some("boolean") => vec![json!(true), json!(false)],
        Some("object") => vec![json!({}), json!({"a": 1})],
        _ => vec![json!({"a": 1}), json!("a"), json!(1), json!([]), json!(true)],
    }
}

/// The values that a type writes as it reads them.
pub(super) fn typical_of(schema: &Value) -> Vec<Value> {
    if schema["x-kubernetes-int-or-string"] == true {
        let values = [json!(0), json!(8_080), json!("50%"), json!("http")];
        return own(schema).chain(values).collect();
    }
    match schema["type"].as_str() {
        Some("string") if schema["enum"].is_null() => own(schema).chain(texts(schema, TYPICAL)).collect(),
        _ => of_schema(schema),
    }
}

/// The first texts, one of the least length, and one of the pattern.
fn texts(schema: &Value, first: usize) -> impl Iterator<Item = Value> {
    let least = schema["minLength"].as_u64().and_then(|it| usize::try_from(it).ok());
    let long = least.filter(|least| *least > 1);
    let long = long.map(|least| json!("a".repeat(least.min(LONGEST))));
    let many = [1, least.unwrap_or(1).min(100)];
    let of_pattern = schema["pattern"].as_str();
    let of_pattern = of_pattern.map(|pattern| many.map(|many| json!(text::of(pattern, many))));
    let texts = TEXTS[..first].iter().map(|text| json!(text));
    texts.chain(long).chain(of_pattern.into_iter().flatten())
}

/// Texts that a type may refuse because of their length.
fn long_texts(schema: &Value) -> Vec<Value> {
    let is_text = schema["type"] == "string" || schema["x-kubernetes-int-or-string"] == true;
    if !is_text || schema["enum"].is_array() {
        return Vec::new();
    }
    let most = schema["maxLength"].as_u64().and_then(|it| usize::try_from(it).ok());
    let lengths = LENGTHS.into_iter().filter(|it| most.is_none_or(|most| *it < most));
    let lengths = lengths.chain(most.map(|most| most.min(LONGEST)));
    let mut texts = Vec::new();
    for length in lengths {
        texts.push("a".repeat(length));
        texts.extend(
            schema["pattern"]
                .as_str()
                .into_iter()
                .flat_map(|it| text::around(it, length)),
        );
    }
    texts.dedup();
    texts.into_iter().map(Value::from).collect()
}
