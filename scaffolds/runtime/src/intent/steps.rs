//! The JSON patch (RFC 6902) that brings an object to an intent and removes fields: what an apply does, for fields that
//! are not recorded as applied. It is for the version of the object that it was made from, and no other.

use serde_json::{Map, Value, json};

use super::{
    Reading,
    comparison::Comparison,
    covers,
    defaults::{has_default, is_absent, is_empty, without_default},
    fields::{is_leaf, without},
    is_of_others, is_one_value,
    items::{assigned, has_key, keys},
    reading,
};

/// One object, or a part of it.
#[derive(Clone, Copy)]
struct Node<'a> {
    /// `None` if the intent does not name it.
    intent: Option<&'a Value>,
    observed: &'a Value,
    /// The fields of our field managers, which determine the merging of lists.
    owned: &'a Value,
    /// The fields to remove.
    gone: &'a Value,
    form: Comparison,
}

/// The operations that set the values of `intent` and remove the fields `gone`. `None` if a list of others' items is to
/// be changed, of which `owned` does not say how it is merged.
pub(crate) fn steps(intent: &Value, observed: &Value, owned: &Value, gone: &Value) -> Option<Vec<Value>> {
    let mut steps = Steps::default();
    let root = Node {
        intent: Some(intent),
        observed,
        owned,
        gone,
        form: Comparison::of(intent),
    };
    steps.node("", root)?;
    Some(steps.0)
}

#[derive(Default)]
struct Steps(Vec<Value>);

impl Steps {
    fn set(&mut self, path: &str, value: &Value) {
        self.0.push(json!({"op": "add", "path": path, "value": value}));
    }

    fn remove(&mut self, path: &str) {
        self.0.push(json!({"op": "remove", "path": path}));
    }

    fn test(&mut self, path: &str, value: &Value) {
        self.0.push(json!({"op": "test", "path": path, "value": value}));
    }

    fn node(&mut self, path: &str, node: Node<'_>) -> Option<()> {
        match (node.observed, node.intent) {
            // The record of a map whose fields others have taken over looks the same: only the server knows which it is.
            (Value::Object(_), Some(intent @ Value::Object(_))) if node.form.exact_maps && is_one_value(node.owned) => {
                covers(intent, node.observed, node.owned, node.form).then_some(())
            }
            (Value::Object(observed), None | Some(Value::Object(_))) => self.object(path, observed, node),
            (Value::Array(observed), None | Some(Value::Array(_))) => self.list(path, observed, node),
            (_, Some(intent)) => {
                if !covers(intent, node.observed, node.owned, node.form) {
                    self.set(path, intent);
                }
                Some(())
            }
            (_, None) => Some(()),
        }
    }

    fn object(&mut self, path: &str, observed: &Map<String, Value>, node: Node<'_>) -> Option<()> {
        let intent = node.intent.and_then(Value::as_object);
        for (name, value) in intent.into_iter().flatten() {
            let at = format!("{path}/{}", pointer(name));
            let field = format!("f:{name}");
            match observed.get(name) {
                Some(seen) if is_of_others(value, seen, node.owned, name) => return None,
                Some(seen) if has_default(name) => {
                    let [value, seen] = [value, seen].map(|map| without_default(name, map));
                    if !covers(&value, &seen, &node.owned[&field], node.form.below(name)) {
                        return None;
                    }
                }
                Some(seen) => self.node(
                    &at,
                    Node {
                        intent: Some(value),
                        observed: seen,
                        owned: &node.owned[&field],
                        gone: &node.gone[&field],
                        form: node.form.below(name),
                    },
                )?,
                None if is_absent(name, value) => {}
                None => self.set(&at, value),
            }
        }
        for (field, below) in node.gone.as_object().into_iter().flatten() {
            let Some(name) = field.strip_prefix("f:") else { continue };
            let Some(seen) = observed.get(name) else { continue };
            if intent.is_some_and(|intent| intent.contains_key(name)) {
                continue;
            }
            let at = format!("{path}/{}", pointer(name));
            let mut rest = seen.clone();
            super::beyond(&mut rest, below);
            if is_leaf(below) || is_empty(&rest) {
                self.remove(&at);
                continue;
            }
            let (owned, form) = (&node.owned[field], node.form);
            self.node(
                &at,
                Node {
                    intent: None,
                    observed: seen,
                    owned,
                    gone: below,
                    form,
                },
            )?;
        }
        Some(())
    }

