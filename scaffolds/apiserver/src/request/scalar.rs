//! The values of plain scalars in YAML 1.1, by the rules of go-yaml v2, which sigs.k8s.io/yaml uses.

use kubewright_machinery::{
    base64::{self, Encoding},
    go,
};
use serde_json::Value;

use crate::json::number;

/// Null, a boolean, a number or, usually, a string. Timestamps stay strings.
pub fn resolve(text: &str) -> Result<Value, String> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => true.into(),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => false.into(),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Err(unsupported("+Inf")),
        "-.inf" | "-.Inf" | "-.INF" => return Err(unsupported("-Inf")),
        ".nan" | ".NaN" | ".NAN" => return Err(unsupported("NaN")),
        text => numeric(text).unwrap_or_else(|| text.into()),
    })
}

/// The string of a `!!binary` scalar.
pub fn binary(text: &str) -> Result<String, String> {
    let decoded =
        base64::decode(text, Encoding::Standard).map_err(|_| "yaml: !!binary value contains invalid base64 data")?;
    Ok(String::from_utf8_lossy(&decoded).into_owned())
}

fn unsupported(number: &str) -> String {
    format!("json: unsupported value: {number}")
}

fn numeric(text: &str) -> Option<Value> {
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return None;
    }
    let text = text.replace('_', "");
    if let Some(integer) = integer(&text) {
        return Some(integer.into());
    }
    if !is_float(&text) {
        return None;
    }
    let text = text.strip_prefix('+').unwrap_or(&text);
    // Upstream converts YAML to JSON, which Go writes and reads again.
    number(text).ok().map(go::stored_number).map(Value::Number)
}

/// `strconv.ParseInt` with base 0: the prefix determines the base, and a leading zero means octal.
fn integer(text: &str) -> Option<i64> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => ("-", text.get(1..)?),
        b'+' => ("", text.get(1..)?),
        _ => ("", text),
    };
    let lower = digits.to_ascii_lowercase();
    let (digits, base) = match lower.get(..2) {
        Some("0x") => (lower.get(2..)?, 16),
        Some("0o") => (lower.get(2..)?, 8),
        Some("0b") => (lower.get(2..)?, 2),
        Some(_) if lower.starts_with('0') => (lower.get(1..)?, 8),
        _ => (lower.as_str(), 10),
    };
    let plain = digits.starts_with(|c: char| c.is_ascii_alphanumeric());
    plain.then(|| i64::from_str_radix(&format!("{sign}{digits}"), base).ok())?
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent_fits = exponent.is_none_or(|text| {
        let text = text.strip_prefix(['+', '-']).unwrap_or(text);
        !text.is_empty() && digits(text)
    });
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    exponent_fits && digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scalars_are_those_of_yaml_1_1() {
        let resolved: Vec<Value> = [
            "0x1f", "010", "0o10", "1e3", "~", "on", "y", "1_000", "0b11", "+1", "1.50", "No", "1.", "-0x10",
        ]
        .iter()
        .map(|text| resolve(text).unwrap())
        .collect();
        assert_eq!(
            json!(resolved),
            json!([31, 8, 8, 1000, null, true, true, 1000, 3, 1, 1.5, false, 1, -16])
        );
    }

    #[test]
    fn scalars_that_resemble_numbers_are_texts() {
        for text in [
            "2020-01-01",
            "12:30",
            "1.2.3",
            "-",
            "+",
            ".",
            "1e",
            "0x",
            "08x",
            "=",
            "<<",
            "v1",
            "10Gi",
            "--1",
            "0b2",
        ] {
            assert_eq!(resolve(text).unwrap(), json!(text));
        }
        assert_eq!(resolve(".inf").unwrap_err(), "json: unsupported value: +Inf");
    }
}
