//! Normalises numbers: Kubernetes supports int32, int64, float and double, and prints integral values without a fraction.

use serde_json::{Map, Number, Value};

/// Keywords whose value is a number.
const KEYWORDS: [&str; 3] = ["minimum", "maximum", "multipleOf"];

/// For each of Rust's integer types: the format, and the bounds that the format does not imply. The maximum of an unsigned
/// 64-bit integer is beyond int64, so only the bound of int64 applies.
const INTEGERS: [(&str, &str, Option<i64>, Option<i64>); 11] = [
    ("uint8", "int32", Some(0), Some(u8::MAX as i64)),
    ("uint16", "int32", Some(0), Some(u16::MAX as i64)),
    ("uint32", "int64", Some(0), Some(u32::MAX as i64)),
    ("uint64", "int64", Some(0), None),
    ("uint128", "int64", Some(0), None),
    ("uint", "int64", Some(0), None),
    ("int8", "int32", Some(i8::MIN as i64), Some(i8::MAX as i64)),
    ("int16", "int32", Some(i16::MIN as i64), Some(i16::MAX as i64)),
    ("int128", "int64", None, None),
    ("int", "int64", None, None),
    ("integer", "int64", None, None),
];

pub(super) fn normalise(schema: &mut Map<String, Value>) {
    for key in KEYWORDS {
        if let Some(value) = schema.get_mut(key) {
            integral(value);
        }
    }
    for key in ["default", "example", "enum"] {
        if let Some(value) = schema.get_mut(key) {
            integral(value);
        }
    }
    for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        match schema.get(exclusive) {
            Some(Value::Bool(false)) => _ = schema.remove(exclusive),
            // In JSON Schema 2020-12 the value is the bound itself; in OpenAPI 3.0, which CRDs use, it is a flag beside the bound.
            Some(Value::Number(limit)) if !schema.contains_key(bound) => {
                let mut limit = Value::Number(limit.clone());
                integral(&mut limit);
                schema.insert(bound.to_owned(), limit);
                schema.insert(exclusive.to_owned(), true.into());
            }
            _ => {}
        }
    }
    width(schema);
}

fn width(schema: &mut Map<String, Value>) {
    let Some(format) = schema.get("format").and_then(Value::as_str) else {
        return;
    };
    let Some((_, format, least, most)) = INTEGERS.into_iter().find(|(rust, ..)| *rust == format) else {
        return;
    };
    schema.insert("format".into(), format.into());
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    // The author's own bound stays if it is tighter.
    let minimum = least.filter(|least| bound("minimum").is_none_or(|own| own < *least as f64));
    let maximum = most.filter(|most| bound("maximum").is_none_or(|own| own > *most as f64));
    if let Some(minimum) = minimum {
        schema.insert("minimum".into(), minimum.into());
    }
    if let Some(maximum) = maximum {
        schema.insert("maximum".into(), maximum.into());
    }
}

/// Turns floats without a fraction into integers, recursively.
fn integral(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(integer) = as_integer(number) {
                *value = integer.into();
            }
        }
        Value::Array(list) => list.iter_mut().for_each(integral),
        Value::Object(map) => map.values_mut().for_each(integral),
        _ => {}
    }
}

fn as_integer(number: &Number) -> Option<i64> {
    let float = number.as_f64().filter(|_| !number.is_i64() && !number.is_u64())?;
    // Up to 2^53 every integral float is exact; the cast cannot lose anything.
    (float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0).then_some(float as i64)
}

/// Turns the double that equals a float into the one with the float's digits. Any other number stays.
pub(super) fn shorten(number: &mut Number) {
    let float = number.as_f64().map(|it| (it, it as f32));
    let equal = float.filter(|(double, float)| number.is_f64() && f64::from(*float) == *double);
    let short = equal.and_then(|(_, float)| float.to_string().parse().ok());
    if let Some(short) = short.and_then(Number::from_f64) {
        *number = short;
    }
}
