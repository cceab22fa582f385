//! Carries a change of what a type knows over to the object that it was decoded from, which may have more.

use serde_json::{Map, Value};

/// `original` with the changes that lead from `before` to `after`: two encodings of the type, before and after an author
/// has changed the value. Where they are equal, the original stays as it is, with the fields that the type does not know
/// and without those that only the encoding adds.
///
/// Items of a changed list are taken for the same if they are equal, or else have the same `name`, or else the same place
/// in lists that have not changed their length; any other item is that of `after`.
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
    // What the type does not know is in neither of the two.
    merged.retain(|name, _| after.contains_key(name) || !before.contains_key(name));
    Value::Object(merged)
}

fn items(original: &[Value], before: &[Value], after: &[Value]) -> Value {
    let same_length = before.len() == after.len();
    let mut taken = vec![false; before.len()];
    // Equal items first, so that none of them is taken for another one.
    let mut found: Vec<Option<usize>> = after
        .iter()
        .map(|item| take(&mut taken, |index| before[index] == *item))
        .collect();
    for (index, item) in after
        .iter()
        .enumerate()
        .filter(|(index, _)| found[*index].is_none())
        .collect::<Vec<_>>()
    {
        let named = item.get("name").filter(|name| name.is_string());
        found[index] = match named {
            Some(name) => take(&mut taken, |at| before[at].get("name") == Some(name)),
            None if same_length => take(&mut taken, |at| at == index),
            None => None,
        };
    }
    let merged = after.iter().zip(found).map(|(item, found)| match found {
        Some(index) => carry_over(&original[index], &before[index], item),
        None => item.clone(),
    });
    Value::Array(merged.collect())
}

/// The first index that is free and fits; it is not free any more.
fn take(taken: &mut [bool], fits: impl Fn(usize) -> bool) -> Option<usize> {
    let index = (0..taken.len()).find(|index| !taken[*index] && fits(*index))?;
    taken[index] = true;
    Some(index)
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
}
