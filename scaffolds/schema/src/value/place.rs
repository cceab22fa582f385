//! The current place in a walk through a value: a linked list on the stack, formatted only for messages.

use std::fmt;

#[derive(Clone, Copy)]
pub(super) enum ValuePath<'a> {
    /// The start of the walk, which has no name.
    Start,
    /// A property of the schema.
    Property(&'a ValuePath<'a>, &'a str),
    /// An entry of a map. Unlike a property, it is printed with a leading dot even at the start.
    Entry(&'a ValuePath<'a>, &'a str),
    Item(&'a ValuePath<'a>, usize),
}

impl ValuePath<'_> {
    pub fn is_start(&self) -> bool {
        matches!(self, Self::Start)
    }
}

impl fmt::Display for ValuePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => Ok(()),
            Self::Property(Self::Start, name) => f.write_str(name),
            Self::Property(above, name) | Self::Entry(above, name) => write!(f, "{above}.{name}"),
            Self::Item(above, index) => write!(f, "{above}[{index}]"),
        }
    }
}
