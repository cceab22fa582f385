//! Whether applying an intent would change the object: only then a request is sent.
//!
//! There are two kinds of change: a value of the intent that the object does not have, and a field that our field
//! manager owns and the intent no longer names. Because of the second, a plain subset check is not enough: it would
//! never remove a dropped field.

mod comparison;
mod defaults;
pub(crate) mod fields;
mod items;
mod quantity;
mod steps;

use serde_json::{Map, Value, json};

pub use self::quantity::quantity_value;
pub(crate) use self::steps::steps;
use self::{
    comparison::{Comparison, StringComparison},
    defaults::{CLAIMS, FIELD_MAPS, has_default, is_absent, is_empty, without_claim_defaults, without_default},
    fields::is_leaf,
    items::{assigned, has_key, keys},
};

/// Whether `observed` has every value of `intent`. `owned`, the `fieldsV1` of our field manager, decides how lists are
/// compared: by key, as a set, or, if it does not contain the list's items, as one value.
///
/// Quantities are compared by their amounts. Any other value that the server stores in another form counts as
/// different: the caller remembers the result of the first apply.
pub(crate) fn is_met(intent: &Value, observed: &Value, owned: &Value) -> bool {
    covers(intent, observed, owned, Comparison::of(intent))
}

fn covers(intent: &Value, observed: &Value, owned: &Value, form: Comparison) -> bool {
    match (intent, observed) {
        (Value::Object(_), Value::Object(_)) if form.exact_maps && is_one_value(owned) => {
            covers(intent, observed, &Value::Null, form) && covers(observed, intent, &Value::Null, form)
        }
        (Value::Object(intent), Value::Object(observed)) => {
            intent.iter().all(|(name, value)| match observed.get(name) {
                // Somebody else has replaced it, as one value.
                Some(seen) if is_of_others(value, seen, owned, name) => false,
                Some(seen) if has_default(name) => {
                    let [intent, seen] = [value, seen].map(|map| without_default(name, map));
                    covers(&intent, &seen, below(owned, name), form.below(name))
                }
                // The record of an empty map of fields looks like the record of a map that is one value.
                Some(Value::Object(_)) if is_empty(value) && FIELD_MAPS.contains(&name.as_str()) => true,
                Some(seen) if name == CLAIMS => {
                    let (intent, seen) = (without_claim_defaults(value), without_claim_defaults(seen));
                    covers(&intent, &seen, below(owned, name), form.below(name))
                }
                Some(seen) => covers(value, seen, below(owned, name), form.below(name)),
                None => is_absent(name, value),
            })
        }
        (Value::Array(intent), Value::Array(observed)) => lists_agree(intent, observed, owned, form),
        (Value::String(intent), Value::String(observed)) if form.strings == StringComparison::Quantity => {
            intent == observed || quantity::same(intent, observed)
        }
        _ => intent == observed,
    }
}

/// Whether a map is owned as one value, which its owner replaces, and not by its fields. The record of a map of fields looks the same if
/// others have taken over all its fields.
fn is_one_value(owned: &Value) -> bool {
    owned.as_object().is_some_and(Map::is_empty)
}

/// Whether none of our field managers owns anything of this map of the intent, in a map of which they own other fields.
fn is_of_others(intent: &Value, observed: &Value, owned: &Value, name: &str) -> bool {
    let are_maps = intent.as_object().is_some_and(|map| !map.is_empty()) && observed.is_object();
    are_maps && owned.as_object().is_some_and(|fields| !fields.is_empty()) && fields::of(owned, name).is_none()
}

