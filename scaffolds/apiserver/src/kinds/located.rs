//! A value in an object together with its path, for validation.

use serde_json::Value;

static NULL: Value = Value::Null;

/// A value together with its path.
#[derive(Clone, Debug)]
pub(in crate::kinds) struct Located<'a> {
    /// Null if the value is absent.
    pub value: &'a Value,
    pub path: String,
}

impl<'a> Located<'a> {
    /// The whole object, whose path is empty.
    pub fn root(value: &'a Value) -> Self {
        let path = String::new();
        Self { value, path }
    }

    /// The field `name`.
    pub fn get(&self, name: &str) -> Self {
        let path = if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.path)
        };
        let value = self.value.get(name).unwrap_or(&NULL);
        Self { value, path }
    }

    /// The field at a dotted path.
    pub fn at(&self, path: &str) -> Self {
        path.split('.').fold(self.clone(), |at, name| at.get(name))
    }

    /// The same value with another path.
    pub fn called(&self, path: &str) -> Self {
        Self {
            value: self.value,
            path: path.to_owned(),
        }
    }

    /// The items of a list.
    pub fn items(&self) -> impl Iterator<Item = Self> + use<'a> {
        let path = self.path.clone();
        let items = self.value.as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().enumerate().map(move |(index, value)| Self {
            value,
            path: format!("{path}[{index}]"),
        })
    }

    /// The keys and values of a map; paths end in `[key]`.
    pub fn entries(&self) -> impl Iterator<Item = (&'a str, Self)> + use<'a> {
        let path = self.path.clone();
        let entries = self.value.as_object().into_iter().flatten();
        entries.map(move |(key, value)| {
            (
                key.as_str(),
                Self {
                    value,
                    path: format!("{path}[{key}]"),
                },
            )
        })
    }

    /// The number of items or entries.
    pub fn len(&self) -> usize {
        self.value
            .as_array()
            .map_or_else(|| self.value.as_object().map_or(0, serde_json::Map::len), Vec::len)
    }

    /// Whether the value is set.
    pub fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// Whether both values are equal, if an empty list counts as absent.
    pub fn is_like(&self, other: &Located<'_>) -> bool {
        alike(self.value, other.value)
    }

    /// The string; empty if it is absent.
    pub fn str(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    /// The number; 0 if it is absent.
    pub fn int(&self) -> i64 {
        self.value.as_i64().unwrap_or_default()
    }

    /// Whether the value is true.
    pub fn is_true(&self) -> bool {
        self.value.as_bool().unwrap_or_default()
    }
}

fn alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Null, Value::Array(items)) | (Value::Array(items), Value::Null) => items.is_empty(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| alike(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let mut names = one.keys().chain(other.keys());
            names.all(|name| alike(one.get(name).unwrap_or(&NULL), other.get(name).unwrap_or(&NULL)))
        }
        _ => one == other,
    }
}
