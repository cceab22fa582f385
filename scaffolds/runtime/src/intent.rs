//! Would applying this intent change anything? The answer decides whether a request is sent at all.
//!
//! Two things make a difference: a value that the intent has and the object has not, and a field that our field
//! manager owns and the intent no longer names. The second is why a plain "is it a subset" check is not enough: it
//! would leave a dropped field behind for ever.

use serde_json::{Map, Value};

/// Whether a server-side apply of `intent` by the manager that owns `owned` (its `fieldsV1`) would change `observed`.
///
/// Values that the server stores in another form (`1000m` as `1`) count as different: the caller remembers the
/// applies that changed nothing.
pub(crate) fn would_change(intent: &Value, observed: &Value, owned: &Value) -> bool {
    !covers(intent, observed, owned) || drops(intent, owned)
}

/// Whether `observed` has every value of `intent`. `owned` says how lists are to be read: by key, as a set, or, where
/// it is silent, as one value.
fn covers(intent: &Value, observed: &Value, owned: &Value) -> bool {
    match (intent, observed) {
        (Value::Object(intent), Value::Object(observed)) => {
            intent.iter().all(|(name, value)| match observed.get(name) {
                Some(seen) => covers(value, seen, &owned[format!("f:{name}")]),
                None => is_empty(value),
            })
        }
        (Value::Array(intent), Value::Array(observed)) => lists_agree(intent, observed, owned),
        _ => intent == observed,
    }
}

/// The server drops nulls, and what is empty and absent is the same to every reader.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

fn lists_agree(intent: &[Value], observed: &[Value], owned: &Value) -> bool {
    let entries = owned.as_object();
    let has = |prefix: &str| entries.is_some_and(|map| map.keys().any(|key| key.starts_with(prefix)));
    if has("k:") {
        intent.iter().all(|item| {
            let Some((path, key)) = keys(owned).find(|(_, key)| matches_key(item, key)) else {
                return false;
            };
            observed
                .iter()
                .any(|seen| matches_key(seen, &key) && covers(item, seen, &owned[path]))
        })
    } else if has("v:") {
        intent.iter().all(|item| observed.contains(item))
    } else {
        intent == observed
    }
}

/// Whether `owned` names a field that `intent` does not.
fn drops(intent: &Value, owned: &Value) -> bool {
    let Some(fields) = owned.as_object() else { return false };
    fields.iter().any(|(path, below)| match path.split_once(':') {
        Some(("f", name)) => match intent.get(name) {
            Some(value) => drops(value, below),
            // An empty map or list that we once sent: there or not, no reader sees a difference.
            None => *below != serde_json::json!({".": {}}),
        },
        Some(("k", key)) => match (serde_json::from_str::<Value>(key), intent.as_array()) {
            (Ok(Value::Object(key)), Some(items)) => match items.iter().find(|item| matches_key(item, &key)) {
                Some(item) => drops(item, below),
                None => true,
            },
            _ => true,
        },
        Some(("v", value)) => match (serde_json::from_str::<Value>(value), intent.as_array()) {
            (Ok(value), Some(items)) => !items.contains(&value),
            _ => true,
        },
        // "." is the ownership of the container itself, which its fields imply.
        _ => false,
    })
}

/// Whether every value of `intent` stands as it was written, whatever form the server keeps it in: `owned` names it, which
/// it does until somebody changes it. The address of an object is owned by nobody.
pub(crate) fn stands(intent: &Value, observed: &Value, owned: &Value) -> bool {
    let Some(fields) = intent.as_object() else { return false };
    fields.iter().all(|(name, value)| match (name.as_str(), value) {
        ("apiVersion" | "kind", _) => true,
        ("metadata", Value::Object(meta)) => {
            let mut fields = meta
                .iter()
                .filter(|(name, _)| !matches!(name.as_str(), "name" | "namespace"));
            let (observed, owned) = (&observed["metadata"], &owned["f:metadata"]);
            fields.all(|(name, value)| is_named(value, &observed[name], &owned[format!("f:{name}")]))
        }
        _ => is_named(value, &observed[name], &owned[format!("f:{name}")]),
    })
}

/// Whether `owned` names each value in `value`.
fn is_named(value: &Value, observed: &Value, owned: &Value) -> bool {
    let Some(below) = owned.as_object() else {
        return is_empty(value);
    };
    match value {
        _ if is_empty(value) => true,
        // Either what is owned as a whole, or what is left of something whose parts others have changed.
        Value::Object(_) | Value::Array(_) if below.is_empty() => covers(value, observed, owned),
        Value::Object(fields) => fields
            .iter()
            .all(|(name, value)| is_named(value, &observed[name], &owned[format!("f:{name}")])),
        Value::Array(items) => items.iter().all(|item| {
            let Some((path, key)) = keys(owned).find(|(_, key)| matches_key(item, key)) else {
                return below.contains_key(&format!("v:{item}"));
            };
            let seen = observed
                .as_array()
                .into_iter()
                .flatten()
                .find(|seen| matches_key(seen, &key));
            seen.is_some_and(|seen| is_named(item, seen, &owned[path]))
        }),
        _ => true,
    }
}

fn keys(owned: &Value) -> impl Iterator<Item = (&str, Map<String, Value>)> {
    owned.as_object().into_iter().flatten().filter_map(|(path, _)| {
        let key = serde_json::from_str(path.strip_prefix("k:")?).ok()?;
        Some((path.as_str(), key))
    })
}

