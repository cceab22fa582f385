//! Values of expressions. A value from an object is a reference to its JSON and its schema, not a copy.

pub(super) mod built;
mod equality;
mod foreign;
mod json;
mod list;
mod lookup;
mod map;
pub(super) mod moment;
mod native;
mod sums;

pub(super) use built::Built;
pub(super) use foreign::Foreign;
pub(super) use list::List;
pub(super) use map::{Key, Map};
pub(super) use moment::Moment;

use crate::ast::Literal;
use serde_json::Value;
use std::borrow::Cow;
use std::rc::Rc;

/// The reason for which an expression has no value.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// An error, with the server's message. Some operators absorb errors.
    Error(Rc<str>),
    /// The server's evaluation panicked, with its message. No operator absorbs that.
    Panic(Rc<str>),
    /// The expression exceeded its cost limit; no operator absorbs that.
    Budget,
}

impl Fault {
    pub(super) fn new(message: impl AsRef<str>) -> Self {
        Self::Error(Rc::from(message.as_ref()))
    }

    /// Whether it ends the evaluation, so that no operator absorbs it.
    pub(super) const fn is_final(&self) -> bool {
        !matches!(self, Self::Error(_))
    }

    /// Passes a final error on, and drops another.
    pub(super) fn absorbed(self) -> Outcome<()> {
        if self.is_final() { Err(self) } else { Ok(()) }
    }

    /// The server's message.
    pub(super) fn told(&self) -> &str {
        match self {
            Self::Budget => "operation cancelled: actual cost limit exceeded",
            Self::Error(text) | Self::Panic(text) => text,
        }
    }

    pub(super) fn no_overload() -> Self {
        Self::new("no such overload")
    }

    pub(super) fn no_key(key: &Val<'_>) -> Self {
        Self::new(format!("no such key: {}", key.shown()))
    }

    pub(super) fn no_index(index: &Val<'_>) -> Self {
        Self::new(format!("index out of bounds: {}", index.shown()))
    }
}

pub(super) type Outcome<T> = Result<T, Fault>;

/// The result of a comparison for which an error counts as unequal.
pub(super) fn lenient(equal: Outcome<bool>) -> Outcome<bool> {
    equal.or_else(|fault| fault.absorbed().map(|()| false))
}

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Val<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Cow<'a, str>),
    Bytes(Rc<[u8]>),
    /// Nanoseconds.
    Duration(i64),
    Timestamp(Moment),
    List(List<'a>),
    Map(Map<'a>),
    /// The name of a type.
    Type(&'a str),
    /// A value that a mutation builds.
    Built(Rc<Built<'a>>),
    Optional(Option<Rc<Val<'a>>>),
    /// A value of a Kubernetes library.
    Foreign(Rc<Foreign>),
    /// A value that the schema preserves without specifying it: only equality is defined.
    Unknown(&'a Value),
}

impl<'a> Val<'a> {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::String(Cow::Owned(text.into()))
    }

    pub(super) fn list(items: Vec<Self>) -> Self {
        Self::List(List::own(items))
    }

    pub(super) fn some(self) -> Self {
        Self::Optional(Some(Rc::new(self)))
    }

    pub(super) fn foreign(value: Foreign) -> Self {
        Self::Foreign(Rc::new(value))
    }

    pub(super) fn literal(literal: &'a Literal) -> Self {
        match literal {
            Literal::Null => Self::Null,
            Literal::Bool(value) => Self::Bool(*value),
            Literal::Int(value) => Self::Int(*value),
            Literal::Uint(value) => Self::Uint(*value),
            Literal::Double(value) => Self::Double(*value),
            Literal::String(value) => Self::String(Cow::Borrowed(value)),
            Literal::Bytes(value) => Self::Bytes(Rc::from(&**value)),
        }
    }

    /// The name of its type.
    pub(super) fn type_name(&self) -> &'a str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Type(_) => "type",
            Self::Built(built) => built.name,
            Self::Optional(_) => "optional_type",
            Self::Foreign(value) => value.type_name(),
            Self::Unknown(_) => "unknown",
        }
    }

    /// The number of characters, bytes, items or entries, if the type has a size.
    pub(super) fn size(&self) -> Option<u64> {
        let size = match self {
            Self::String(text) => text.chars().count(),
            Self::Bytes(bytes) => bytes.len(),
            Self::List(list) => list.len(),
            Self::Map(map) => map.len(),
            Self::Foreign(value) => return value.size(),
            _ => return None,
        };
        Some(size as u64)
    }

    /// The value in the form in which messages print keys and indices.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Int(value) => value.to_string(),
            Self::Uint(value) => value.to_string(),
            Self::Double(value) => kubewright_machinery::go::decimal(*value),
            Self::String(text) => text.clone().into_owned(),
            other => other.type_name().to_owned(),
        }
    }
}
