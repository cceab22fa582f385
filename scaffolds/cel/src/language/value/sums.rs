//! `+` of lists: a union for the type set, a merge for the type map, and the items of both for others.

use super::list::{Items, Kind, List};
use super::lookup::{key_in_set, keys_in_sum};
use super::{Outcome, Val};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

impl<'a> List<'a> {
    /// `self + other`.
    pub(in crate::language) fn plus(&self, other: &Self) -> Outcome<Self> {
        let items = match (&self.items, self.kind) {
            (_, Kind::Set) => self.union(other)?,
            (_, Kind::Keyed(names)) => self.merged(other, names),
            (Items::Json(_, Some(_)), Kind::Atomic) => self.iter().chain(other.iter()).collect(),
            _ => {
                return Ok(match (self.len(), other.len()) {
                    (0, _) => other.clone(),
                    (_, 0) => self.clone(),
                    _ => Self::with(Items::Concat(Rc::new((self.clone(), other.clone()))), Kind::Atomic),
                });
            }
        };
        Ok(Self::with(Items::Sum(Rc::new(items)), self.kind))
    }

    /// The items, and those of `other` that it does not have.
    fn union(&self, other: &Self) -> Outcome<Vec<Outcome<Val<'a>>>> {
        let mut keys = HashSet::new();
        for item in self.iter() {
            keys.extend(key_in_set(&item)?);
        }
        let mut items: Vec<_> = self.iter().collect();
        for item in other.iter() {
            if key_in_set(&item)?.is_none_or(|key| keys.insert(key)) {
                items.push(item);
            }
        }
        Ok(items)
    }

    /// Replaces the items with the same keys, and adds the others, even if several of those have the same keys.
    fn merged(&self, other: &Self, names: &[String]) -> Vec<Outcome<Val<'a>>> {
        let mut items: Vec<_> = self.iter().collect();
        let keys = items.iter().enumerate();
        let places: HashMap<_, _> = keys
            .filter_map(|(at, item)| Some((keys_in_sum(item, names)?, at)))
            .collect();
        for item in other.iter() {
            let place = keys_in_sum(&item, names).and_then(|key| places.get(&key));
            match place.and_then(|place| items.get_mut(*place)) {
                Some(old) => *old = item,
                None => items.push(item),
            }
        }
        items
    }
}
