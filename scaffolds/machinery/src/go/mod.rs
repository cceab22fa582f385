//! Go's formats of values, which the server's messages contain: `%v` of numbers, `%q` of texts, and JSON.

mod duration;
pub mod interface;

pub use duration::{duration, loose_duration};

use serde_json::{Number, Value};
use std::fmt::Write;

/// A value in the message of a field error: scalars in the formats `%v` and `%q`, others as JSON.
pub fn show(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Number(number) => plain(number),
        other => json(other),
    }
}

/// The decoder's name for the type of a value.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// `%v` of a number, which is an `int64` if it fits and a `float64` otherwise.
pub fn plain(number: &Number) -> String {
    match (number.as_i64(), number.as_f64()) {
        (Some(integer), _) => integer.to_string(),
        (None, Some(float)) => decimal(float),
        (None, None) => number.to_string(),
    }
}

/// `%v` of a `float64`: the shortest digits that parse to the same value, with an exponent of at least two digits from 1e6 up and below 1e-4.
pub fn decimal(float: f64) -> String {
    let size = float.abs();
    if size == 0.0 || (1e-4..1e6).contains(&size) {
        return float.to_string();
    }
    let text = format!("{float:e}");
    let Some((digits, exponent)) = text.split_once('e') else {
        return text;
    };
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

/// The conversion of a `float64` to an `int64`: truncated, and on amd64 the smallest `int64` if it does not fit.
pub fn int64(float: f64) -> i64 {
    const BOUND: f64 = 9_223_372_036_854_775_808.0;
    if (-BOUND..BOUND).contains(&float) {
        float as i64
    } else {
        i64::MIN
    }
}

/// Changes a value to what a server reads from its storage: a whole float is stored without a fraction, so it becomes an
/// integer if it fits.
pub fn store(value: &mut Value) {
    match value {
        Value::Number(number) if !number.is_i64() => *number = stored_number(number.clone()),
        Value::Array(list) => list.iter_mut().for_each(store),
        Value::Object(map) => map.values_mut().for_each(store),
        _ => {}
    }
}

/// [`store`] of an owned value.
pub fn stored(mut value: Value) -> Value {
    store(&mut value);
    value
}

/// [`store`] of a number. One from 2⁶³ up, which Go reads as a float, has the digits that Go writes.
pub fn stored_number(number: Number) -> Number {
    /// 2⁶⁴: integers from here up are floats in `serde_json` too.
    const BOUND: f64 = 18_446_744_073_709_551_616.0;
    let float = match (number.as_i64(), number.as_f64()) {
        (None, Some(float)) if float.fract() == 0.0 && float.abs() < BOUND => float,
        _ => return number,
    };
    let digits = float.to_string();
    let signed = digits.parse::<i64>().map(Number::from);
    let unsigned = || digits.parse::<u64>().map(Number::from);
    signed.or_else(|_| unsigned()).unwrap_or(number)
}

/// `reflect.DeepEqual` of decoded JSON: an integer does not equal a float of the same value.
pub fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => match (one.as_i64(), other.as_i64()) {
            (None, None) => one.as_f64() == other.as_f64(),
            (one, other) => one == other,
        },
        (Value::Array(one), Value::Array(other)) => equal_lists(one, other),
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, value)| other.get(key).is_some_and(|other| equal(value, other)))
        }
        (one, other) => one == other,
    }
}

/// [`equal`] of lists.
pub fn equal_lists(one: &[Value], other: &[Value]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
}

/// `%q` of a text.
pub fn quote(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        let code = u32::from(c);
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if printable(c) => out.push(c),
            _ if code < 0x80 => _ = write!(out, "\\x{code:02x}"),
            _ if code < 0x1_0000 => _ = write!(out, "\\u{code:04x}"),
            _ => _ = write!(out, "\\U{code:08x}"),
        }
    }
    out.push('"');
    out
}

/// A text as the package `time` quotes it, byte by byte.
pub fn quote_bytes(text: &str) -> String {
    let inner = text.bytes().map(|byte| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..0x80 => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    });
    format!("\"{}\"", inner.collect::<String>())
}

/// Whether a character is printable in Go: a letter, mark, number, punctuation, symbol or plain space. Rust's debug format
/// escapes all others (and marks at the beginning of a text, so another character precedes `c` here).
pub fn printable(c: char) -> bool {
    matches!(c, '\'' | '"' | '\\') || [' ', c].iter().collect::<String>().escape_debug().nth(1) == Some(c)
}

/// `json.Marshal`: sorted keys, no spaces, and `<`, `>`, `&` escaped.
pub fn json(value: &Value) -> String {
    let mut out = String::new();
    write_json(value, &mut out);
    out
}

fn write_json(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&json_number(number)),
        Value::String(text) => write_text(text, out),
        Value::Array(list) => {
            out.push('[');
            for (index, item) in list.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_json(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (index, (key, item)) in map.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_text(key, out);
                out.push(':');
                write_json(item, out);
            }
            out.push('}');
        }
    }
}

/// Unlike `%v`, without an exponent down to 1e-6, and without leading zeros in exponents.
fn json_number(number: &Number) -> String {
    match (number.as_i64(), number.as_f64()) {
        (Some(integer), _) => integer.to_string(),
        (None, Some(float)) => json_float(float),
        (None, None) => number.to_string(),
    }
}

/// A `float64` in JSON.
pub fn json_float(float: f64) -> String {
    if float == 0.0 || (1e-6..1e21).contains(&float.abs()) {
        return float.to_string();
    }
    let text = format!("{float:e}");
    if text.contains("e-") {
        text
    } else {
        text.replacen('e', "e+", 1)
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => _ = write!(out, "\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_formatted_as_in_go() {
        for (value, plain, json) in [
            (json!(1), "1", "1"),
            (json!(1.0), "1", "1"),
            (json!(-0.5), "-0.5", "-0.5"),
            (json!(123456.5), "123456.5", "123456.5"),
            (json!(1e6), "1e+06", "1000000"),
            (json!(1e20), "1e+20", "100000000000000000000"),
            (json!(1e21), "1e+21", "1e+21"),
            (json!(0.0001), "0.0001", "0.0001"),
            (json!(0.00001), "1e-05", "0.00001"),
            (json!(1.5e-7), "1.5e-07", "1.5e-7"),
            (json!(u64::MAX), "1.8446744073709552e+19", "18446744073709552000"),
        ] {
            assert_eq!((show(&value).as_str(), super::json(&value).as_str()), (plain, json));
        }
    }

    #[test]
    fn whole_numbers_are_stored_with_the_digits_of_go() {
        for (value, stored) in [
            (json!(1.0), json!(1)),
            (json!(-0.0), json!(0)),
            (json!(1.5), json!(1.5)),
            (json!(1.234_567_890_123_456_8e18), json!(1_234_567_890_123_456_800_i64)),
            (
                json!(9_223_372_036_854_775_808_u64),
                json!(9_223_372_036_854_776_000_u64),
            ),
            (json!(1e20), json!(1e20)),
        ] {
            assert_eq!(super::stored(value), stored);
        }
    }

    #[test]
    fn texts_are_quoted_as_in_go() {
        assert_eq!(
            quote("a\u{7}\u{1}\u{7f}\u{80}\u{301}é'\"\u{feff}\u{e0001}"),
            r#""a\a\x01\x7f\u0080́é'\"\ufeff\U000e0001""#
        );
        assert_eq!(
            json(&json!({"b": "<\u{1}>", "a": [null]})),
            r#"{"a":[null],"b":"\u003c\u0001\u003e"}"#
        );
    }
}
