//! Types and sizes of an expression's variables before it is evaluated.

use super::range::Range;
use super::{Entries, Estimator, Origin};
use crate::ast::Expr;
use crate::declare::{Declared, LARGEST_REQUEST};
use crate::language::check::Name;
use crate::language::variables::COMPOSED;
use std::collections::BTreeMap;

/// The declaration of the variables of an expression.
#[derive(Clone)]
pub(in crate::language) enum Root<'a> {
    /// One schema declares all: `self` and `oldSelf`.
    Same(&'a Declared),
    /// Each has a declaration of its own, and `variables` have values that were estimated before. Sizes that nothing declares
    /// are at most those of a request.
    Named(&'a BTreeMap<&'static str, Declared>, BTreeMap<String, Known<'a>>),
    /// Nothing is known of them: they count as empty, so that the estimate is what the expression costs at least, in the most
    /// expensive of its branches.
    Nothing,
}

/// The known type and size of the value of an expression.
#[derive(Clone, Copy)]
pub(in crate::language) struct Known<'a> {
    pub(super) place: Origin<'a>,
    pub(super) size: Option<Range>,
    pub(super) entries: Option<Entries>,
}

impl<'a> Estimator<'a> {
    /// The place of a value that is not from a schema.
    pub(super) fn base(&self) -> Origin<'a> {
        match self.root {
            Root::Same(root) => Origin::At(root),
            Root::Named(..) | Root::Nothing => Origin::Lost,
        }
    }

    /// The place of a variable.
    pub(super) fn variable(&self, name: &str) -> Origin<'a> {
        match self.root {
            Root::Same(root) => Origin::At(root),
            Root::Named(all, ..) => all.get(name).map_or(Origin::Lost, Origin::At),
            Root::Nothing => Origin::Lost,
        }
    }

    /// The known type and size of a variable of a policy, if `operand` contains the variables.
    pub(super) fn composed(&self, operand: &Expr, field: &str) -> Option<Known<'a>> {
        let Root::Named(_, known) = &self.root else {
            return None;
        };
        let is_ours = self.checked.name(operand) == Some(&Name::Variable(COMPOSED));
        known.get(field).filter(|_| is_ours).copied()
    }

    /// The size of a value of which nothing is known.
    pub(super) fn unknown(&self) -> Range {
        match self.root {
            Root::Same(_) => Range::UNKNOWN,
            Root::Named(..) => Range {
                min: 0,
                max: LARGEST_REQUEST.unsigned_abs(),
            },
            Root::Nothing => Range::ZERO,
        }
    }

    /// The length of a slice between two indices.
    pub(super) fn between(&self, start: u64, end: u64) -> u64 {
        match self.root {
            Root::Same(_) => end.wrapping_sub(start),
            Root::Named(..) | Root::Nothing => end.saturating_sub(start),
        }
    }
}
