//! What is known of an expression's variables before it is evaluated.

use super::range::Range;
use super::{Estimator, Place};
use crate::cel::declare::Declared;

/// What declares the variables of an expression.
#[derive(Clone, Copy)]
pub(in crate::cel) enum Root<'a> {
    /// One schema declares all: `self` and `oldSelf`.
    Same(&'a Declared),
    /// Nothing is known of them: they count as empty, so that the estimate is what the expression costs at least, in the most
    /// expensive of its branches.
    Nothing,
}

impl<'a> Estimator<'a> {
    /// The place of a value that is not from a schema.
    pub(super) fn base(&self) -> Place<'a> {
        match self.root {
            Root::Same(root) => Place::At(root),
            Root::Nothing => Place::Lost,
        }
    }

    /// The size of a value of which nothing is known.
    pub(super) fn unknown(&self) -> Range {
        match self.root {
            Root::Same(_) => Range::UNKNOWN,
            Root::Nothing => Range::ZERO,
        }
    }

    /// The length of a slice between two indices.
    pub(super) fn between(&self, start: u64, end: u64) -> u64 {
        match self.root {
            Root::Same(_) => end.wrapping_sub(start),
            Root::Nothing => end.saturating_sub(start),
        }
    }
}
