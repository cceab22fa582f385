//! Keys of Go's maps. The server puts the items of a list of type set or map into a Go map, where values are equal only if
//! their Go types are. For a list of type map of an object, a list or an object as a key is a panic.

use super::{Fault, Outcome, Val};
use kubewright_machinery::go;
use kubewright_machinery::rule_names::escape;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A value as a key.
#[derive(Debug, Eq, Hash, PartialEq)]
pub(super) enum Key {
    /// Null in an object, or a missing field.
    Missing,
    /// Null as a value of an expression, which is something else to Go.
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    /// By its bits.
    Float(u64),
    Text(String),
    Duration(i64),
    /// Seconds, nanoseconds and the offset.
    Moment(i64, u32, i64),
    /// The keys of an item of a list of type map.
    All(Vec<Key>),
}

/// Go's map of a list: the places of its items. It is made when the list is compared for the first time, once for all rules of a value; if
/// that panics, it stays as it is then, so the next rule does not panic but finds only the items before.
#[derive(Clone, Debug, Default)]
pub(super) struct Index(Rc<RefCell<Option<Places>>>);

#[derive(Debug, Default)]
struct Places {
    by_key: HashMap<Key, usize>,
    /// The number of items that equal nothing.
    others: usize,
}

impl Index {
    /// Makes the map from the keys of all items, unless it exists.
    ///
    /// # Errors
    /// Go's panic, if an item cannot be a key.
    pub(super) fn fill(&self, keys: impl Iterator<Item = Keyed>) -> Outcome<()> {
        let mut map = self.0.borrow_mut();
        if map.is_some() {
            return Ok(());
        }
        let map = map.insert(Places::default());
        for (place, key) in keys.enumerate() {
            match key.map_err(|it| it.panic(false))? {
                Some(key) => _ = map.by_key.insert(key, place),
                None => map.others += 1,
            }
        }
        Ok(())
    }

    /// The number of different keys.
    pub(super) fn len(&self) -> usize {
        let map = self.0.borrow();
        map.as_ref().map_or(0, |map| map.by_key.len() + map.others)
    }

    /// The place of the item with a key.
    ///
    /// # Errors
    /// Go's panic, if the value cannot be a key.
    pub(super) fn find(&self, key: Keyed) -> Outcome<Option<usize>> {
        let key = key.map_err(|it| it.panic(self.len() == 0))?;
        let map = self.0.borrow();
        Ok(key.and_then(|key| map.as_ref()?.by_key.get(&key).copied()))
    }
}

/// From this number of keys on, Go compares them as one text.
const PRINTED: usize = 4;

/// A value of this Go type cannot be a key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unhashable(&'static str);

/// The key of a value; `None` if it equals nothing.
pub(super) type Keyed = Result<Option<Key>, Unhashable>;

impl Unhashable {
    /// Go's panic, which differs for a search in an empty map.
    fn panic(self, searches_nothing: bool) -> Fault {
        let Self(go_type) = self;
        Fault::Panic(Rc::from(if searches_nothing {
            format!("internal error: hash of unhashable type: {go_type}")
        } else {
            format!("internal error: runtime error: hash of unhashable type {go_type}")
        }))
    }
}

/// An item of a set as a key; `None` if it equals nothing.
///
/// # Errors
/// If the item is a list, a map or an object.
pub(super) fn key_in_set(item: &Outcome<Val<'_>>) -> Outcome<Option<Key>> {
    match item {
        Ok(Val::List(_) | Val::Map(_) | Val::Built(_)) => Err(Fault::new(
            "listSet operations are only supported on lists of scalar values",
        )),
        Ok(value) => Ok(of_value(value)),
        Err(_) => Ok(None),
    }
}

/// The keys of an item of a sum of lists of type map; `None` if they equal nothing. A key that an item does not have, or that does not
/// match its schema, is missing.
pub(super) fn keys_in_sum(item: &Outcome<Val<'_>>, names: &[String]) -> Option<Key> {
    let value = |name: &String| match item {
        Ok(Val::Map(map)) => {
            let escaped = escape(name).unwrap_or_else(|| name.clone());
            map.find(&Val::text(escaped)).ok().flatten()
        }
        _ => None,
    };
    let keys = names.iter().map(|name| match value(name) {
        Some(Val::List(list)) => Some(Key::Text(printed(&Value::Array(list.as_json()?.to_vec())))),
        Some(value) => of_value(&value),
        None => Some(Key::Missing),
    });
    keys.collect::<Option<_>>().map(Key::All)
}

