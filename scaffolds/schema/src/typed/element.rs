//! One step of a path into an object: a field, a list item by its keys or its value, or an index.

use std::{cmp::Ordering, fmt};

use kubewright_machinery::go::{decimal, interface, json as go_json, quote};
use serde_json::Value;

use super::order::order;

/// One step of a path.
#[derive(Clone, Debug)]
pub enum Element {
    /// A field of an object.
    Field(String),
    /// The item with these values of its keys, sorted by the keys' names.
    Key(Vec<(String, Value)>),
    /// The item of a set with this value.
    Item(Value),
    /// The item at this place of a list.
    Index(i64),
}

/// A path into an object.
pub type Path = Vec<Element>;

impl Element {
    /// A field of an object.
    pub fn field(name: &str) -> Self {
        Self::Field(name.to_owned())
    }

    /// Parses `f:…`, `k:…`, `v:…` or `i:…`. `Ok(None)` is a kind of element from a later version.
    ///
    /// # Errors
    /// The error, in upstream's words.
    pub fn parse(text: &str) -> Result<Option<Self>, String> {
        let Some((kind, rest)) = text.split_at_checked(2) else {
            return Err("key must be 2 characters long:".to_owned());
        };
        Ok(Some(match kind {
            "f:" => Self::field(rest),
            "v:" => Self::Item(json(rest)?),
            "k:" => {
                let Value::Object(keys) = json(rest)? else {
                    return Err(format!("keys expected: {text}"));
                };
                Self::Key(keys.into_iter().collect())
            }
            "i:" => Self::Index(rest.parse().map_err(|_| format!("index expected: {text}"))?),
            _ if kind.ends_with(':') => return Ok(None),
            _ => return Err(format!("missing colon: {text}")),
        }))
    }

    /// The element as written in `fieldsV1`.
    pub fn encode(&self) -> String {
        match self {
            Self::Field(name) => format!("f:{name}"),
            Self::Key(keys) => {
                let keys: Vec<_> = keys
                    .iter()
                    .map(|(name, it)| format!("{}:{}", go_json(&name.as_str().into()), encode(it)))
                    .collect();
                format!("k:{{{}}}", keys.join(","))
            }
            Self::Item(it) => format!("v:{}", encode(it)),
            Self::Index(it) => format!("i:{it}"),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Field(_) => 0,
            Self::Key(_) => 1,
            Self::Item(_) => 2,
            Self::Index(_) => 3,
        }
    }
}

/// A value as JSON. The exponent of a float has at least two digits, as in no other JSON of the server.
fn encode(value: &Value) -> String {
    match value.as_f64().filter(|_| !value.is_i64()) {
        Some(float) if float != 0.0 && !(1e-6..1e21).contains(&float.abs()) => decimal(float),
        _ => go_json(value),
    }
}

fn json(text: &str) -> Result<Value, String> {
    // Like the original, parses the first value and ignores the rest.
    let mut values = serde_json::Deserializer::from_str(text).into_iter();
    values.next().unwrap_or(Ok(Value::Null)).map_err(|err| err.to_string())
}

impl Ord for Element {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Field(left), Self::Field(right)) => left.cmp(right),
            (Self::Key(left), Self::Key(right)) => keys(left, right),
            (Self::Item(left), Self::Item(right)) => order(left, right),
            (Self::Index(left), Self::Index(right)) => left.cmp(right),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

fn keys(left: &[(String, Value)], right: &[(String, Value)]) -> Ordering {
    let pairs = left.iter().zip(right);
    let different = pairs
        .map(|(l, r)| l.0.cmp(&r.0).then_with(|| order(&l.1, &r.1)))
        .find(|it| it.is_ne());
    different.unwrap_or_else(|| left.len().cmp(&right.len()))
}

impl PartialOrd for Element {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Element {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Element {}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(name) => write!(f, ".{name}"),
            Self::Key(keys) => {
                let keys: Vec<_> = keys.iter().map(|(name, it)| format!("{name}={}", text(it))).collect();
                write!(f, "[{}]", keys.join(","))
            }
            Self::Item(it) => write!(f, "[={}]", text(it)),
            Self::Index(it) => write!(f, "[{it}]"),
        }
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(it) => quote(it),
        Value::Array(items) => format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(",")),
        Value::Object(members) => members.iter().map(|(key, it)| format!("{key}={}", text(it))).collect(),
        other => interface::plain(other),
    }
}

/// A path as messages write it: `.spec.ports[port=80,protocol="TCP"].name`.
pub fn display(path: &[Element]) -> String {
    path.iter().map(ToString::to_string).collect()
}
