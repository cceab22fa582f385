//! Applies the change of a decoded value to the JSON object that it was decoded from, which may have further fields.

use std::{collections::HashMap, mem};

use serde_json::{Map, Value};

/// `original` with the changes that lead from `before` to `after`: two encodings of the type, before and after an author
/// has changed the value. Where they are equal, the original stays as it is, with the fields that the type does not know
/// and without those that only the encoding adds.
///
/// Items of a changed list match if they are equal, or else have the same `name`, or else the same index in lists of the
/// same length. An item of `after` without a match is used as it is.
pub(crate) fn carry_over(original: &Value, before: &Value, after: &Value) -> Value {
    if before == after {
        return original.clone();
    }
    match (original, before, after) {
        (Value::Object(original), Value::Object(before), Value::Object(after)) => fields(original, before, after),
        (Value::Array(original), Value::Array(before), Value::Array(after)) if original.len() == before.len() => {
            items(original, before, after)
        }
        _ => after.clone(),
    }
}

fn fields(original: &Map<String, Value>, before: &Map<String, Value>, after: &Map<String, Value>) -> Value {
    let mut merged = original.clone();
    for (name, value) in after {
        match (original.get(name), before.get(name)) {
            (_, Some(same)) if same == value => {}
            (Some(original), Some(before)) => _ = merged.insert(name.clone(), carry_over(original, before, value)),
            _ => _ = merged.insert(name.clone(), value.clone()),
        }
    }
    // Fields that the type does not know are in neither of the two.
    merged.retain(|name, _| after.contains_key(name) || !before.contains_key(name));
    Value::Object(merged)
}

fn items(original: &[Value], before: &[Value], after: &[Value]) -> Value {
    let same_length = before.len() == after.len();
    let mut free = UnmatchedItems::of(before);
    // Equal items first, so that none of them is taken for another one.
    let equal: Vec<_> = after.iter().map(|item| free.take_equal(item)).collect();
    let merged = after.iter().zip(equal).enumerate().map(|(index, (item, equal))| {
        let found = equal.or_else(|| match name(item) {
            Some(name) => free.take_named(name),
            None if same_length => free.take(index),
            None => None,
        });
        match found {
            Some(index) => carry_over(&original[index], &before[index], item),
            None => item.clone(),
        }
    });
    Value::Array(merged.collect())
}

fn name(item: &Value) -> Option<&str> {
    item.get("name")?.as_str()
}

/// The items of a list that have not been matched yet. Each look-up takes constant time: users write lists with a hundred
/// thousand items.
struct UnmatchedItems<'a> {
    taken: Vec<bool>,
    /// The places of equal items, in descending order.
    equal: HashMap<&'a Value, Vec<usize>>,
    /// The places of items with this name, in descending order.
    named: HashMap<&'a str, Vec<usize>>,
}

impl<'a> UnmatchedItems<'a> {
    fn of(items: &'a [Value]) -> Self {
        let mut free = Self {
            taken: vec![false; items.len()],
            equal: HashMap::new(),
            named: HashMap::new(),
        };
        for (index, item) in items.iter().enumerate().rev() {
            free.equal.entry(item).or_default().push(index);
            if let Some(name) = name(item) {
                free.named.entry(name).or_default().push(index);
            }
        }
        free
    }

    fn take_equal(&mut self, item: &Value) -> Option<usize> {
        let index = self.equal.get_mut(item)?.pop()?;
        self.take(index)
    }

    /// The first free item with this name.
    fn take_named(&mut self, name: &str) -> Option<usize> {
        loop {
            let index = self.named.get_mut(name)?.pop()?;
            if let Some(free) = self.take(index) {
                return Some(free);
            }
        }
    }

    /// The item at this place, if it is free.
    fn take(&mut self, index: usize) -> Option<usize> {
        (!mem::replace(self.taken.get_mut(index)?, true)).then_some(index)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_that_the_type_does_not_know_survive_at_any_depth() {
        let original =
            json!({"spec": {"size": 1, "unknown": [{}], "list": [{"name": "a", "x": 1}, {"name": "b", "x": 2}]}});
        let before = json!({"spec": {"size": 1, "list": [{"name": "a"}, {"name": "b"}], "added": 0}});
        let after = json!({"spec": {"size": 2, "list": [{"name": "b", "set": true}, {"name": "c"}, {"name": "a"}], "added": 0}});
        assert_eq!(
            carry_over(&original, &before, &after),
            json!({"spec": {"size": 2, "unknown": [{}],
                "list": [{"name": "b", "x": 2, "set": true}, {"name": "c"}, {"name": "a", "x": 1}]}})
        );
    }

    #[test]
    fn what_the_author_does_not_touch_keeps_its_form() {
        // The type writes numbers as 1.0 and defaults that were not there.
        let (original, before) = (json!({"a": 1, "b": null}), json!({"a": 1.0, "c": ""}));
        assert_eq!(carry_over(&original, &before, &before), original);
        let after = json!({"a": 1.0, "c": "x"});
        assert_eq!(
            carry_over(&original, &before, &after),
            json!({"a": 1, "b": null, "c": "x"})
        );
    }

    #[test]
    fn removed_fields_are_removed_and_items_without_names_are_merged_by_place() {
        let original = json!({"a": {"b": 1, "unknown": 1}, "l": [{"v": 1, "unknown": 1}, {"v": 2, "unknown": 2}]});
        let before = json!({"a": {"b": 1}, "l": [{"v": 1}, {"v": 2}]});
        let after = json!({"a": {}, "l": [{"v": 3}, {"v": 2}]});
        assert_eq!(
            carry_over(&original, &before, &after),
            json!({"a": {"unknown": 1}, "l": [{"v": 3, "unknown": 1}, {"v": 2, "unknown": 2}]})
        );
        let shorter = json!({"a": {"b": 1}, "l": [{"v": 2}]});
        assert_eq!(
            carry_over(&original, &before, &shorter)["l"],
            json!([{"v": 2, "unknown": 2}])
        );
    }

    #[test]
    fn a_list_of_a_hundred_thousand_items_is_merged_in_one_pass() {
        let list = |from: usize| -> Vec<Value> {
            let item = |number: usize| json!({"name": format!("{}", number % 100_000), "value": number});
            (from..from + 100_000).map(item).collect()
        };
        let [original, before, after] = [list(0), list(0), list(100_000)].map(Value::Array);
        assert_eq!(carry_over(&original, &before, &after), after);
        let unnamed = |value: usize| Value::Array(vec![json!([value]); 100_000]);
        let merged = carry_over(&unnamed(1), &unnamed(2), &unnamed(3));
        assert_eq!(merged, unnamed(3));
    }
}
