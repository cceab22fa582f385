//! Sets of fields, in the form of `fieldsV1`: a tree of maps, whose leaves are the fields.

use std::cell::RefCell;

use serde_json::{Map, Value};

use super::items::{assigned, keys};

/// Adds the fields of `more`.
pub(crate) fn add(fields: &mut Value, more: Value) {
    let Value::Object(more) = more else { return };
    let Value::Object(fields) = fields else {
        *fields = Value::Object(more);
        return;
    };
    for (path, below) in more {
        add(fields.entry(path).or_insert(Value::Null), below);
    }
}

/// The entry of `fields` for the field `name` of a map, and below it.
pub(crate) fn of<'f>(fields: &'f Value, name: &str) -> Option<&'f Value> {
    thread_local! {
        // Each update of a child asks for some hundred fields: each would allocate its path.
        static PATH: RefCell<String> = const { RefCell::new(String::new()) };
    }
    let fields = fields.as_object()?;
    PATH.with_borrow_mut(|path| {
        path.clear();
        path.push_str("f:");
        path.push_str(name);
        fields.get(path.as_str())
    })
}

/// The fields that are in both sets.
pub(crate) fn common(one: &Value, other: &Value) -> Value {
    kept(one, |path, below| {
        let there = other.get(path)?;
        if is_leaf(below) || is_leaf(there) {
            return Some(below.clone());
        }
        some(common(below, there))
    })
}

/// The fields of `fields` that are not in `other`. Who owns a field owns the list items that it is in.
pub(crate) fn without(fields: &Value, other: &Value) -> Value {
    kept(fields, |path, below| match other.get(path) {
        _ if path == "." && !is_leaf(other) => None,
        None => Some(below.clone()),
        Some(there) if is_leaf(below) || is_leaf(there) => None,
        Some(there) => some(without(below, there)),
    })
}

/// The fields of `owned` that `intent` does not name: an apply would remove them.
pub(crate) fn surplus(intent: &Value, owned: &Value) -> Value {
    let items = intent.as_array().map(|items| {
        let (paths, keys): (Vec<_>, Vec<_>) = keys(owned).unzip();
        let assigned = assigned(items, &keys);
        (items, paths, assigned)
    });
    let item_of = |path: &str| {
        let (items, paths, assigned) = items.as_ref()?;
        let key = paths.iter().position(|at| *at == path);
        let nth = assigned.iter().position(|at| at.is_some() && *at == key)?;
        Some(&items[nth])
    };
    kept(owned, |path, below| match path.split_once(':') {
        Some(("f", name)) => match intent.get(name) {
            Some(value) => some(surplus(value, below)),
            // An empty map or list that we sent before: its absence makes no difference to any reader.
            None if is_container(below) => None,
            None => Some(below.clone()),
        },
        Some(("k", _)) => match item_of(path) {
            Some(item) => some(surplus(item, below)),
            None => Some(below.clone()),
        },
        Some(("v", value)) => match (serde_json::from_str::<Value>(value), intent.as_array()) {
            (Ok(value), Some(items)) if items.contains(&value) => None,
            _ => Some(below.clone()),
        },
        // "." is the ownership of the container itself, which its fields imply.
        _ => None,
    })
}

/// Whether a field is owned as a whole, not by its parts.
pub(crate) fn is_leaf(fields: &Value) -> bool {
    fields.as_object().is_none_or(Map::is_empty)
}

/// The entries for which `keep` returns something; `Null` if there are none.
fn kept(fields: &Value, keep: impl Fn(&str, &Value) -> Option<Value>) -> Value {
    let entries = fields.as_object().into_iter().flatten();
    let kept: Map<_, _> = entries
        .filter_map(|(path, below)| keep(path, below).map(|below| (path.clone(), below)))
        .collect();
    if kept.is_empty() {
        Value::Null
    } else {
        Value::Object(kept)
    }
}

fn some(fields: Value) -> Option<Value> {
    // The container itself is not a field.
    let none = fields.is_null() || is_container(&fields);
    (!none).then_some(fields)
}

/// Whether this is the ownership of a map or a list, and of nothing in it: `{".": {}}`.
fn is_container(fields: &Value) -> bool {
    let Value::Object(fields) = fields else { return false };
    fields.len() == 1 && matches!(fields.get("."), Some(Value::Object(own)) if own.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sets_are_joined_intersected_and_subtracted() {
        let one = json!({"f:data": {".": {}, "f:a": {}, "f:b": {}}, "f:list": {r#"k:{"n":1}"#: {".": {}, "f:n": {}}}});
        let other = json!({"f:data": {".": {}, "f:b": {}, "f:c": {}}});
        let mut all = one.clone();
        add(&mut all, other.clone());
        assert_eq!(all["f:data"], json!({".": {}, "f:a": {}, "f:b": {}, "f:c": {}}));
        assert_eq!(common(&one, &other), json!({"f:data": {".": {}, "f:b": {}}}));
        assert_eq!(
            without(&one, &other),
            json!({"f:data": {"f:a": {}}, "f:list": one["f:list"]})
        );
        assert_eq!(without(&one, &one), Value::Null);
        assert_eq!(common(&one, &json!({"f:data": {".": {}}})), Value::Null);
    }

    #[test]
    fn an_item_stays_if_another_owns_a_field_of_it() {
        let item = |fields: Value| json!({"f:list": {r#"k:{"n":1}"#: fields}});
        let ours = item(json!({".": {}, "f:n": {}, "f:a": {}, "f:b": {}}));
        assert_eq!(
            without(&ours, &item(json!({"f:a": {}}))),
            item(json!({"f:n": {}, "f:b": {}}))
        );
    }

    #[test]
    fn surplus_fields_are_those_that_the_intent_does_not_name() {
        let owned = json!({"f:data": {".": {}, "f:a": {}, "f:b": {}}, "f:set": {r#"v:"x""#: {}, r#"v:"y""#: {}},
            "f:list": {r#"k:{"n":1}"#: {".": {}, "f:n": {}}, r#"k:{"n":2}"#: {".": {}, "f:n": {}, "f:m": {}}}});
        let intent = json!({"data": {"a": 1}, "set": ["x"], "list": [{"n": 2}]});
        assert_eq!(
            surplus(&intent, &owned),
            json!({"f:data": {"f:b": {}}, "f:set": {r#"v:"y""#: {}},
                "f:list": {r#"k:{"n":1}"#: {".": {}, "f:n": {}}, r#"k:{"n":2}"#: {"f:m": {}}}})
        );
    }
}
