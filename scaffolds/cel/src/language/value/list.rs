//! Lists, including lists of type set and map.

use super::lookup::Index;
use super::{Outcome, Val};
use crate::schema::Node;
use serde_json::Value;
use std::rc::Rc;

/// The `x-kubernetes-list-type` of a list, which decides how equality and `+` work.
#[derive(Clone, Copy, Debug)]
pub(in crate::language) enum Kind<'a> {
    Atomic,
    Set,
    /// A list of type map, with these keys.
    Keyed(&'a [String]),
}

#[derive(Clone, Debug)]
pub(in crate::language) struct List<'a> {
    pub(super) items: Items<'a>,
    pub(super) kind: Kind<'a>,
    /// For a list of type map of an object.
    pub(super) index: Option<Index>,
}

#[derive(Clone, Debug)]
pub(super) enum Items<'a> {
    /// Of an object, with the schema of the items.
    Json(&'a [Value], Option<&'a Node>),
    /// The sum of a list of an object and another list.
    Sum(Rc<Vec<Outcome<Val<'a>>>>),
    /// Made by a rule.
    Own(Rc<Vec<Val<'a>>>),
    /// The sum of a list without a schema and another list.
    Concat(Rc<(List<'a>, List<'a>)>),
}

impl<'a> List<'a> {
    pub(in crate::language) fn json(items: &'a [Value], node: Option<&'a Node>) -> Self {
        let items = Items::Json(items, node.and_then(|node| node.items.as_deref()));
        Self::with(items, Self::kind_of(node))
    }

    pub(super) fn with(items: Items<'a>, kind: Kind<'a>) -> Self {
        let is_indexed = matches!((&items, kind), (Items::Json(..), Kind::Keyed(_)));
        Self {
            items,
            kind,
            index: is_indexed.then(Index::default),
        }
    }

    pub(super) fn kind_of(node: Option<&'a Node>) -> Kind<'a> {
        match node.and_then(|node| node.list_type.as_deref()) {
            Some("set") => Kind::Set,
            Some("map") => Kind::Keyed(node.map_or(&[], |node| &node.list_keys)),
            _ => Kind::Atomic,
        }
    }

    pub(in crate::language) fn own(items: Vec<Val<'a>>) -> Self {
        Self::with(Items::Own(Rc::new(items)), Kind::Atomic)
    }

    /// The schema of its items; `None` for a list that a rule made, and for one whose schema is not used.
    pub(super) fn node(&self) -> Option<&'a Node> {
        match self.items {
            Items::Json(_, node) => node,
            Items::Sum(_) | Items::Own(_) | Items::Concat(_) => None,
        }
    }

    /// Whether a comparison with a value of another type is an error.
    pub(super) fn is_strict(&self) -> bool {
        self.node().is_some() || !matches!(self.kind, Kind::Atomic)
    }

    /// The items in the object.
    pub(super) fn as_json(&self) -> Option<&'a [Value]> {
        match self.items {
            Items::Json(items, _) => Some(items),
            _ => None,
        }
    }

    pub(in crate::language) fn len(&self) -> usize {
        match &self.items {
            Items::Json(items, _) => items.len(),
            Items::Sum(items) => items.len(),
            Items::Own(items) => items.len(),
            Items::Concat(both) => both.0.len() + both.1.len(),
        }
    }

    /// The item at `index`, if there is one.
    pub(in crate::language) fn get(&self, index: usize) -> Option<Outcome<Val<'a>>> {
        match &self.items {
            Items::Json(items, node) => items.get(index).map(|item| Val::of(item, *node)),
            Items::Sum(items) => items.get(index).cloned(),
            Items::Own(items) => items.get(index).cloned().map(Ok),
            Items::Concat(both) => match index.checked_sub(both.0.len()) {
                None => both.0.get(index),
                Some(index) => both.1.get(index),
            },
        }
    }

    pub(in crate::language) fn iter(&self) -> impl Iterator<Item = Outcome<Val<'a>>> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// All items, or the first error.
    pub(in crate::language) fn all(&self) -> Outcome<Vec<Val<'a>>> {
        self.iter().collect()
    }

    /// Appends an item, in place if there is no other reference to the list.
    pub(in crate::language) fn push(&mut self, item: Val<'a>) -> Outcome<()> {
        if !matches!(self.items, Items::Own(_)) {
            self.items = Items::Own(Rc::new(self.all()?));
        }
        if let Items::Own(items) = &mut self.items {
            Rc::make_mut(items).push(item);
        }
        Ok(())
    }

    /// Whether an item equals `item`. Items of an object that cannot be compared with it are an error unless another is equal; items
    /// that a rule made are not.
    pub(in crate::language) fn contains(&self, item: &Val<'a>) -> Outcome<bool> {
        if let Items::Concat(both) = &self.items {
            return match both.0.contains(item) {
                Err(fault) if fault.is_final() => Err(fault),
                Ok(true) => Ok(true),
                first => match both.1.contains(item) {
                    Err(fault) if fault.is_final() => Err(fault),
                    Ok(true) => Ok(true),
                    second => first.and(second),
                },
            };
        }
        let mut fault = None;
        for one in self.iter() {
            match self.is_found(item, &one) {
                Ok(true) => return Ok(true),
                Err(error) if error.is_final() => return Err(error),
                Err(error) if self.node().is_some() => fault = fault.or(Some(error)),
                Ok(false) | Err(_) => {}
            }
        }
        fault.map_or(Ok(false), Err)
    }

    /// Compares as the server does, from the side of the list if it is one of an object.
    fn is_found(&self, item: &Val<'a>, one: &Outcome<Val<'a>>) -> Outcome<bool> {
        match (self.node(), one) {
            (Some(_), Err(fault)) => Err(fault.clone()),
            (Some(_), Ok(one)) => one.equals(Ok(item)),
            (None, one) => item.equals(one.as_ref()),
        }
    }
}
