//! Lists, including those of type set and map.

use super::{Fault, Outcome, Val};
use crate::cel::schema::Node;
use serde_json::Value;
use std::rc::Rc;

/// The `x-kubernetes-list-type` of a list, which decides how equality and `+` work.
#[derive(Clone, Copy, Debug)]
pub(in crate::cel) enum Kind<'a> {
    Atomic,
    Set,
    /// A list of type map, with these keys.
    Keyed(&'a [String]),
}

#[derive(Clone, Debug)]
pub(in crate::cel) struct List<'a> {
    items: Items<'a>,
    pub(in crate::cel) kind: Kind<'a>,
}

#[derive(Clone, Debug)]
enum Items<'a> {
    Json(&'a [Value], Option<&'a Node>),
    Own(Rc<Vec<Val<'a>>>),
}

impl<'a> List<'a> {
    pub(in crate::cel) fn json(items: &'a [Value], node: Option<&'a Node>) -> Self {
        let kind = match node.and_then(|node| node.list_type.as_deref()) {
            Some("set") => Kind::Set,
            Some("map") => Kind::Keyed(node.map_or(&[], |node| &node.list_keys)),
            _ => Kind::Atomic,
        };
        Self {
            items: Items::Json(items, node.and_then(|node| node.items.as_deref())),
            kind,
        }
    }

    /// The list without its schema.
    pub(in crate::cel) fn untyped(&self) -> Self {
        let items = match &self.items {
            Items::Json(items, _) => Items::Json(items, None),
            own => own.clone(),
        };
        Self {
            items,
            kind: Kind::Atomic,
        }
    }

    pub(in crate::cel) fn own(items: Vec<Val<'a>>) -> Self {
        Self {
            items: Items::Own(Rc::new(items)),
            kind: Kind::Atomic,
        }
    }

    /// Whether it comes from an object and has a schema.
    pub(super) fn is_typed(&self) -> bool {
        matches!(self.items, Items::Json(_, Some(_)))
    }

    fn is_json(&self) -> bool {
        matches!(self.items, Items::Json(..))
    }

    /// The items in the object.
    pub(super) fn as_json(&self) -> Option<&'a [Value]> {
        match self.items {
            Items::Json(items, _) => Some(items),
            Items::Own(_) => None,
        }
    }

    pub(in crate::cel) fn len(&self) -> usize {
        match &self.items {
            Items::Json(items, _) => items.len(),
            Items::Own(items) => items.len(),
        }
    }

    /// The item at `index`, if there is one.
    pub(in crate::cel) fn get(&self, index: usize) -> Option<Outcome<Val<'a>>> {
        match &self.items {
            Items::Json(items, node) => items.get(index).map(|item| Val::of(item, *node)),
            Items::Own(items) => items.get(index).cloned().map(Ok),
        }
    }

    pub(in crate::cel) fn iter(&self) -> impl Iterator<Item = Outcome<Val<'a>>> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// All items, or the first error.
    pub(in crate::cel) fn all(&self) -> Outcome<Vec<Val<'a>>> {
        self.iter().collect()
    }

    /// Appends an item, in place if there is no other reference to the list.
    pub(in crate::cel) fn push(&mut self, item: Val<'a>) -> Outcome<()> {
        if self.is_json() {
            self.items = Items::Own(Rc::new(self.all()?));
        }
        if let Items::Own(items) = &mut self.items {
            Rc::make_mut(items).push(item);
        }
        Ok(())
    }

    pub(in crate::cel) fn contains(&self, item: &Val<'a>) -> Outcome<bool> {
        let mut fault = None;
        for other in self.iter() {
            match other.and_then(|other| other.equal(item)) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(Fault::Budget) => return Err(Fault::Budget),
                Err(error) => fault = fault.or(Some(error)),
            }
        }
        fault.map_or(Ok(false), Err)
    }

    pub(super) fn equal(&self, other: &Self) -> Outcome<bool> {
        if self.len() != other.len() {
            return Ok(false);
        }
        match self.kind {
            Kind::Atomic => {
                for (one, other) in self.iter().zip(other.iter()) {
                    if !Val::same(one, other)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Kind::Set => {
                self.as_json().into_iter().flatten().try_for_each(hashed)?;
                for item in other.iter() {
                    // An item that does not match the schema is an error, which never equals an item of the set.
                    let Ok(item) = item else { return Ok(false) };
                    let found = match self.as_json() {
                        Some(items) => items.iter().any(|one| item.is_json(one)),
                        None => self.contains(&item)?,
                    };
                    if !found {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Kind::Keyed(keys) => {
                self.as_json()
                    .into_iter()
                    .flatten()
                    .try_for_each(|item| hash(keys, item))?;
                for (index, item) in other.iter().enumerate() {
                    let Ok(item) = item else { return Ok(false) };
                    other
                        .as_json()
                        .and_then(|items| items.get(index))
                        .map_or(Ok(()), |item| hash(keys, item))?;
                    let one = match self.keyed(keys, &item)? {
                        Some(index) => self.get(index).transpose()?,
                        None => None,
                    };
                    let Some(one) = one else { return Ok(false) };
                    if !one.equal(&item)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    /// The index of the item with the same keys as `item`.
    fn keyed(&self, keys: &[String], item: &Val<'a>) -> Outcome<Option<usize>> {
        for (index, other) in self.iter().enumerate() {
            if same_keys(keys, &other?, item)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// `self + other`: a union for lists of type set, a merge for lists of type map.
    pub(in crate::cel) fn plus(&self, other: &Self) -> Outcome<Self> {
        let mut sum = Self {
            items: Items::Own(Rc::new(self.all()?)),
            kind: self.kind,
        };
        for item in other.iter() {
            let item = item?;
            match self.kind {
                Kind::Set if sum.contains(&item)? => {}
                Kind::Keyed(keys) => match sum.keyed(keys, &item)? {
                    Some(index) => {
                        if let Items::Own(items) = &mut sum.items
                            && let Some(place) = Rc::make_mut(items).get_mut(index)
                        {
                            *place = item;
                        }
                    }
                    None => sum.push(item)?,
                },
                Kind::Atomic | Kind::Set => sum.push(item)?,
            }
        }
        Ok(sum)
    }
}

/// The server's error for an item that is not scalar: it looks up the items of a list of type set or map in a Go map, which panics.
fn hashed(value: &Value) -> Outcome<()> {
    let kind = match value {
        Value::Object(_) => "map[string]interface {}",
        Value::Array(_) => "[]interface {}",
        _ => return Ok(()),
    };
    let text = format!("internal error: runtime error: hash of unhashable type {kind}");
    Err(Fault::new(text))
}

/// As [`hashed`], for the keys of an item.
fn hash(keys: &[String], item: &Value) -> Outcome<()> {
    keys.iter().filter_map(|key| item.get(key)).try_for_each(hashed)
}

fn same_keys(keys: &[String], one: &Val<'_>, other: &Val<'_>) -> Outcome<bool> {
    let (Val::Map(one), Val::Map(other)) = (one, other) else {
        return Ok(false);
    };
    for key in keys {
        let same = match (one.field(key), other.field(key)) {
            (Some(one), Some(other)) => one?.equal(&other?)?,
            (None, None) => true,
            _ => false,
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}
