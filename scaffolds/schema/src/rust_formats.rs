//! Patterns that admit what Rust's decoders accept of a format. API servers check formats more leniently.

use serde_json::{Map, Value};

/// RFC 3339 in capitals, with up to nine digits of a fraction and offsets below 24 hours, before December 9999: jiff's last timestamp is
/// 9999-12-30T22:00:00.999999999Z, and chrono refuses an offset of a day. An API server also accepts offsets such as +99:99. Types write times in
/// UTC, so the first and the last year have no offset: 0000-01-01T00:00:00+01:00 is in a year that no API server accepts.
pub(crate) const DATE_TIME: &str = "^((000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-8][0-9]{3}|9[0-8][0-9]{2}|99[0-8][0-9]|999[0-8])-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])|(0000-[0-9]{2}|9999-(0[1-9]|1[01]))-[0-9]{2}T[0-9:]{8}(\\.[0-9]{1,9})?Z)$";

/// A day that exists, without an offset: `partial-date-time` of schemars, which no API server knows.
const DAY: &str = "([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)";
const TIME: &str = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?";

/// With dashes in all places, or without dashes. An API server also accepts some dashes.
const UUID: &str = "^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{32})$";

/// Numbers without leading zeros, and groups of at most four digits.
const V4: &str = "((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const V6_START: &str = "([0-9a-fA-F]{0,4}:){1,8}";

/// The pattern that `make manifests` adds to this field by itself, because a type with its format decodes no other text. Formats that only
/// schemars has are included.
#[cfg(feature = "lint")]
pub(crate) fn added(schema: &Value) -> Option<String> {
    match schema["format"].as_str() {
        Some("ip") => {
            pattern(&serde_json::json!({"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]}))
        }
        Some(format) => of_foreign(format).or_else(|| pattern(schema)),
        None => pattern(schema),
    }
}

/// Whether [`close`] has a pattern for the format of a field without a pattern.
pub(crate) fn may_close(schema: &Value) -> bool {
    schema.get("pattern").is_none() && pattern(schema).is_some()
}

/// Adds the pattern.
pub(crate) fn close(schema: &mut Map<String, Value>) {
    if let Some(pattern) = pattern(&Value::Object(schema.clone())) {
        schema.entry("pattern").or_insert(pattern.into());
    }
}

/// The pattern in place of a format that only schemars has.
pub(crate) fn of_foreign(format: &str) -> Option<String> {
    match format {
        "partial-date-time" => Some(format!("^{DAY}T{TIME}$")),
        "partial-time" => Some(format!("^{TIME}$")),
        _ => None,
    }
}

fn pattern(schema: &Value) -> Option<String> {
    if schema["type"] != "string" {
        return None;
    }
    let of = |format: &str| match format {
        "date-time" => Some(DATE_TIME.to_owned()),
        "uuid" => Some(UUID.to_owned()),
        "ipv4" => Some(format!("^{V4}$")),
        "ipv6" => Some(format!("^{V6_START}([0-9a-fA-F]{{0,4}}|{V4})$")),
        _ => None,
    };
    let branches = schema["anyOf"].as_array().into_iter().flatten();
    let formats: Vec<_> = branches.map(|branch| branch["format"].as_str()).collect();
    match formats[..] {
        [Some("ipv4"), Some("ipv6")] => Some(format!("^({V4}|{V6_START}([0-9a-fA-F]{{0,4}}|{V4}))$")),
        _ => of(schema["format"].as_str()?),
    }
}
