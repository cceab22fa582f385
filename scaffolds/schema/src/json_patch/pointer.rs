//! Paths in JSON patches and the values they lead to, by the rules of the library that kube-apiserver uses: null counts
//! as absent, indices may be negative, and the text before the first slash is ignored.

use serde_json::{Map, Value};

/// A path does not exist, or cannot be changed as requested. A client's patch gets one error for both cases, a webhook's patch a different error for each.
#[derive(Debug)]
pub(super) enum Nowhere {
    /// The parent of the value does not exist.
    Path,
    /// The value itself, in the library's words.
    Value(String),
    /// All of the sentence.
    Told(String),
}

impl Nowhere {
    fn key(name: &str) -> Self {
        Self::Value(format!("Unable to remove nonexistent key: {name}: missing value"))
    }

    /// The error of a value, as part of a sentence that begins like this.
    pub(super) fn after(self, beginning: &str) -> Self {
        match self {
            Self::Value(why) => Self::Told(format!("{beginning}: {why}")),
            other => other,
        }
    }

    fn index(index: &str) -> Self {
        Self::Value(format!(
            "Unable to access invalid index: {index}: invalid index referenced"
        ))
    }
}

/// The object or array that contains the value of a path, and the last step.
pub(super) enum Container<'a> {
    Object(&'a mut Map<String, Value>, String),
    Array(&'a mut Vec<Value>, String),
}

/// The steps of a JSON pointer, decoded; empty if it has no slash.
pub fn steps(path: &str) -> Vec<String> {
    path.split('/')
        .skip(1)
        .map(|step| step.replace("~1", "/").replace("~0", "~"))
        .collect()
}

impl<'a> Container<'a> {
    pub(super) fn find(mut document: &'a mut Value, path: &str) -> Result<Self, Nowhere> {
        let mut steps = steps(path);
        let last = steps.pop().ok_or(Nowhere::Path)?;
        for step in steps {
            document = match document {
                Value::Object(members) => members.get_mut(&step).ok_or(Nowhere::Path)?,
                Value::Array(items) => {
                    let index = index(&step, items.len()).map_err(|_| Nowhere::Path)?;
                    items.get_mut(index).ok_or(Nowhere::Path)?
                }
                _ => return Err(Nowhere::Path),
            };
        }
        match document {
            Value::Object(members) => Ok(Self::Object(members, last)),
            Value::Array(items) => Ok(Self::Array(items, last)),
            _ => Err(Nowhere::Path),
        }
    }

    /// The value; `None` for a missing field, an error for a missing item.
    pub(super) fn get(&self) -> Result<Option<&Value>, Nowhere> {
        match self {
            Self::Object(members, name) => Ok(members.get(name).filter(|it| !it.is_null())),
            Self::Array(items, at) => {
                let item = items.get(index(at, items.len())?).ok_or_else(|| Nowhere::index(at))?;
                Ok(Some(item).filter(|it| !it.is_null()))
            }
        }
    }

    pub(super) fn add(self, value: Value) -> Result<(), Nowhere> {
        match self {
            Self::Object(members, name) => drop(members.insert(name, value)),
            Self::Array(items, at) if at == "-" => items.push(value),
            Self::Array(items, at) => {
                // Negative indices count from the position after the last item.
                let index = index(&at, items.len() + 1)?;
                if index > items.len() {
                    return Err(Nowhere::index(&at));
                }
                items.insert(index, value);
            }
        }
        Ok(())
    }

    /// Replaces a value; a field may be absent.
    pub(super) fn replace(self, value: Value) -> Result<(), Nowhere> {
        match self {
            Self::Object(members, name) => drop(members.insert(name, value)),
            Self::Array(items, at) => {
                let index = index(&at, items.len())?;
                *items.get_mut(index).ok_or_else(|| Nowhere::index(&at))? = value;
            }
        }
        Ok(())
    }

    pub(super) fn remove(self) -> Result<Value, Nowhere> {
        match self {
            Self::Object(members, name) => members.remove(&name).ok_or_else(|| Nowhere::key(&name)),
            Self::Array(items, at) => {
                let index = index(&at, items.len())?;
                if index >= items.len() {
                    return Err(Nowhere::index(&at));
                }
                Ok(items.remove(index))
            }
        }
    }
}

/// The position of an index among `places`. It may be too large, but not too small.
fn index(text: &str, places: usize) -> Result<usize, Nowhere> {
    let index: i64 = text.parse().map_err(|_| {
        let shown = kubewright_machinery::go::quote(text);
        Nowhere::Value(format!(
            "value was not a proper array index: '{text}': strconv.Atoi: parsing {shown}: invalid syntax"
        ))
    })?;
    match usize::try_from(index) {
        Ok(index) => Ok(index),
        Err(_) => usize::try_from(index.unsigned_abs())
            .ok()
            .and_then(|back| places.checked_sub(back))
            .ok_or_else(|| Nowhere::index(text)),
    }
}
