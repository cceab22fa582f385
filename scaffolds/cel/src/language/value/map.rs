//! Maps and objects.

use super::{Fault, Outcome, Val};
use crate::schema::Node;
use kubewright_machinery::rule_names::{escape, unescape};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Clone, Debug)]
pub(in crate::language) enum Map<'a> {
    Json(&'a serde_json::Map<String, Value>, Option<&'a Node>),
    Own(Rc<BTreeMap<Key, Val<'a>>>),
}

/// A key of a map that a rule creates.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(in crate::language) enum Key {
    Bool(bool),
    Int(i64),
    Uint(u64),
    String(String),
}

impl Key {
    pub(in crate::language) fn of(value: &Val<'_>) -> Option<Self> {
        Some(match value {
            Val::Bool(value) => Self::Bool(*value),
            Val::Int(value) => Self::Int(*value),
            Val::Uint(value) => Self::Uint(*value),
            Val::String(value) => Self::String(value.clone().into_owned()),
            _ => return None,
        })
    }

    pub(in crate::language) fn value<'a>(&self) -> Val<'a> {
        match self {
            Self::Bool(value) => Val::Bool(*value),
            Self::Int(value) => Val::Int(*value),
            Self::Uint(value) => Val::Uint(*value),
            Self::String(value) => Val::text(value),
        }
    }
}

impl<'a> Map<'a> {
    pub(in crate::language) fn json(map: &'a serde_json::Map<String, Value>, node: Option<&'a Node>) -> Self {
        Self::Json(map, node)
    }

    pub(in crate::language) fn own(entries: BTreeMap<Key, Val<'a>>) -> Self {
        Self::Own(Rc::new(entries))
    }

    pub(in crate::language) fn len(&self) -> usize {
        match self {
            Self::Json(map, _) => map.len(),
            Self::Own(entries) => entries.len(),
        }
    }

    /// A property by its unescaped name.
    pub(super) fn field(&self, name: &str) -> Option<Outcome<Val<'a>>> {
        let Self::Json(map, node) = self else {
            return self.find(&Val::text(name)).transpose();
        };
        let value = map.get(name)?;
        let Some(node) = node else {
            return Some(Val::of(value, None));
        };
        match (&node.properties, &node.additional) {
            // A null field of an object counts as absent.
            (Some(properties), _) => {
                let property = properties.get(name).filter(|_| !value.is_null())?;
                Some(Val::of(value, Some(property)))
            }
            (None, Some(additional)) => Some(Val::of(value, Some(additional))),
            (None, None) => None,
        }
    }

    /// The value at `key`.
    pub(in crate::language) fn find(&self, key: &Val<'_>) -> Outcome<Option<Val<'a>>> {
        match self {
            Self::Own(entries) => Ok(alike(key).into_iter().find_map(|key| entries.get(&key)).cloned()),
            Self::Json(_, node) => {
                let Val::String(name) = key else {
                    return if node.is_some() {
                        Err(Fault::no_overload())
                    } else {
                        Ok(None)
                    };
                };
                if node.is_some_and(|node| node.properties.is_some()) {
                    let Some(name) = unescape(name) else {
                        return Ok(None);
                    };
                    return self.field(&name).transpose();
                }
                self.field(name).transpose()
            }
        }
    }

    /// The keys, escaped as in rules, without fields that the schema does not specify.
    pub(in crate::language) fn keys(&self) -> Vec<Val<'a>> {
        match self {
            Self::Own(entries) => entries.keys().map(Key::value).collect(),
            Self::Json(map, node) => {
                let properties = node.and_then(|node| node.properties.as_ref());
                let open = node.is_none_or(|node| node.additional.is_some());
                let known = map
                    .keys()
                    .filter(|key| properties.map_or(open, |it| it.contains_key(*key)));
                let written = |key: &'a String| match properties.and_then(|_| escape(key)) {
                    Some(escaped) => Val::text(escaped),
                    None => Val::String(Cow::Borrowed(key.as_str())),
                };
                known.map(written).collect()
            }
        }
    }

    /// The map with one more entry, which must be new.
    pub(in crate::language) fn insert(mut self, key: &Val<'a>, value: Val<'a>) -> Outcome<Self> {
        if self.find(key)?.is_some() {
            return Err(Fault::new(format!("insert failed: key {} already exists", key.shown())));
        }
        let key = Key::of(key).ok_or_else(Fault::no_overload)?;
        if let Self::Own(entries) = &mut self {
            Rc::make_mut(entries).insert(key, value);
        }
        Ok(self)
    }
}

/// The keys that are equal to a value: for an integral number, one of each number type.
fn alike(key: &Val<'_>) -> Vec<Key> {
    let whole = |number: i128| {
        let (int, uint) = (i64::try_from(number).ok(), u64::try_from(number).ok());
        int.map(Key::Int).into_iter().chain(uint.map(Key::Uint)).collect()
    };
    match key {
        Val::Int(number) => whole(i128::from(*number)),
        Val::Uint(number) => whole(i128::from(*number)),
        // The conversion is exact, because the number is integral and in range.
        Val::Double(number) if number.fract() == 0.0 && number.abs() < 1e19 => whole(*number as i128),
        other => Key::of(other).into_iter().collect(),
    }
}