fn lists_agree(intent: &[Value], observed: &[Value], owned: &Value, form: Comparison) -> bool {
    match reading(owned) {
        Reading::Map => {
            let (paths, keys): (Vec<_>, Vec<_>) = keys(owned).unzip();
            let items = intent.iter().zip(assigned(intent, &keys));
            // An apply also gives the items the order of the intent: init containers run in it.
            let places = items.map(|(item, nth)| {
                let nth = nth?;
                let is_met = |seen: &Value| has_key(seen, &keys[nth]) && covers(item, seen, &owned[paths[nth]], form);
                observed.iter().position(is_met)
            });
            let places: Option<Vec<_>> = places.collect();
            places.is_some_and(|places| places.is_sorted())
        }
        Reading::Set => intent.iter().all(|item| observed.contains(item)),
        Reading::Whole => {
            let same = |(item, seen)| covers(item, seen, &Value::Null, form) && covers(seen, item, &Value::Null, form);
            intent.len() == observed.len() && intent.iter().zip(observed).all(same)
        }
    }
}

/// The comparison of a list.
enum Reading {
    Map,
    Set,
    Whole,
}

fn reading(owned: &Value) -> Reading {
    let entries = owned.as_object();
    let has = |prefix: &str| entries.is_some_and(|map| map.keys().any(|key| key.starts_with(prefix)));
    match (has("k:"), has("v:")) {
        (true, _) => Reading::Map,
        (false, true) => Reading::Set,
        (false, false) => Reading::Whole,
    }
}

/// The values of `observed` in the fields that `intent` names, in a form that can be compared with a later one.
pub(crate) fn selected(intent: &Value, observed: &Value, owned: &Value) -> Value {
    match (intent, observed) {
        (Value::Object(intent), Value::Object(observed)) => {
            let fields = intent.iter().map(|(name, value)| {
                let seen = observed.get(name).unwrap_or(&Value::Null);
                let below = below(owned, name);
                let is_whole = is_one_value(below) || is_of_others(value, seen, owned, name);
                let seen = if is_whole {
                    seen.clone()
                } else {
                    selected(value, seen, below)
                };
                (name.clone(), seen)
            });
            Value::Object(fields.collect())
        }
        (Value::Array(intent), Value::Array(observed)) if matches!(reading(owned), Reading::Map) => {
            let (paths, keys): (Vec<_>, Vec<_>) = keys(owned).unzip();
            let items = intent.iter().zip(assigned(intent, &keys)).map(|(item, nth)| {
                let nth = nth?;
                let place = observed.iter().position(|seen| has_key(seen, &keys[nth]))?;
                Some(json!([place, selected(item, &observed[place], &owned[paths[nth]])]))
            });
            items.collect()
        }
        _ => observed.clone(),
    }
}

/// Reduces `object` to the fields of other field managers, which `owned` does not contain.
pub(crate) fn beyond(object: &mut Value, owned: &Value) {
    let Some(entries) = owned.as_object() else { return };
    match object {
        Value::Object(values) => values.retain(|name, value| match fields::of(owned, name) {
            Some(below) => {
                beyond(value, below);
                !is_leaf(below) && !is_empty(value)
            }
            None => true,
        }),
        Value::Array(items) => {
            let keys: Vec<_> = keys(owned).collect();
            items.retain_mut(|item| match keys.iter().find(|(_, key)| has_key(item, key)) {
                Some((path, _)) => {
                    beyond(item, &owned[path]);
                    !is_empty(item)
                }
                None => !entries.contains_key(&format!("v:{item}")),
            });
        }
        _ => {}
    }
}

