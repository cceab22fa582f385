//! Equality as the server decides it: each type of value has a method `Equal` in cel-go or in apiserver's
//! `pkg/cel/common/valuesunstructured.go`, and an item that does not match its schema is an error.

use super::list::{Items, Kind, List};
use super::lookup::{key_in_set, keys_in_sum, keys_of};
use super::{Fault, Map, Outcome, Val};
use crate::schema::Node;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

impl<'a> Val<'a> {
    /// `self == other`; numbers of different types can be equal, and null equals only null.
    pub(in crate::language) fn equal(&self, other: &Self) -> Outcome<bool> {
        match (self, other) {
            (Self::Null, Self::Null) => Ok(true),
            (Self::Null, _) | (_, Self::Null) => Ok(false),
            _ => self.equals(Ok(other)),
        }
    }

    /// The method `Equal` of the value's type in Go, which [`equal`](Self::equal) calls for what is not null. A list or map of an object calls it
    /// for its items, so there a comparison of a list with null is an error.
    pub(super) fn equals(&self, other: Result<&Self, &Fault>) -> Outcome<bool> {
        let misfit = || Err(other.err().cloned().unwrap_or_else(Fault::no_overload));
        Ok(match (self, other) {
            (Self::Null, Ok(Self::Null)) => true,
            (Self::Bool(one), Ok(Self::Bool(other))) => one == other,
            (Self::String(one), Ok(Self::String(other))) => one == other,
            (Self::Bytes(one), Ok(Self::Bytes(other))) => one == other,
            (Self::Duration(one), Ok(Self::Duration(other))) => one == other,
            (Self::Timestamp(one), Ok(Self::Timestamp(other))) => one == other,
            (Self::Type(one), Ok(Self::Type(other))) => one == other,
            (Self::List(one), Ok(Self::List(other))) => one.equals(other)?,
            (Self::Map(one), Ok(Self::Map(other))) => one.equals(other)?,
            (Self::Optional(None), Ok(Self::Optional(None))) => true,
            (Self::Optional(Some(one)), Ok(Self::Optional(Some(other)))) => one.equals(Ok(&**other))?,
            (Self::Built(one), Ok(Self::Built(other))) => one.equals(other)?,
            (Self::Foreign(one), Ok(Self::Foreign(other))) => one.equal(other)?,
            (Self::Unknown(one), Ok(other)) => other.is_json(one),
            // A list or map of an object refuses to be compared with another type, and so does a sum of sets or of lists with keys.
            (Self::List(list), _) if list.is_strict() => return misfit(),
            (Self::Map(Map::Json(_, Some(_))) | Self::Foreign(_), _) => return misfit(),
            (one, Ok(other)) => one.compare_numbers(other) == Some(std::cmp::Ordering::Equal),
            (_, Err(_)) => false,
        })
    }

    /// Whether it is the same as this value of an object, in Go's types: 1 is not 1.0.
    fn is_json(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Unknown(one), other) => *one == other,
            (Self::Bool(one), Value::Bool(other)) => one == other,
            (Self::Int(one), Value::Number(other)) => other.as_i64() == Some(*one),
            (Self::Double(one), Value::Number(other)) => !other.is_i64() && other.as_f64() == Some(*one),
            (Self::String(one), Value::String(other)) => one == other,
            (Self::List(one), other) => one
                .as_json()
                .is_some_and(|one| other.as_array().is_some_and(|it| one == it)),
            (Self::Map(Map::Json(one, _)), Value::Object(other)) => *one == other,
            _ => false,
        }
    }
}

type Item<'a> = Outcome<Val<'a>>;

/// Compares items of a list or map of an object. An error of `one` is returned; one of `other` only if `one` is a list or map.
fn same(one: Item<'_>, other: &Item<'_>) -> Outcome<bool> {
    one?.equals(other.as_ref())
}

/// Compares items of a list or map that a rule made: there null equals only null.
fn equal(one: &Item<'_>, other: &Item<'_>) -> Outcome<bool> {
    match (one, other) {
        (Ok(Val::Null), Ok(Val::Null)) => Ok(true),
        (Ok(Val::Null), _) | (_, Ok(Val::Null)) => Ok(false),
        (Ok(one), other) => one.equals(other.as_ref()),
        (Err(fault), _) => Err(fault.clone()),
    }
}

/// Whether a list or map that a rule made counts two of its items as equal: an error is not unequal.
fn alike(one: &Item<'_>, other: &Item<'_>) -> Outcome<bool> {
    match equal(one, other) {
        Err(fault) if !fault.is_final() => Ok(true),
        result => result,
    }
}

