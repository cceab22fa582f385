//! JSONPath as printer columns and selectable fields speak it: what kubectl's templates know, without ranges.

mod evaluate;
mod parse;

use serde_json::Value;

/// A path, `.status.conditions[?(@.type=="Ready")].status` for example.
#[derive(Clone, Debug)]
pub(crate) struct Path(Vec<Step>);

impl Path {
    /// Reads a path without its braces; `None` when it is malformed.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        parse::path(text).map(Self)
    }

    /// Everything in `object` that it leads to. Missing keys lead nowhere; `None` when it cannot be followed, an index
    /// past the end for example.
    pub(crate) fn find<'a>(&'a self, object: &'a Value) -> Option<Vec<Found<'a>>> {
        evaluate::steps(vec![Found::At(object)], &self.0)
    }
}

/// What a path leads to: a place in the object or, in the sides of comparisons, a literal.
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
enum Step {
    Field(String),
    Literal(Value),
    Slice(Slice),
    Wildcard,
    Descent,
    Union(Vec<Vec<Step>>),
    Filter(Vec<Step>, Option<(Comparison, Vec<Step>)>),
}

/// `[from:to:step]`; `[3]` is `[3:4]`.
#[derive(Clone, Copy, Debug, Default)]
struct Slice {
    from: Option<i64>,
    to: Option<i64>,
    step: Option<i64>,
    /// One element: `to` was not written.
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