    fn list(&mut self, path: &str, observed: &[Value], node: Node<'_>) -> Option<()> {
        if let Some(intent) = node.intent
            && is_leaf(node.gone)
            && covers(intent, node.observed, node.owned, node.form)
        {
            return Some(());
        }
        let wanted = node.intent.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        match reading(node.owned) {
            Reading::Map => self.items(path, wanted, observed, node),
            Reading::Set => {
                let gone = |value: &Value| node.gone.get(format!("v:{value}")).is_some();
                for (at, value) in observed.iter().enumerate().rev().filter(|(_, value)| gone(value)) {
                    self.test(&format!("{path}/{at}"), value);
                    self.remove(&format!("{path}/{at}"));
                }
                for value in wanted.iter().filter(|value| !observed.contains(value)) {
                    self.set(&format!("{path}/-"), value);
                }
                Some(())
            }
            // A list that is owned as a whole is replaced.
            Reading::Whole if node.owned.is_object() && is_leaf(node.owned) || observed.is_empty() => {
                self.set(path, node.intent?);
                Some(())
            }
            Reading::Whole => None,
        }
    }

    /// A list with keys: items of others stay where they are, new ones are inserted in the order of the intent.
    fn items(&mut self, path: &str, wanted: &[Value], observed: &[Value], node: Node<'_>) -> Option<()> {
        let recorded: Vec<_> = keys(node.owned).collect();
        let names: Vec<&String> = recorded.first()?.1.keys().collect();
        let key_of = |item: &Value| -> Map<String, Value> {
            let named = names
                .iter()
                .filter_map(|name| Some(((*name).clone(), item.get(name.as_str())?.clone())));
            named.collect()
        };
        let places = assigned(wanted, &observed.iter().map(key_of).collect::<Vec<_>>());
        if !places.iter().flatten().is_sorted() {
            // Only the server moves items.
            return None;
        }
        let mut removed = Vec::new();
        for (place, seen) in observed.iter().enumerate() {
            let intent = places.iter().position(|at| *at == Some(place)).map(|nth| &wanted[nth]);
            let record = recorded
                .iter()
                .find(|(_, key)| has_key(seen, key))
                .map(|(path, _)| *path);
            let gone = record.map_or(&Value::Null, |record| &node.gone[record]);
            if intent.is_none() && is_leaf(gone) {
                continue;
            }
            let at = format!("{path}/{place}");
            for (name, value) in key_of(seen) {
                self.test(&format!("{at}/{}", pointer(&name)), &value);
            }
            if intent.is_none() && gone.get(".").is_some() {
                removed.push(place);
                continue;
            }
            let owned = record.map_or(&Value::Null, |record| &node.owned[record]);
            // An item that stays keeps its key.
            let keys: Map<_, _> = names.iter().map(|name| (format!("f:{name}"), json!({}))).collect();
            let gone = &without(gone, &Value::Object(keys));
            self.node(
                &at,
                Node {
                    intent,
                    observed: seen,
                    owned,
                    gone,
                    form: node.form,
                },
            )?;
        }
        for place in removed.iter().rev() {
            self.remove(&format!("{path}/{place}"));
        }
        // The places of the items as they are now; a new one has none in `observed`.
        let mut row: Vec<_> = (0..observed.len())
            .filter(|place| !removed.contains(place))
            .map(Some)
            .collect();
        for (nth, item) in wanted.iter().enumerate().filter(|(nth, _)| places[*nth].is_none()) {
            let next = places[nth..]
                .iter()
                .flatten()
                .find_map(|next| row.iter().position(|at| *at == Some(*next)));
            let at = next.unwrap_or(row.len());
            self.set(&format!("{path}/{at}"), item);
            row.insert(at, None);
        }
        Some(())
    }
}

