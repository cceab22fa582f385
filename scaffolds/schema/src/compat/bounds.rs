//! Compares the constraints on one value: bounds, formats, patterns, branches. What the type implies, and what the type never decoded, is no
//! new constraint.

use super::consequence::{MAY_REFUSE, MAY_REFUSE_ALL, REFUSED};
use crate::embedded::QUANTITY;
use crate::lint::structural;
use crate::rust_formats;
use kubewright_machinery::formats::Format;
use serde_json::Value;

type Found = Vec<(String, &'static str)>;

/// The tighter constraints of a value.
pub(super) fn changes(old: &Value, new: &Value) -> Found {
    let mut found = numbers(old, new);
    found.extend(sizes(old, new));
    found.extend(equal(old, new));
    found.extend(branches(old, new));
    if old["nullable"] == true && new["nullable"] != true {
        found.push(("null is no longer allowed".to_owned(), REFUSED));
    }
    found
}

/// `minimum` and `maximum` with their `exclusive` flags.
fn numbers(old: &Value, new: &Value) -> Found {
    let mut found = Vec::new();
    for (key, flag, sign) in [
        ("minimum", "exclusiveMinimum", 1.0),
        ("maximum", "exclusiveMaximum", -1.0),
    ] {
        let Some(is) = bound(new, key, flag, sign) else {
            continue;
        };
        if is_of_kubernetes(old, new, key) {
            continue;
        }
        let was = bound(old, key, flag, sign);
        let implied = limits(old).map(|(least, most)| (if sign > 0.0 { least } else { -most }, false));
        if [was, implied].into_iter().flatten().any(|was| was >= is) {
            continue;
        }
        let exclusive = new[flag] == true && old[flag] != true;
        found.push(match (&old[key], exclusive && old[key] == new[key]) {
            (_, true) => (format!("`{flag}` is new"), MAY_REFUSE),
            (Value::Null, _) => (format!("`{key}` is {} and was not set", new[key]), MAY_REFUSE),
            (was, _) => (format!("`{key}` was {was} and is {}", new[key]), MAY_REFUSE),
        });
    }
    let multiple = (old["multipleOf"].as_f64(), new["multipleOf"].as_f64());
    match multiple {
        (_, None) => {}
        (_, Some(1.0)) if new["type"] == "integer" => {}
        (Some(was), Some(is)) if was % is == 0.0 => {}
        (None, _) => found.push(("`multipleOf` is new".to_owned(), MAY_REFUSE)),
        _ => found.push(("`multipleOf` changed".to_owned(), MAY_REFUSE)),
    }
    found
}

/// A bound in the order of tightness, and whether the bound itself is excluded. Integers have no values between.
fn bound(schema: &Value, key: &str, flag: &str, sign: f64) -> Option<(f64, bool)> {
    let value = sign * schema[key].as_f64()?;
    let exclusive = schema[flag] == true;
    Some(match schema["type"] == "integer" && exclusive {
        true => (value + 1.0, false),
        false => (value, exclusive),
    })
}

/// The bounds that a type implies by its format.
fn limits(schema: &Value) -> Option<(f64, f64)> {
    match (schema["type"].as_str()?, schema["format"].as_str()?) {
        ("integer" | "number", "int32") => Some((f64::from(i32::MIN), f64::from(i32::MAX))),
        ("integer" | "number", "int64") => Some((i64::MIN as f64, i64::MAX as f64)),
        ("integer" | "number", "float") => Some((f64::from(f32::MIN), f64::from(f32::MAX))),
        _ => None,
    }
}

/// Whether it is the limit that `make manifests` adds to Kubernetes' `IntOrString`, which decodes no other number.
fn is_of_kubernetes(old: &Value, new: &Value, key: &str) -> bool {
    let added = if key == "minimum" { i32::MIN } else { i32::MAX };
    [old, new].iter().all(|it| it["x-kubernetes-int-or-string"] == true) && old[key].is_null() && new[key] == added
}

/// Lengths and counts.
fn sizes(old: &Value, new: &Value) -> Found {
    let mut found = Vec::new();
    for (key, is_least) in ["minLength", "minItems", "minProperties"]
        .map(|key| (key, true))
        .into_iter()
        .chain(["maxLength", "maxItems", "maxProperties"].map(|key| (key, false)))
    {
        let Some(is) = new[key].as_f64() else { continue };
        match old[key].as_f64() {
            None if is_least && is <= 0.0 => {}
            None => found.push((format!("`{key}` is {} and was not set", new[key]), MAY_REFUSE)),
            Some(was) if (is_least && is > was) || (!is_least && is < was) => {
                found.push((format!("`{key}` was {} and is {}", old[key], new[key]), MAY_REFUSE));
            }
            Some(_) => {}
        }
    }
    found
}

/// `pattern` and `format`, which are compatible only if they are equal, or known.
fn equal(old: &Value, new: &Value) -> Found {
    let mut found = Vec::new();
    let changed = |key: &str| !new[key].is_null() && old[key] != new[key];
    let verb = |key: &str| if old[key].is_null() { "is new" } else { "changed" };
    if changed("pattern") && !is_added(old, new) {
        found.push((format!("`pattern` {}", verb("pattern")), MAY_REFUSE));
    }
    if changed("format") && !is_wider_format(old, new) {
        found.push((format!("`format` {}", verb("format")), MAY_REFUSE));
    }
    found
}

/// Whether `make manifests` adds the pattern by itself to a type that never decoded anything else. Kubernetes' `IntOrString` decodes other
/// texts than a quantity; 0.2 and later limit its numbers.
fn is_added(old: &Value, new: &Value) -> bool {
    let Some(pattern) = new["pattern"].as_str().filter(|_| old["pattern"].is_null()) else {
        return false;
    };
    let was_quantity = || {
        let is_limited = ["minimum", "maximum"].iter().any(|key| !old[key].is_null());
        old["type"] == "integer" || (old["x-kubernetes-int-or-string"] == true && !is_limited)
    };
    match new["x-kubernetes-int-or-string"] == true {
        true => pattern == QUANTITY && was_quantity(),
        false => rust_formats::added(old).is_some_and(|added| added == pattern),
    }
}

/// Whether the new format admits all values of the old one. API servers ignore formats that they do not know.
fn is_wider_format(old: &Value, new: &Value) -> bool {
    let (kind, format) = (new["type"].as_str().unwrap_or("string"), new["format"].as_str());
    let Some(format) = format.filter(|format| Format::known(kind, format).is_some()) else {
        return true;
    };
    match kind {
        "integer" | "number" => limits(new).is_none_or(|(least, most)| {
            let bound = |key: &str| old[key].as_f64();
            let implied = limits(old);
            let reaches = |was: [Option<f64>; 2], fits: &dyn Fn(f64) -> bool| was.into_iter().flatten().any(fits);
            reaches([bound("minimum"), implied.map(|it| it.0)], &|was| was >= least)
                && reaches([bound("maximum"), implied.map(|it| it.1)], &|was| was <= most)
        }),
        _ => format == "password",
    }
}

/// `allOf`, `anyOf`, `oneOf` and `not`, for which API servers check unchanged values too.
fn branches(old: &Value, new: &Value) -> Found {
    let mut found = Vec::new();
    let list = |schema: &Value, key: &str| -> Vec<Value> {
        match schema["x-kubernetes-int-or-string"] == true
            && key == "anyOf"
            && structural::is_int_or_string(schema.get(key))
        {
            // controller-gen writes these branches beside `x-kubernetes-int-or-string`.
            true => Vec::new(),
            false => schema[key].as_array().cloned().unwrap_or_default(),
        }
    };
    for key in ["allOf", "anyOf", "oneOf"] {
        let (was, is) = (list(old, key), list(new, key));
        let has_all = |some: &[Value], of: &[Value]| some.iter().all(|it| of.contains(it));
        let wider = match key {
            _ if is.is_empty() => true,
            "allOf" => has_all(&is, &was),
            "anyOf" => !was.is_empty() && has_all(&was, &is),
            _ => {
                let more = || is.iter().filter(|it| !was.contains(it));
                !was.is_empty()
                    && has_all(&was, &is)
                    && is.len() == was.len() + more().count()
                    && more().all(|branch| is_variant(old, branch))
            }
        };
        if !(wider || key == "anyOf" && is_address(old, new)) {
            let verb = if was.is_empty() { "is new" } else { "changed" };
            found.push((format!("`{key}` {verb}"), MAY_REFUSE_ALL));
        }
    }
    if !new["not"].is_null() && old["not"] != new["not"] {
        let verb = if old["not"].is_null() { "is new" } else { "changed" };
        found.push((format!("`not` {verb}"), MAY_REFUSE_ALL));
    }
    found
}

/// Whether a branch only requires fields of which one is new, as that of a new variant of an enum does: it matches no object of the old schema.
fn is_variant(old: &Value, branch: &Value) -> bool {
    let is_pruned = old["x-kubernetes-preserve-unknown-fields"] != true && old["additionalProperties"].is_null();
    let is_alone = branch.as_object().is_some_and(|keys| keys.len() == 1);
    let names = branch["required"].as_array();
    let is_new = |name: &Value| name.as_str().is_some_and(|it| old["properties"].get(it).is_none());
    is_pruned && is_alone && names.is_some_and(|names| names.iter().any(is_new))
}

/// Whether `make manifests` writes the branches of an address, `ipv4` or `ipv6`, to a type that never decoded anything else.
fn is_address(old: &Value, new: &Value) -> bool {
    old["format"] == "ip" && new["anyOf"] == serde_json::json!([{"format": "ipv4"}, {"format": "ipv6"}])
}
