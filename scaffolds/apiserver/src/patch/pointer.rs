//! Paths of JSON patches, and the places that they lead to, by the rules of the library that kube-apiserver uses: what
//! is null is not there, indices may be negative, and what stands before the first slash does not matter.

use serde_json::{Map, Value};

/// A path leads nowhere, or not to where the operation must go. Which of the two nobody gets to know.
#[derive(Debug)]
pub(super) struct Nowhere;

/// The object or array that holds what a path names, and the last step.
pub(super) enum Place<'a> {
    Object(&'a mut Map<String, Value>, String),
    Array(&'a mut Vec<Value>, String),
}

/// The steps of a path, decoded; none for a path without a slash.
pub(super) fn steps(path: &str) -> Vec<String> {
    path.split('/')
        .skip(1)
        .map(|step| step.replace("~1", "/").replace("~0", "~"))
        .collect()
}

impl<'a> Place<'a> {
    pub(super) fn find(mut document: &'a mut Value, path: &str) -> Result<Self, Nowhere> {
        let mut steps = steps(path);
        let last = steps.pop().ok_or(Nowhere)?;
        for step in steps {
            document = match document {
                Value::Object(members) => members.get_mut(&step).ok_or(Nowhere)?,
                Value::Array(items) => {
                    let index = index(&step, items.len())?;
                    items.get_mut(index).ok_or(Nowhere)?
                }
                _ => return Err(Nowhere),
            };
        }
        match document {
            Value::Object(members) => Ok(Self::Object(members, last)),
            Value::Array(items) => Ok(Self::Array(items, last)),
            _ => Err(Nowhere),
        }
    }

    /// What is there; a missing field is nothing, a missing item leads nowhere.
    pub(super) fn get(&self) -> Result<Option<&Value>, Nowhere> {
        match self {
            Self::Object(members, name) => Ok(members.get(name).filter(|it| !it.is_null())),
            Self::Array(items, at) => {
                let item = items.get(index(at, items.len())?).ok_or(Nowhere)?;
                Ok(Some(item).filter(|it| !it.is_null()))
            }
        }
    }

    pub(super) fn add(self, value: Value) -> Result<(), Nowhere> {
        match self {
            Self::Object(members, name) => drop(members.insert(name, value)),
            Self::Array(items, at) if at == "-" => items.push(value),
            Self::Array(items, at) => {
                // Negative indices count from behind the last item.
                let index = index(&at, items.len() + 1)?;
                if index > items.len() {
                    return Err(Nowhere);
                }
                items.insert(index, value);
            }
        }
        Ok(())
    }

    /// Fields need not be there to be replaced.
    pub(super) fn replace(self, value: Value) -> Result<(), Nowhere> {
        match self {
            Self::Object(members, name) => drop(members.insert(name, value)),
            Self::Array(items, at) => {
                let index = index(&at, items.len())?;
                *items.get_mut(index).ok_or(Nowhere)? = value;
            }
        }
        Ok(())
    }

    pub(super) fn remove(self) -> Result<Value, Nowhere> {
        match self {
            Self::Object(members, name) => members.remove(&name).ok_or(Nowhere),
            Self::Array(items, at) => {
                let index = index(&at, items.len())?;
                if index >= items.len() {
                    return Err(Nowhere);
                }
                Ok(items.remove(index))
            }
        }
    }
}

/// The place that an index names in so many places; it may be too large, not too small.
fn index(text: &str, places: usize) -> Result<usize, Nowhere> {
    let index: i64 = text.parse().map_err(|_| Nowhere)?;
    match usize::try_from(index) {
        Ok(index) => Ok(index),
        Err(_) => usize::try_from(index.unsigned_abs())
            .ok()
            .and_then(|back| places.checked_sub(back))
            .ok_or(Nowhere),
    }
}
