//! `+` of lists: a list of an object stays one, with a union for the type set and a merge for the type map.

use super::Outcome;
use super::list::{Items, Kind, List};
use super::lookup::{Index, keys_of};
use super::native::Native;
use crate::schema::Node;
use std::rc::Rc;

impl<'a> List<'a> {
    /// A list of Go values with the schema of its items.
    pub(super) fn sum(items: Vec<Native<'a>>, node: &'a Node, kind: Kind<'a>) -> Self {
        Self::with(Items::Sum(Rc::new(items), node), kind)
    }

    /// The items as Go values.
    pub(super) fn natives(&self) -> Vec<Native<'a>> {
        match &self.items {
            Items::Json(items, _) => items.iter().map(Native::Json).collect(),
            Items::Sum(items, _) => items.to_vec(),
            Items::Own(_) | Items::Concat(_) => self.iter().map(Native::of).collect(),
        }
    }

    /// `self + other`. If `self` is a list of an object, the items of `other` get the schema of its items.
    pub(in crate::language) fn plus(&self, other: &Self) -> Outcome<Self> {
        let Some(node) = self.node() else {
            return Ok(match (self.len(), other.len()) {
                (0, _) => other.clone(),
                (_, 0) => self.clone(),
                _ => Self::with(Items::Concat(Rc::new((self.clone(), other.clone()))), Kind::Atomic),
            });
        };
        let added = other.iter().map(Native::of);
        let items = match self.kind {
            Kind::Atomic => self.natives().into_iter().chain(added).collect(),
            Kind::Set => self.union(added)?,
            Kind::Keyed(names) => merged(self.natives(), added, names)?,
        };
        Ok(Self::sum(items, node, self.kind))
    }

    /// The items, and those added that it does not have yet. Go adds them to the map of this list, too: a later comparison finds them there.
    fn union(&self, added: impl Iterator<Item = Native<'a>>) -> Outcome<Vec<Native<'a>>> {
        let mut items = self.natives();
        let index = self.index.clone().unwrap_or_default();
        index.fill(items.iter().map(Native::key))?;
        for item in added {
            if index.find(item.key())?.is_none() {
                index.add(item.key());
                items.push(item);
            }
        }
        Ok(items)
    }
}

/// Replaces the items with the same keys, and adds the others, even if several of those have the same keys.
fn merged<'a>(
    mut items: Vec<Native<'a>>,
    added: impl Iterator<Item = Native<'a>>,
    names: &[String],
) -> Outcome<Vec<Native<'a>>> {
    let places = Index::default();
    places.fill(items.iter().map(|item| keys_of(item, names)))?;
    for item in added {
        let place = places.find(keys_of(&item, names))?;
        match place.and_then(|place| items.get_mut(place)) {
            Some(old) => *old = item,
            None => items.push(item),
        }
    }
    Ok(items)
}
