//! The syntax tree of an expression, with macros expanded.

use std::sync::Arc;

/// A node of an expression.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    /// Unique within one expression; the key of the checker's results.
    pub(super) id: usize,
    /// The position in the source, in characters: of the operator or bracket, if the node has one.
    pub(super) at: usize,
    /// The nesting depth of operators, selections and method calls.
    pub(super) height: usize,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Literal(Literal),
    Ident(String),
    Select {
        operand: Box<Expr>,
        field: String,
        /// Whether it comes from `has()`, which tests for presence.
        test: bool,
    },
    Call {
        function: String,
        target: Option<Box<Expr>>,
        args: Vec<Expr>,
    },
    /// Items; the flag is true for `?item`.
    List(Vec<(Expr, bool)>),
    Map(Vec<Entry>),
    /// `name{field: value}`: the name and the fields.
    Struct(String, Vec<Slot>),
    Fold(Box<Fold>),
    /// A part that could not be parsed.
    Broken,
}

/// The functions of operators, as cel-go names them: a table of signatures that is recorded from it has them beside the named
/// functions, so both are looked up in one way.
pub(super) mod op {
    pub const ADD: &str = "_+_";
    pub const AND: &str = "_&&_";
    pub const CONDITIONAL: &str = "_?_:_";
    pub const DIVIDE: &str = "_/_";
    pub const EQUALS: &str = "_==_";
    pub const GREATER: &str = "_>_";
    pub const GREATER_EQUALS: &str = "_>=_";
    pub const IN: &str = "@in";
    pub const INDEX: &str = "_[_]";
    pub const LESS: &str = "_<_";
    pub const LESS_EQUALS: &str = "_<=_";
    pub const MODULO: &str = "_%_";
    pub const MULTIPLY: &str = "_*_";
    pub const NEGATE: &str = "-_";
    pub const NOT: &str = "!_";
    pub const NOT_EQUALS: &str = "_!=_";
    pub const NOT_STRICTLY_FALSE: &str = "@not_strictly_false";
    pub const OPT_INDEX: &str = "_[?_]";
    pub const OPT_SELECT: &str = "_?._";
    pub const OR: &str = "_||_";
    pub const SUBTRACT: &str = "_-_";
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Arc<str>),
    Bytes(Arc<[u8]>),
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: Expr,
    pub(super) value: Expr,
    pub(super) optional: bool,
}

/// `field: value` in a message.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// The position of the colon.
    pub(super) at: usize,
    pub(super) field: String,
    pub(super) value: Expr,
    /// Whether it is `?field: value`.
    pub(super) optional: bool,
}

/// A loop: the expansion of `all`, `map` and similar macros.
#[derive(Clone, Debug)]
pub(super) struct Fold {
    pub(super) range: Expr,
    pub(super) var: String,
    pub(super) var2: Option<String>,
    pub(super) accu: String,
    pub(super) init: Expr,
    pub(super) condition: Expr,
    pub(super) step: Expr,
    pub(super) result: Expr,
}

/// The accumulator of every loop from a macro; no identifier in a rule can have this name.
pub(super) const ACCUMULATOR: &str = "@result";

impl Fold {
    /// Whether this only binds a variable.
    pub(super) fn is_bind(&self) -> bool {
        matches!(&self.range.kind, Kind::List(items) if items.is_empty())
            && matches!(self.condition.kind, Kind::Literal(Literal::Bool(false)))
            && self.accu != ACCUMULATOR
    }
}

impl Expr {
    /// `a.b.c` as a name, if the node is one.
    pub(super) fn qualified_name(&self) -> Option<String> {
        match &self.kind {
            Kind::Ident(name) => Some(name.clone()),
            Kind::Select {
                operand,
                field,
                test: false,
            } => Some(format!("{}.{field}", operand.qualified_name()?)),
            _ => None,
        }
    }

    /// Calls `visit` with every node, parents first.
    pub(super) fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        for child in self.children() {
            child.walk(visit);
        }
    }

    pub(super) fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            Kind::Literal(_) | Kind::Ident(_) | Kind::Broken => Vec::new(),
            Kind::Select { operand, .. } => vec![operand],
            Kind::Call { target, args, .. } => target.as_deref().into_iter().chain(args).collect(),
            Kind::List(items) => items.iter().map(|(item, _)| item).collect(),
            Kind::Map(entries) => entries.iter().flat_map(|entry| [&entry.key, &entry.value]).collect(),
            Kind::Struct(_, slots) => slots.iter().map(|slot| &slot.value).collect(),
            Kind::Fold(fold) => {
                vec![&fold.range, &fold.init, &fold.condition, &fold.step, &fold.result]
            }
        }
    }
}

impl Expr {
    /// Gives every node of a copy a new id.
    pub(super) fn renumber(&mut self, next: &mut dyn FnMut() -> usize) {
        self.id = next();
        match &mut self.kind {
            Kind::Literal(_) | Kind::Ident(_) | Kind::Broken => {}
            Kind::Select { operand, .. } => operand.renumber(next),
            Kind::Call { target, args, .. } => {
                target.iter_mut().for_each(|target| target.renumber(next));
                args.iter_mut().for_each(|arg| arg.renumber(next));
            }
            Kind::List(items) => items.iter_mut().for_each(|(item, _)| item.renumber(next)),
            Kind::Map(entries) => {
                for entry in entries {
                    entry.key.renumber(next);
                    entry.value.renumber(next);
                }
            }
            Kind::Struct(_, slots) => slots.iter_mut().for_each(|slot| slot.value.renumber(next)),
            Kind::Fold(fold) => {
                let Fold {
                    range,
                    init,
                    condition,
                    step,
                    result,
                    ..
                } = &mut **fold;
                for part in [range, init, condition, step, result] {
                    part.renumber(next);
                }
            }
        }
    }
}