/// The keys of an item of a list of type map. One that is not an object equals nothing.
pub(super) fn keys_of(item: Option<&serde_json::Map<String, Value>>, names: &[String]) -> Keyed {
    let Some(map) = item else { return Ok(None) };
    // Go looks up the escaped name, so a key with another escaped name is always missing.
    let values = names.iter().map(|name| {
        let escaped = escape(name);
        map.get(escaped.as_ref().unwrap_or(name)).unwrap_or(&Value::Null)
    });
    if names.len() >= PRINTED {
        let values: Vec<String> = values.map(printed).collect();
        return Ok(Some(Key::Text(values.join(" "))));
    }
    Ok(Some(Key::All(values.map(of_json).collect::<Result<_, _>>()?)))
}

fn of_json(value: &Value) -> Result<Key, Unhashable> {
    Ok(match value {
        Value::Null => Key::Missing,
        Value::Bool(flag) => Key::Bool(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Key::Int(number),
            None => float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Key::Text(text.clone()),
        Value::Array(_) => return Err(Unhashable("[]interface {}")),
        Value::Object(_) => return Err(Unhashable("map[string]interface {}")),
    })
}

fn of_value(value: &Val<'_>) -> Option<Key> {
    Some(match value {
        Val::Null => Key::Null,
        Val::Bool(flag) => Key::Bool(*flag),
        Val::Int(number) => Key::Int(*number),
        Val::Uint(number) => Key::Uint(*number),
        Val::Double(number) if number.is_nan() => return None,
        Val::Double(number) => float(*number),
        Val::String(text) => Key::Text(text.clone().into_owned()),
        Val::Duration(nanos) => Key::Duration(*nanos),
        Val::Timestamp(moment) => Key::Moment(moment.seconds, moment.nanos, moment.offset),
        // Go prints what cannot be a key.
        Val::Bytes(bytes) => {
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:#x}")).collect();
            Key::Text(format!("[]byte{{{}}}", bytes.join(", ")))
        }
        Val::Type(name) => Key::Text((*name).to_owned()),
        Val::Optional(None) => Key::Missing,
        Val::Optional(Some(value)) => return of_value(value),
        Val::Unknown(value) => return of_json(value).ok(),
        Val::List(_) | Val::Map(_) | Val::Built(_) | Val::Foreign(_) => return None,
    })
}

/// Both zeros are equal.
fn float(number: f64) -> Key {
    Key::Float((number + 0.0).to_bits())
}

/// `%#v` of a value of an object, without the names of types.
fn printed(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => go::plain(number),
        Value::String(text) => go::quote(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(printed).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(map) => {
            let entries: Vec<String> = map
                .iter()
                .map(|(name, value)| format!("{name}:{}", printed(value)))
                .collect();
            format!("map[{}]", entries.join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_key_is_equal_only_to_one_of_its_type() {
        let key = |item: serde_json::Value, names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            keys_of(item.as_object(), &names).unwrap()
        };
        let four = ["a", "b", "c", "d"];
        for names in [&four[..], &four[..2]] {
            let (one, other) = (json!({"a": 1, "b": null}), json!({"a": "1"}));
            assert!(key(one, names) != key(other, names));
            assert!(key(json!({"a": 1, "b": null}), names) == key(json!({"a": 1}), names));
        }
        // Four keys are one text, which may have lists and objects.
        assert!(key(json!({"c": [1.5]}), &four) == key(json!({"c": [1.5]}), &four));
    }

    #[test]
    fn both_zeros_are_one_key_and_a_whole_float_is_no_integer() {
        let key = |value: &serde_json::Value| of_json(value).unwrap();
        assert!(key(&json!(0.0)) == key(&json!(-0.0)));
        assert!(key(&json!(1)) != key(&json!(1.0)));
    }
}
