//! JSONPath for printer columns and selectable fields: kubectl's dialect without ranges.

mod evaluate;
mod parse;

use serde_json::Value;

/// A path, for example `.status.conditions[?(@.type=="Ready")].status`.
#[derive(Clone, Debug)]
pub(crate) struct Path(Vec<PathStep>);

impl Path {
    /// Parses a path without its braces; `None` if it is malformed.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        parse::path(text).map(Self)
    }

    /// All values in `object` that the path leads to. A missing key leads to none; `None` if the path cannot be
    /// evaluated, for example because of an index past the end.
    pub(crate) fn find<'a>(&'a self, object: &'a Value) -> Option<Vec<Found<'a>>> {
        evaluate::steps(vec![Found::At(object)], &self.0)
    }
}

/// The result of a path: a value in the object or, on either side of a comparison, a literal.
#[derive(Clone, Debug)]
pub(crate) enum Found<'a> {
    At(&'a Value),
    Literal(&'a Value),
}

impl<'a> Found<'a> {
    pub(crate) fn value(&self) -> &'a Value {
        match self {
            Self::At(value) | Self::Literal(value) => value,
        }
    }
}

#[derive(Clone, Debug)]
enum PathStep {
    Field(String),
    Literal(Value),
    Slice(Slice),
    Wildcard,
    Descent,
    Union(Vec<Vec<PathStep>>),
    Filter(Vec<PathStep>, Option<(Comparison, Vec<PathStep>)>),
}

/// `[from:to:step]`; `[3]` is `[3:4]`.
#[derive(Clone, Copy, Debug, Default)]
struct Slice {
    from: Option<i64>,
    to: Option<i64>,
    step: Option<i64>,
    /// A single index, without `to`.
    single: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}
