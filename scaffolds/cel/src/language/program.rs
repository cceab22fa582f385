//! Compiles one expression: parses and type-checks it, and computes its constants.

use super::check::{Checked, Name, check};
use super::constants;
use super::cost;
use crate::ast::{Expr, Kind, Literal};
use crate::declare::Declared;
use crate::issue::Issues;
use crate::parse::parse;
use crate::types::{Scope, Type};
use kubewright_machinery::pattern::Pattern;
use std::collections::HashMap;

/// An expression that can be evaluated.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) expr: Expr,
    pub(super) checked: Checked,
    /// By node id: whether the value is computed when the expression is compiled.
    constant: Vec<bool>,
    /// Regular expressions that are constant, by the ids of the calls that search for them.
    pub(super) patterns: HashMap<usize, Pattern>,
}

/// The reason for which an expression is refused.
#[derive(Debug)]
pub(super) enum Refusal {
    /// Errors of the parser or the type checker, with their positions.
    Compilation(String),
    /// The expression does not have the wanted type, but this one.
    Type(Type),
    /// A constant in it cannot be computed.
    Instantiation(String),
}

impl Program {
    /// Compiles `source`, whose type must be in `wanted`, unless `wanted` is empty.
    pub(super) fn compile(source: &str, scope: &Scope, wanted: &[Type]) -> Result<Self, Refusal> {
        let mut issues = Issues::default();
        let (expr, ids) = parse(source, &mut issues);
        if !issues.is_empty() {
            return Err(Refusal::Compilation(issues.show(source)));
        }
        let checked = check(&expr, ids, scope, &mut issues);
        if issues.is_empty() {
            constants::check(&expr, &checked, &mut issues);
        }
        if !issues.is_empty() {
            return Err(Refusal::Compilation(issues.show(source)));
        }
        if !wanted.is_empty() && !wanted.contains(checked.of(&expr)) {
            return Err(Refusal::Type(checked.of(&expr).clone()));
        }
        // The type checker accepts these names; the server's runtime knows only the long ones of the first two, and none of
        // what mutations build.
        for name in checked.names() {
            let name = match name {
                Name::Type(name @ ("duration" | "timestamp")) => name,
                Name::Built(name) => name.as_str(),
                _ => continue,
            };
            return Err(Refusal::Instantiation(format!("reference to undefined type: {name}")));
        }
        let mut constant = vec![false; ids];
        constants::mark(&expr, &mut constant);
        let patterns = constants::compute(&expr, &constant).map_err(Refusal::Instantiation)?;
        Ok(Self {
            expr,
            checked,
            constant,
            patterns,
        })
    }

    /// The estimated maximum cost, if `self` is declared so.
    pub(super) fn most(&self, declared: &Declared) -> u64 {
        cost::most(&self.expr, &self.checked, declared)
    }

    /// The estimated cost in the most expensive branches, if all variables are empty.
    pub(super) fn of_nothing(&self) -> u64 {
        cost::of_nothing(&self.expr, &self.checked)
    }

    /// The estimated maximum cost, and what is known of the value.
    pub(super) fn estimate<'a>(&'a self, root: cost::Root<'a>) -> (u64, cost::Known<'a>) {
        cost::estimate(&self.expr, &self.checked, root)
    }

    pub(super) fn is_constant(&self, expr: &Expr) -> bool {
        self.constant.get(expr.id).is_some_and(|constant| *constant)
    }
}

/// A call of `function` whose first argument is a constant.
pub(super) fn constant_argument<'a>(expr: &'a Expr, function: &str) -> Option<(&'a Expr, &'a Literal)> {
    match &expr.kind {
        Kind::Call {
            function: called, args, ..
        } if called == function => match args.first() {
            Some(
                arg @ Expr {
                    kind: Kind::Literal(literal),
                    ..
                },
            ) => Some((arg, literal)),
            _ => None,
        },
        _ => None,
    }
}
