//! Lists in a strategic merge patch: maps are merged by their key, scalars as sets.

use kubewright_schema::typed::Patch;
use serde_json::Value;

use super::{
    Bad, LIST, MAP, Members, Merged, Shape,
    directives::unknown,
    go, map,
    order::{By, Side, arrange, element, partition},
};

/// The way in which the items of a list are patched.
#[derive(Clone, Copy)]
pub(super) struct Items<'a> {
    pub(super) shape: Option<Shape<'a>>,
    pub(super) how: &'a Patch,
}

/// Merges the items of a patch into a list, or removes them from it.
pub(super) fn merge(original: Vec<Value>, patch: &[Value], items: Items<'_>, deletes: bool) -> Merged<Vec<Value>> {
    let how = items.how;
    if !how.merge && !deletes {
        return Ok(patch.to_vec());
    }
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    let key = how.merge_key.as_deref();
    if !element([&original, patch])?.is_object() {
        return scalars(original, patch, key, deletes);
    }
    let Some(key) = key else {
        return Err(Bad::Other("cannot merge lists without merge key for struct".to_owned()));
    };
    let (mut original, mut patch) = directives(original, patch, key)?;
    let before = original.clone();
    maps(&mut original, &mut patch, key, items.shape)?;
    let (ours, theirs) = partition(original, &patch, By::Key(key))?;
    arrange(Side::new(ours, &patch), Side::new(theirs, &before), By::Key(key))
}

fn scalars(original: Vec<Value>, patch: &[Value], key: Option<&str>, deletes: bool) -> Merged<Vec<Value>> {
    if deletes {
        return Ok(original.into_iter().filter(|it| !patch.contains(it)).collect());
    }
    let mut merged: Vec<Value> = Vec::new();
    for it in original.iter().chain(patch) {
        if !merged.contains(it) {
            merged.push(it.clone());
        }
    }
    match (key, merged.first()) {
        (Some(_), Some(first)) => Err(Bad::wrong_type(MAP, first)),
        _ => {
            let (ours, theirs) = partition(merged, patch, By::Value)?;
            arrange(Side::new(ours, patch), Side::new(theirs, &original), By::Value)
        }
    }
}

/// `$patch` in items: `delete` removes matching items from the original, `replace` replaces the original by the patch.
fn directives(mut original: Vec<Value>, patch: &[Value], key: &str) -> Merged<(Vec<Value>, Vec<Value>)> {
    let (mut rest, mut replace) = (Vec::new(), false);
    for item in patch {
        let Some(members) = item.as_object() else {
            return Err(Bad::wrong_type(MAP, item));
        };
        let Some(directive) = members.get("$patch") else {
            rest.push(item.clone());
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let value = members.get(key).ok_or_else(|| Bad::no_key(members, key))?;
                original.retain(|it| it.get(key) != Some(value));
            }
            Some("replace") => replace = true,
            Some("merge") => {
                return Err(Bad::Other(
                    "merging lists cannot yet be specified in the patch".to_owned(),
                ));
            }
            _ => return Err(unknown(directive, members)),
        }
    }
    Ok(if replace { (rest, Vec::new()) } else { (original, rest) })
}

fn maps(original: &mut Vec<Value>, patch: &mut [Value], key: &str, items: Option<Shape<'_>>) -> Merged<()> {
    for item in patch {
        let Value::Object(members) = item else {
            return Err(Bad::wrong_type(MAP, item));
        };
        let value = members.get(key).ok_or_else(|| Bad::no_key(members, key))?.clone();
        match original.iter_mut().find(|it| it.get(key) == Some(&value)) {
            Some(found) => {
                let before: Members = found.as_object_mut().map(std::mem::take).unwrap_or_default();
                *found = Value::Object(map(before, members, items)?);
            }
            None => original.push(item.clone()),
        }
    }
    Ok(())
}

/// The value as a list, or an error if it is not one.
pub(super) fn list(value: &Value) -> Merged<&Vec<Value>> {
    value.as_array().ok_or_else(|| Bad::wrong_type(LIST, value))
}

/// The items in Go's notation.
pub(super) fn shown(items: &[Value]) -> String {
    go::plain(&Value::Array(items.to_vec()))
}
