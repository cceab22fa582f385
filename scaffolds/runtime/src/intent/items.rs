//! Items of lists with keys: which item of an intent has which key.

use serde_json::{Map, Value};

/// The keys of the items that are recorded in the fields of a list, and their entries.
pub(super) fn keys(owned: &Value) -> impl Iterator<Item = (&str, Map<String, Value>)> {
    owned.as_object().into_iter().flatten().filter_map(|(path, _)| {
        let key = serde_json::from_str(path.strip_prefix("k:")?).ok()?;
        Some((path.as_str(), key))
    })
}

/// Whether an item of a server's list has this key. Such an item has all its key fields.
pub(super) fn has_key(item: &Value, key: &Map<String, Value>) -> bool {
    !key.is_empty() && key.iter().all(|(field, value)| item.get(field) == Some(value))
}

/// Whether an item of an intent can have this key: the server adds key fields with defaults. Built-in kinds have only one
/// of them: `protocol`, `TCP` by default.
fn can_have_key(item: &Value, key: &Map<String, Value>) -> bool {
    let is_default = |field: &str, value: &Value| field != "protocol" || value != "UDP" && value != "SCTP";
    let agrees = |(field, value): (&String, &Value)| match item.get(field) {
        Some(has) => has == value,
        None => is_default(field, value),
    };
    key.keys().any(|field| item.get(field).is_some()) && key.iter().all(agrees)
}

/// For each item of an intent the place of its key among `keys`. No two items have one key: items that have all key
/// fields come first, then each other item takes the first key that is left and that it can have.
pub(super) fn assigned(items: &[Value], keys: &[Map<String, Value>]) -> Vec<Option<usize>> {
    let full = |item| keys.iter().position(|key| has_key(item, key));
    let mut assigned: Vec<_> = items.iter().map(full).collect();
    for (nth, item) in items.iter().enumerate() {
        if assigned[nth].is_none() {
            let is_left = |key: &usize| !assigned.contains(&Some(*key)) && can_have_key(item, &keys[*key]);
            assigned[nth] = (0..keys.len()).find(is_left);
        }
    }
    assigned
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{
        super::{fields::surplus, is_met, steps},
        *,
    };

    #[test]
    fn an_item_without_all_key_fields_is_no_other_item() {
        let entry = json!({".": {}, "f:name": {}, "f:port": {}, "f:protocol": {}});
        let (tcp, udp) = (r#"k:{"port":53,"protocol":"TCP"}"#, r#"k:{"port":53,"protocol":"UDP"}"#);
        let both = json!({"f:ports": {tcp: entry, udp: entry}});
        let ports = |ports: Value| json!({"ports": ports});
        let named = |name: &str, protocol: &str| json!({"name": name, "port": 53, "protocol": protocol});
        let observed = ports(json!([named("u", "UDP"), named("t", "TCP")]));
        let (default, full) = (json!({"name": "t", "port": 53}), named("u", "UDP"));
        let drifted = ports(json!([named("u", "UDP"), named("other", "TCP")]));
        for (wanted, is_in_order) in [(json!([default, full]), false), (json!([full, default]), true)] {
            assert_eq!(
                is_met(&ports(wanted.clone()), &observed, &both),
                is_in_order,
                "{wanted}"
            );
            let added = json!({"f:ports": {tcp: {"f:protocol": {}}}});
            assert_eq!(surplus(&ports(wanted.clone()), &both), added);
            assert!(!is_met(&ports(wanted.clone()), &drifted, &both));
            // Only the server moves items.
            let steps = steps(&ports(wanted), &drifted, &both, &Value::Null);
            assert_eq!(steps.is_some(), is_in_order);
            assert!(steps.is_none_or(|steps| steps.last().unwrap()["path"] == "/ports/1/name"));
        }
        // One of two leaves; and one protocol follows another.
        let gone = surplus(&ports(json!([default])), &both);
        assert_eq!(gone["f:ports"][udp], entry);
        let alone = json!({"f:ports": {udp: entry}});
        assert!(!is_met(&ports(json!([default])), &ports(json!([full])), &alone));
        assert_eq!(surplus(&ports(json!([default])), &alone), alone);
    }

    #[test]
    fn an_item_takes_a_key_that_no_other_item_names() {
        let key = |mode: &str| Map::from_iter([("name".to_owned(), json!("a")), ("mode".to_owned(), json!(mode))]);
        let (part, full) = (json!({"name": "a"}), json!({"name": "a", "mode": "x"}));
        let keys = [key("x"), key("y")];
        assert_eq!(assigned(&[part.clone(), full.clone()], &keys), [Some(1), Some(0)]);
        assert_eq!(assigned(&[part.clone(), part, full], &keys), [Some(1), None, Some(0)]);
        assert_eq!(assigned(&[json!({"name": "b"}), json!({})], &keys), [None, None]);
    }
}