/// The owned part of this field of a map.
fn below<'o>(owned: &'o Value, name: &str) -> &'o Value {
    fields::of(owned, name).unwrap_or(&Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn would_change(intent: &Value, observed: &Value, owned: &Value) -> bool {
        !is_met(intent, observed, owned) || !fields::surplus(intent, owned).is_null()
    }

    fn owned_data() -> Value {
        json!({"f:data": {".": {}, "f:target": {}, "f:type": {}}})
    }

    #[test]
    fn equal_content_is_no_change() {
        let intent = json!({"data": {"target": "a", "type": "b"}});
        let observed = json!({"data": {"target": "a", "type": "b", "foreign": "c"}, "metadata": {"uid": "1"}});
        assert!(!would_change(&intent, &observed, &owned_data()));
    }

    #[test]
    fn a_drifted_a_missing_and_a_new_value_are_changes() {
        let intent = json!({"data": {"target": "a", "type": "b"}});
        for data in [json!({"target": "x", "type": "b"}), json!({"target": "a"})] {
            assert!(would_change(&intent, &json!({"data": data}), &owned_data()), "{data}");
        }
        assert!(would_change(&intent, &json!({}), &owned_data()));
    }

    #[test]
    fn an_owned_field_that_the_intent_no_longer_names_is_a_change() {
        let observed = json!({"data": {"target": "a", "type": "b"}});
        assert!(would_change(
            &json!({"data": {"target": "a"}}),
            &observed,
            &owned_data()
        ));
        assert!(would_change(&json!({}), &observed, &owned_data()));
    }

    #[test]
    fn a_field_of_another_manager_is_no_change() {
        let owned = json!({"f:data": {"f:target": {}}});
        let observed = json!({"data": {"target": "a", "type": "theirs"}});
        assert!(!would_change(&json!({"data": {"target": "a"}}), &observed, &owned));
    }

    #[test]
    fn a_map_that_is_one_value_is_compared_both_ways() {
        let (less, more) = (json!({"s": {"a": "1"}}), json!({"s": {"a": "1", "b": "2"}}));
        let whole = json!({"f:s": {}});
        assert!(is_met(&less, &less, &whole) && !is_met(&less, &more, &whole) && !is_met(&more, &less, &whole));
        // Somebody else has taken it over, or owns one field of it.
        assert!(!is_met(&less, &less, &json!({"f:other": {}})));
        assert!(is_met(&less, &more, &json!({"f:s": {"f:a": {}}})));
        assert_eq!(steps(&less, &more, &whole, &Value::Null), None);
        let pods = ["Pod", "Service"].map(|kind| json!({"apiVersion": "v1", "kind": kind, "s": {"a": "1"}}));
        let more = |pod: &Value| json!({"apiVersion": "v1", "kind": pod["kind"], "s": {"a": "1", "b": "2"}});
        assert_eq!(pods.map(|pod| is_met(&pod, &more(&pod), &whole)), [true, false]);
        // An empty map of fields, to which others have added some.
        assert!(is_met(
            &json!({"labels": {}}),
            &json!({"labels": {"a": "1"}}),
            &json!({"f:labels": {}})
        ));
        // A map that never meets the intent is remembered with all its keys.
        let one = json!({"s": {"a": "2"}});
        assert_ne!(
            selected(&one, &json!({"s": {"a": "1"}}), &whole),
            selected(&one, &json!({"s": {"a": "1", "b": "2"}}), &whole)
        );
        let defaulted = json!({"fieldRef": {"fieldPath": "p", "apiVersion": "v1"}});
        assert!(is_met(
            &json!({"fieldRef": {"fieldPath": "p"}}),
            &defaulted,
            &json!({"f:fieldRef": {}})
        ));
    }

    #[test]
    fn an_empty_map_is_absent_only_where_servers_drop_it() {
        let peers = |peer: Value| json!({"from": [peer]});
        let (own, any) = (
            json!({"podSelector": {}}),
            json!({"podSelector": {}, "namespaceSelector": {}}),
        );
        let whole = json!({"f:from": {}});
        assert!(!is_met(&peers(own.clone()), &peers(any.clone()), &whole));
        assert!(!is_met(&peers(any), &peers(own), &whole));
        assert!(!is_met(&json!({"selfSigned": {}}), &json!({}), &Value::Null));
        assert!(is_met(
            &json!({"labels": {}, "list": [], "n": null}),
            &json!({}),
            &Value::Null
        ));
    }

    #[test]
    fn list_items_are_matched_by_their_keys_and_may_have_defaults() {
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
    fn quantities_are_compared_by_amount_and_other_strings_exactly() {
        let spec = |cpu: &str, image: &str| json!({"spec": {"limits": {"cpu": cpu}, "image": image}});
        assert!(is_met(&spec("1000m", "1000m"), &spec("1", "1000m"), &Value::Null));
        assert!(!is_met(&spec("1000m", "1000m"), &spec("2", "1000m"), &Value::Null));
        assert!(!is_met(&spec("1000m", "1000m"), &spec("1", "1"), &Value::Null));
        let data = |text: &str| json!({"data": {"limits": text}});
        assert!(!is_met(&data("1000m"), &data("1"), &Value::Null));
    }

    #[test]
    fn atomic_lists_are_equal_if_neither_has_more_items() {
        let list = |items: Value| json!({"spec": {"list": items}});
        let one = list(json!([{"a": 1}]));
        assert!(is_met(&one, &list(json!([{"a": 1, "b": []}])), &Value::Null));
        for other in [
            json!([{"a": 1, "b": 2}]),
            json!([{"a": 1}, {"a": 1}]),
            json!([]),
            json!([{}]),
        ] {
            assert!(!is_met(&one, &list(other.clone()), &Value::Null), "{other}");
        }
    }

    #[test]
    fn claim_templates_may_have_the_defaults_of_claims() {
        let owned = json!({"f:spec": {"f:volumeClaimTemplates": {}}});
        let set = |claim: Value| json!({"spec": {"volumeClaimTemplates": [claim]}});
        let intent =
            set(json!({"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}));
        let stored = |mode: &str, storage: &str| {
            let spec = json!({"resources": {"requests": {"storage": storage}}, "volumeMode": mode});
            let (kind, status) = ("PersistentVolumeClaim", json!({"phase": "Pending"}));
            set(json!({
                "apiVersion": "v1", "kind": kind, "metadata": {"name": "data"}, "spec": spec, "status": status,
            }))
        };
        assert!(!would_change(&intent, &stored("Filesystem", "1Gi"), &owned));
        assert!(would_change(&intent, &stored("Block", "1Gi"), &owned));
        assert!(would_change(&intent, &stored("Filesystem", "2Gi"), &owned));
    }

    #[test]
    fn selected_values_change_only_with_the_fields_of_the_intent() {
        let key = r#"k:{"name":"c"}"#;
        let owned = json!({"f:list": {key: {".": {}, "f:name": {}, "f:when": {}}}, "f:data": {"f:a": {}}});
        let intent = json!({"list": [{"name": "c", "when": "60s"}], "data": {"a": "1"}});
        let observed = |when: &str, theirs: &str| json!({"list": [{"name": "other"}, {"name": "c", "when": when, "default": theirs}], "data": {"a": "1", "b": theirs}});
        let first = selected(&intent, &observed("1m0s", "x"), &owned);
        assert_eq!(first, selected(&intent, &observed("1m0s", "y"), &owned));
        assert_ne!(first, selected(&intent, &observed("2m0s", "x"), &owned));
    }

    #[test]
    fn fields_beyond_our_entry_are_those_of_others() {
        let key = r#"k:{"name":"c"}"#;
        let owned = json!({"f:data": {".": {}, "f:a": {}}, "f:whole": {}, "f:set": {r#"v:"a""#: {}},
            "f:list": {key: {".": {}, "f:name": {}, "f:cpu": {}}}});
        let mut object = json!({"data": {"a": "1", "b": "2"}, "whole": [1, 2], "set": ["a", "b"],
            "list": [{"name": "c", "cpu": "1", "default": 1}, {"name": "sidecar"}], "status": {"ready": 1}});
        beyond(&mut object, &owned);
        let theirs = json!({"data": {"b": "2"}, "set": ["b"], "list": [{"default": 1}, {"name": "sidecar"}], "status": {"ready": 1}});
        assert_eq!(object, theirs);
        let mut ours = json!({"data": {"a": "1"}, "list": [{"name": "c", "cpu": "1"}]});
        beyond(&mut ours, &owned);
        assert_eq!(ours, json!({}));
    }
}