impl<'a> List<'a> {
    fn equals(&self, other: &Self) -> Outcome<bool> {
        if self.len() != other.len() {
            return Ok(false);
        }
        let mut pairs = self.iter().zip(other.iter());
        match (&self.items, self.kind) {
            (_, Kind::Set) => self.equals_set(other),
            (Items::Json(items, Some(node)), Kind::Keyed(names)) => self.equals_keyed(items, node, names, other),
            (_, Kind::Keyed(names)) => self.equals_merged(names, other),
            (Items::Json(_, Some(_)), Kind::Atomic) => all(&mut pairs, |one, other| same(one, &other)),
            (Items::Concat(_), Kind::Atomic) => all_but_errors(pairs),
            (_, Kind::Atomic) => all(&mut pairs, |one, other| alike(&one, &other)),
        }
    }

    /// The order does not matter, nor how often an item occurs. An item that does not match its schema equals nothing.
    fn equals_set(&self, other: &Self) -> Outcome<bool> {
        let (mut keys, mut fits) = (HashSet::new(), true);
        for item in self.iter() {
            let key = key_in_set(&item)?;
            fits &= key.is_some();
            keys.extend(key);
        }
        let mut seen = HashSet::new();
        for item in other.iter() {
            match key_in_set(&item)? {
                Some(key) if keys.contains(&key) => _ = seen.insert(key),
                _ => return Ok(false),
            }
        }
        Ok(fits && seen.len() == keys.len())
    }

    /// The order does not matter. Of several items with the same keys, the last counts.
    fn equals_keyed(&self, items: &'a [Value], node: &'a Node, names: &[String], other: &Self) -> Outcome<bool> {
        let index = self.index.clone().unwrap_or_default();
        index.fill(items.iter().map(|item| keys_of(item.as_object(), names)))?;
        let mut seen = HashSet::new();
        for item in other.iter() {
            let map = match &item {
                Ok(Val::Map(Map::Json(map, _))) => Some(*map),
                _ => None,
            };
            let place = index.find(keys_of(map, names))?;
            let Some((place, one)) = place.and_then(|place| Some((place, items.get(place)?))) else {
                return Ok(false);
            };
            if !same(Val::of(one, Some(node)), &item)? {
                return Ok(false);
            }
            seen.insert(place);
        }
        Ok(seen.len() == index.len())
    }

    /// Like [`equals_keyed`](Self::equals_keyed) for a sum, whose items have the types of their schema.
    fn equals_merged(&self, names: &[String], other: &Self) -> Outcome<bool> {
        let (mut items, mut fits) = (HashMap::new(), true);
        for item in self.iter() {
            match keys_in_sum(&item, names) {
                Some(keys) => _ = items.insert(keys, item),
                None => fits = false,
            }
        }
        let mut seen = HashSet::new();
        for item in other.iter() {
            let keys = keys_in_sum(&item, names);
            let Some((keys, one)) = keys.and_then(|keys| items.get_key_value(&keys)) else {
                return Ok(false);
            };
            if !same(one.clone(), &item)? {
                return Ok(false);
            }
            seen.insert(keys);
        }
        Ok(fits && seen.len() == items.len())
    }
}

/// Whether all pairs are equal; ends at the first that is not, or is an error.
fn all<'a>(
    pairs: &mut impl Iterator<Item = (Item<'a>, Item<'a>)>,
    equal: impl Fn(Item<'a>, Item<'a>) -> Outcome<bool>,
) -> Outcome<bool> {
    for (one, other) in pairs {
        if !equal(one, other)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether all pairs are equal. An error counts only if no pair is unequal.
fn all_but_errors<'a>(pairs: impl Iterator<Item = (Item<'a>, Item<'a>)>) -> Outcome<bool> {
    let mut fault = None;
    for (one, other) in pairs {
        match equal(&one, &other) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(error) if error.is_final() => return Err(error),
            Err(error) => fault = fault.or(Some(error)),
        }
    }
    fault.map_or(Ok(true), Err)
}

impl<'a> Map<'a> {
    fn equals(&self, other: &Self) -> Outcome<bool> {
        if self.len() != other.len() {
            return Ok(false);
        }
        if let Self::Json(map, Some(node)) = self {
            return self.equals_object(map, node, other);
        }
        for key in self.keys() {
            let pair = (self.find(&key).transpose(), other.find(&key).transpose());
            let (Some(one), Some(other)) = pair else {
                return Ok(false);
            };
            if !alike(&one, &other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Go visits the fields in random order, and returns the first result that is not true.
    fn equals_object(&self, map: &serde_json::Map<String, Value>, node: &Node, other: &Self) -> Outcome<bool> {
        for (name, value) in map {
            if !node.knows(name) {
                // Go cannot compare such a field with a map that a rule made.
                let Self::Json(other, Some(_)) = other else {
                    return Err(Fault::no_overload());
                };
                if other.get(name).is_some_and(|other| other != value) {
                    return Ok(false);
                }
                continue;
            }
            let key = Val::String(name.as_str().into());
            let equal = match (self.find(&key).transpose(), other.find(&key).transpose()) {
                (Some(one), Some(other)) => same(one, &other)?,
                (one, other) => one.is_none() && other.is_none(),
            };
            if !equal {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
