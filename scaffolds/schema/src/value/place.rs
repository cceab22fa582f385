//! Where a walk through a value stands: a chain of steps on the stack, written out only when there is something to say.

use std::fmt;

#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// Where the walk began; has no name.
    Start,
    /// A property that the schema names.
    Property(&'a Place<'a>, &'a str),
    /// An entry of a map. Unlike a property it has a dot in front even at the start.
    Entry(&'a Place<'a>, &'a str),
    Item(&'a Place<'a>, usize),
}

impl Place<'_> {
    pub fn is_start(&self) -> bool {
        matches!(self, Self::Start)
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => Ok(()),
            Self::Property(Self::Start, name) => f.write_str(name),
            Self::Property(above, name) | Self::Entry(above, name) => write!(f, "{above}.{name}"),
            Self::Item(above, index) => write!(f, "{above}[{index}]"),
        }
    }
}