/// A name as a part of a JSON pointer (RFC 6901).
fn pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(intent: &Value, observed: &Value, owned: &Value, gone: &Value) -> Option<Vec<String>> {
        let line = |step: &Value| {
            let value = if step["value"].is_null() {
                String::new()
            } else {
                format!(" {}", step["value"])
            };
            format!(
                "{} {}{value}",
                step["op"].as_str().unwrap_or_default(),
                step["path"].as_str().unwrap_or_default()
            )
        };
        Some(steps(intent, observed, owned, gone)?.iter().map(line).collect())
    }

    #[test]
    fn values_are_set_and_fields_are_removed_with_a_container_that_becomes_empty() {
        let observed = json!({"data": {"a": 1, "b~/": 2, "theirs": 3}, "labels": {"x": "1"}, "n": 1});
        let owned = json!({"f:data": {".": {}, "f:a": {}, "f:b~/": {}}, "f:labels": {".": {}, "f:x": {}}, "f:n": {}});
        let gone = json!({"f:data": {"f:b~/": {}}, "f:labels": {".": {}, "f:x": {}}});
        let intent = json!({"data": {"a": 5, "c": {}}, "n": 1, "new": {"m": 1}});
        assert_eq!(
            lines(&intent, &observed, &owned, &gone).unwrap(),
            [
                "add /data/a 5",
                "add /data/c {}",
                "remove /data/b~0~1",
                r#"add /new {"m":1}"#,
                "remove /labels"
            ]
        );
    }

    #[test]
    fn items_are_addressed_by_their_place_and_tested_for_their_key() {
        let item = |name: &str, value: i32| json!({"name": name, "value": value});
        let record = json!({".": {}, "f:name": {}, "f:value": {}});
        let owned =
            json!({"f:list": {r#"k:{"name":"a"}"#: record, r#"k:{"name":"b"}"#: record, r#"k:{"name":"c"}"#: record}});
        let gone = json!({"f:list": {r#"k:{"name":"b"}"#: record}});
        let observed = json!({"list": [item("theirs", 1), item("a", 1), item("b", 1), item("c", 1)]});
        let intent = json!({"list": [item("a", 2), item("new", 1), item("c", 1)]});
        assert_eq!(
            lines(&intent, &observed, &owned, &gone).unwrap(),
            [
                r#"test /list/1/name "a""#,
                "add /list/1/value 2",
                r#"test /list/2/name "b""#,
                r#"test /list/3/name "c""#,
                "remove /list/2",
                r#"add /list/2 {"name":"new","value":1}"#,
            ]
        );
    }

    #[test]
    fn sets_and_lists_that_are_owned_as_a_whole_are_changed() {
        let observed = json!({"set": ["theirs", "x", "y"], "whole": [1, 2]});
        let owned = json!({"f:set": {r#"v:"x""#: {}, r#"v:"y""#: {}}, "f:whole": {}});
        let gone = json!({"f:set": {r#"v:"x""#: {}}});
        assert_eq!(
            lines(&json!({"set": ["y", "z"], "whole": [2]}), &observed, &owned, &gone).unwrap(),
            [
                r#"test /set/1 "x""#,
                "remove /set/1",
                r#"add /set/- "z""#,
                "add /whole [2]"
            ]
        );
    }

    #[test]
    fn a_list_of_others_is_left_to_an_apply() {
        let observed = json!({"list": [{"name": "theirs"}], "n": 1});
        let (owned, gone) = (json!({"f:n": {}}), json!({"f:n": {}}));
        assert_eq!(
            lines(&json!({"list": [{"name": "ours"}]}), &observed, &owned, &gone),
            None
        );
        assert_eq!(lines(&json!({}), &observed, &owned, &gone).unwrap(), ["remove /n"]);
    }
}
