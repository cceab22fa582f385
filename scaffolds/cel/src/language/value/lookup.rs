//! Keys of Go's maps. The server puts the items of a list of type set or map into a Go map, where values are equal only if
//! their Go types are, and where a list or an object as a key is a panic.

use super::native::Native;
use super::{Fault, Map, Outcome, Val};
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
pub(super) struct Index(Rc<RefCell<Option<HashMap<Key, usize>>>>);

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
        let map = map.insert(HashMap::new());
        for (place, key) in keys.enumerate() {
            let key = key.map_err(|it| it.panic(false))?;
            map.extend(key.map(|key| (key, place)));
        }
        Ok(())
    }

    /// The place of the item with a key.
    ///
    /// # Errors
    /// Go's panic, if the value cannot be a key.
    pub(super) fn find(&self, key: Keyed) -> Outcome<Option<usize>> {
        let map = self.0.borrow();
        let places = map.as_ref().filter(|map| !map.is_empty());
        let key = key.map_err(|it| it.panic(places.is_none()))?;
        Ok(key.and_then(|key| places?.get(&key).copied()))
    }

    /// Adds a key that is of no item.
    pub(super) fn add(&self, key: Keyed) {
        let mut map = self.0.borrow_mut();
        let key = key.ok().flatten().map(|key| (key, usize::MAX));
        map.get_or_insert_default().extend(key);
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

impl Native<'_> {
    /// The value as a key.
    pub(super) fn key(&self) -> Keyed {
        match self {
            Self::Json(value) | Self::Made(Val::Unknown(value)) => of_json(value).map(Some),
            Self::Made(value) => of_value(value),
            Self::Fault => Ok(None),
        }
    }
}

/// The keys of an item of a list of type map. One that is not an object equals nothing.
pub(super) fn keys_of(item: &Native<'_>, names: &[String]) -> Keyed {
    let map = match item {
        Native::Json(value) => value.as_object(),
        Native::Made(Val::Map(Map::Json(map, _))) => Some(*map),
        _ => None,
    };
    let Some(map) = map else { return Ok(None) };
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

fn of_value(value: &Val<'_>) -> Keyed {
    Ok(Some(match value {
        Val::Null => Key::Null,
        Val::Bool(flag) => Key::Bool(*flag),
        Val::Int(number) => Key::Int(*number),
        Val::Uint(number) => Key::Uint(*number),
        Val::Double(number) if number.is_nan() => return Ok(None),
        Val::Double(number) => float(*number),
        Val::String(text) => Key::Text(text.clone().into_owned()),
        Val::Duration(nanos) => Key::Duration(*nanos),
        Val::Timestamp(moment) => Key::Moment(moment.seconds, moment.nanos, moment.offset),
        Val::Bytes(_) | Val::List(_) | Val::Map(_) => return Err(Unhashable(value.go_type())),
        Val::Type(_) | Val::Built(_) | Val::Optional(_) | Val::Foreign(_) | Val::Unknown(_) => return Ok(None),
    }))
}

/// Both zeros are equal.
fn float(number: f64) -> Key {
    Key::Float((number + 0.0).to_bits())
}

/// `%v` of a value of an object.
fn printed(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => go::plain(number),
        Value::String(text) => text.clone(),
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
    fn four_keys_are_compared_as_a_text_and_fewer_by_their_types() {
        let key = |item: serde_json::Value, names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            keys_of(&Native::Json(&item), &names).unwrap()
        };
        let (one, other) = (json!({"a": 1, "b": null, "c": [1.5]}), json!({"a": "1", "c": ["1.5"]}));
        let four = ["a", "b", "c", "d"];
        assert!(key(one.clone(), &four) == key(other.clone(), &four));
        assert!(key(one, &["a", "b"]) != key(other, &["a", "b"]));
    }

    #[test]
    fn both_zeros_are_one_key_and_a_whole_float_is_no_integer() {
        let key = |value: &serde_json::Value| of_json(value).unwrap();
        assert!(key(&json!(0.0)) == key(&json!(-0.0)));
        assert!(key(&json!(1)) != key(&json!(1.0)));
    }
}
