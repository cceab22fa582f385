//! The directives of a strategic merge patch for maps.

use serde_json::Value;

use super::{Bad, Members, Merged, go};

pub(super) const RETAIN_KEYS: &str = "$retainKeys";
pub(super) const DELETE_FROM: &str = "$deleteFromPrimitiveList";
pub(super) const SET_ORDER: &str = "$setElementOrder";

/// `$patch: replace` and `$patch: delete` in a map.
pub(super) fn replace_or_delete(directive: &Value, patch: &mut Members) -> Merged<Members> {
    match directive.as_str() {
        Some("replace") => {
            patch.remove("$patch");
            Ok(patch.clone())
        }
        Some("delete") => Ok(Members::new()),
        _ => Err(unknown(directive, patch)),
    }
}

pub(super) fn unknown(directive: &Value, patch: &Members) -> Bad {
    let shown = match directive {
        Value::String(it) => it.clone(),
        Value::Null => "%!s(<nil>)".to_owned(),
        Value::Bool(_) | Value::Number(_) => format!("%!s({}={})", go::type_name(directive), go::plain(directive)),
        other => go::plain(other),
    };
    Bad::Other(format!(
        "unknown patch type: {shown} in map: {}",
        go::plain(&Value::Object(patch.clone()))
    ))
}

/// `$retainKeys`: removes all other keys from the original; the patch must not set any other key.
pub(super) fn retain_keys(original: &mut Members, keys: &Value, patch: &Members) -> Merged<()> {
    const FORMAT: Bad = Bad::Format("retainKeys");
    let keys = keys.as_array().ok_or(FORMAT)?;
    let listed = |name: &str| keys.iter().any(|it| it.as_str() == Some(name));
    let directive = |name: &str| name.starts_with(DELETE_FROM) || name.starts_with(SET_ORDER);
    if patch
        .iter()
        .any(|(name, it)| !it.is_null() && !directive(name) && !listed(name))
    {
        return Err(FORMAT);
    }
    original.retain(|name, _| listed(name));
    Ok(())
}

/// The field to which `$setElementOrder/ports` refers.
pub(super) fn key_of<'n>(name: &'n str, prefix: &str) -> Merged<&'n str> {
    let format = if prefix == SET_ORDER {
        "setElementOrder list"
    } else {
        "primitive list"
    };
    match name.split_once('/') {
        Some((before, key)) if before == prefix => Ok(key),
        _ => Err(Bad::Format(format)),
    }
}

/// Removes nulls: they delete fields, and a new value has none to delete.
pub(super) fn discard_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, it| !it.is_null());
            members.values_mut().for_each(discard_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(discard_nulls),
        _ => {}
    }
}

/// A new value without directives: maps with a directive are removed.
pub(super) fn without_directives(value: Value) -> Option<Value> {
    Some(match value {
        Value::Object(members) if members.contains_key("$patch") => return None,
        Value::Object(members) => {
            let kept = members
                .into_iter()
                .filter_map(|(name, it)| Some((name, without_directives(it)?)));
            Value::Object(kept.collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().filter_map(without_directives).collect()),
        other => other,
    })
}