/// Whether a list item is the one of this key. A key field that the item lacks is one that the server defaulted
/// (a port's `protocol`), so it does not speak against the match.
fn matches_key(item: &Value, key: &Map<String, Value>) -> bool {
    let mut named = false;
    key.iter().all(|(field, value)| match item.get(field) {
        Some(has) => {
            named = true;
            has == value
        }
        None => true,
    }) && named
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn owned_data() -> Value {
        json!({"f:data": {".": {}, "f:target": {}, "f:type": {}}})
    }

    #[test]
    fn the_same_content_changes_nothing() {
        let intent = json!({"data": {"target": "a", "type": "b"}});
        let observed = json!({"data": {"target": "a", "type": "b", "foreign": "c"}, "metadata": {"uid": "1"}});
        assert!(!would_change(&intent, &observed, &owned_data()));
    }

    #[test]
    fn a_drifted_a_missing_and_a_new_value_each_do() {
        let intent = json!({"data": {"target": "a", "type": "b"}});
        for data in [json!({"target": "x", "type": "b"}), json!({"target": "a"})] {
            assert!(would_change(&intent, &json!({"data": data}), &owned_data()), "{data}");
        }
        assert!(would_change(&intent, &json!({}), &owned_data()));
    }

    #[test]
    fn a_field_that_we_own_and_no_longer_want_is_a_change() {
        let observed = json!({"data": {"target": "a", "type": "b"}});
        assert!(would_change(
            &json!({"data": {"target": "a"}}),
            &observed,
            &owned_data()
        ));
        assert!(would_change(&json!({}), &observed, &owned_data()));
    }

    #[test]
    fn a_foreign_field_that_we_never_owned_is_not() {
        let owned = json!({"f:data": {"f:target": {}}});
        let observed = json!({"data": {"target": "a", "type": "theirs"}});
        assert!(!would_change(&json!({"data": {"target": "a"}}), &observed, &owned));
    }

    #[test]
    fn list_items_are_matched_by_their_keys_and_may_carry_defaults() {
        let key = r#"k:{"containerPort":80,"protocol":"TCP"}"#;
        let owned = json!({"f:ports": {key: {".": {}, "f:containerPort": {}}}});
        let observed =
            json!({"ports": [{"containerPort": 9, "protocol": "TCP"}, {"containerPort": 80, "protocol": "TCP"}]});
        assert!(!would_change(
            &json!({"ports": [{"containerPort": 80}]}),
            &observed,
            &owned
        ));
        assert!(would_change(
            &json!({"ports": [{"containerPort": 81}]}),
            &observed,
            &owned
        ));
        assert!(would_change(&json!({"ports": []}), &observed, &owned));
    }

    #[test]
    fn sets_compare_without_order_and_atomic_lists_with_it() {
        let set = json!({"f:finalizers": {".": {}, r#"v:"a""#: {}, r#"v:"b""#: {}}});
        let observed = json!({"finalizers": ["b", "a", "theirs"]});
        assert!(!would_change(&json!({"finalizers": ["a", "b"]}), &observed, &set));
        assert!(would_change(&json!({"finalizers": ["a"]}), &observed, &set));

        let atomic = json!({"f:args": {}});
        assert!(!would_change(
            &json!({"args": ["a", "b"]}),
            &json!({"args": ["a", "b"]}),
            &atomic
        ));
        assert!(would_change(
            &json!({"args": ["b", "a"]}),
            &json!({"args": ["a", "b"]}),
            &atomic
        ));
    }

    #[test]
    fn empty_and_absent_are_the_same() {
        assert!(!would_change(&json!({"data": {}}), &json!({}), &json!({})));
        assert!(!would_change(&json!({}), &json!({}), &json!({"f:labels": {".": {}}})));
    }

    #[test]
    fn a_value_stands_in_any_form_until_somebody_else_has_changed_it() {
        let intent = json!({"kind": "Any", "metadata": {"name": "a", "labels": {"app": "a"}}, "spec": {"cpu": "1000m", "none": {}}});
        let observed = |cpu: &str| json!({"metadata": {"labels": {"app": "a"}}, "spec": {"cpu": cpu}});
        let owned = |spec: Value| json!({"f:metadata": {"f:labels": {".": {}, "f:app": {}}}, "f:spec": spec});
        let whole = owned(json!({"f:cpu": {}, "f:default": {}}));
        assert!(stands(&intent, &observed("1"), &whole));
        // What is left of a record when its last field is somebody else's looks like a value that is owned as a whole.
        for left in [json!({"f:default": {}}), json!({".": {}}), json!({})] {
            assert!(!stands(&intent, &observed("2"), &owned(left.clone())), "{left}");
        }
    }

    #[test]
    fn items_of_lists_stand_by_their_keys_as_members_or_with_the_whole_list() {
        let key = r#"k:{"name":"c"}"#;
        let intent = json!({"list": [{"name": "c", "cpu": "1000m"}], "set": ["a"], "whole": ["x", "y"]});
        let observed = json!({"list": [{"name": "c", "cpu": "1"}], "set": ["a", "b"], "whole": ["x", "y"]});
        let owned =
            json!({"f:list": {key: {".": {}, "f:cpu": {}, "f:name": {}}}, "f:set": {r#"v:"a""#: {}}, "f:whole": {}});
        assert!(stands(&intent, &observed, &owned));
        for field in ["list", "set", "whole"] {
            let mut owned = owned.clone();
            owned.as_object_mut().map(|fields| fields.remove(&format!("f:{field}")));
            assert!(!stands(&intent, &observed, &owned), "{field}");
        }
        let changed = json!({"list": observed["list"], "set": observed["set"], "whole": ["y"]});
        assert!(!stands(&intent, &changed, &owned));
    }
}
