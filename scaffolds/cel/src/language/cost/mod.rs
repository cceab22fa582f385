//! Estimates the maximum cost of an expression before it is evaluated. The server accepts or refuses rules by this estimate.

mod calls;
mod known;
mod range;

pub(super) use calls::{compares_sizes, is_flat};
pub(super) use known::{Known, Root};
pub(super) use range::{REGEX, TRAVERSAL, scaled};

use super::check::{Checked, Name};
use crate::ast::{Expr, Fold, Kind, Literal};
use crate::declare::{Declared, Shape};
use crate::types::Type;
use range::Range;
use std::collections::HashMap;

const LIST: u64 = 10;
const MAP: u64 = 30;
const STRUCT: u64 = 40;

/// The place in the schema from which a value comes. The server keeps a path and drops its first step, so a value that is not from the schema
/// (an item of a list that the rule creates) counts as `self`.
#[derive(Clone, Copy)]
enum Origin<'a> {
    Nowhere,
    At(&'a Declared),
    /// A key of a map: a string without a known size.
    Key,
    /// A place that the schema does not specify.
    Lost,
}

/// The sizes of the entries of a list or map.
#[derive(Clone, Copy)]
struct Entries {
    list: bool,
    key: Range,
    value: Range,
}

struct Local<'a> {
    name: &'a str,
    place: Origin<'a>,
    size: Option<Range>,
    entries: Option<Entries>,
}

struct Estimator<'a> {
    checked: &'a Checked,
    root: Root<'a>,
    places: HashMap<usize, Origin<'a>>,
    sizes: HashMap<usize, Range>,
    entries: HashMap<usize, Entries>,
    locals: Vec<Local<'a>>,
}

/// The maximum cost of `expr` if `self` is declared by `root`.
pub(super) fn most(expr: &Expr, checked: &Checked, root: &Declared) -> u64 {
    estimate(expr, checked, Root::Same(root)).0
}

/// The cost of `expr` in its most expensive branches, if all of its variables are empty.
pub(super) fn of_nothing(expr: &Expr, checked: &Checked) -> u64 {
    estimate(expr, checked, Root::Nothing).0
}

/// The maximum cost of `expr`, and what is known of its value.
pub(super) fn estimate<'a>(expr: &'a Expr, checked: &'a Checked, root: Root<'a>) -> (u64, Known<'a>) {
    let mut estimator = Estimator {
        checked,
        root,
        places: HashMap::new(),
        sizes: HashMap::new(),
        entries: HashMap::new(),
        locals: Vec::new(),
    };
    let cost = estimator.cost(expr).max;
    let known = Known {
        place: estimator.place(expr),
        size: estimator.size(expr),
        entries: estimator.entry_sizes(expr),
    };
    (cost, known)
}

impl<'a> Estimator<'a> {
    fn cost(&mut self, expr: &'a Expr) -> Range {
        match &expr.kind {
            Kind::Literal(_) | Kind::Broken => Range::ZERO,
            Kind::Ident(name) => {
                let place = self.local(name).map_or(self.variable(name), |local| local.place);
                self.places.insert(expr.id, place);
                Range::exactly(1)
            }
            Kind::Select { operand, field, test } => self.select(expr, operand, field, *test),
            Kind::Call { function, target, args } => self.call(expr, function, target.as_deref(), args),
            Kind::List(items) => self.list(expr, items),
            Kind::Map(entries) => self.map(expr, entries),
            Kind::Struct(_, slots) => slots
                .iter()
                .fold(Range::exactly(STRUCT), |sum, slot| sum.plus(self.cost(&slot.value))),
            Kind::Fold(fold) if fold.is_bind() => self.bind(expr, fold),
            Kind::Fold(fold) => self.fold(expr, fold),
        }
    }

    fn select(&mut self, expr: &'a Expr, operand: &'a Expr, field: &str, test: bool) -> Range {
        if matches!(self.checked.name(expr), Some(Name::Type(_))) {
            self.places.insert(expr.id, self.base());
            return Range::exactly(1);
        }
        let sum = self.cost(operand);
        if test {
            return sum;
        }
        if let Some(known) = self.composed(operand, field) {
            self.places.insert(expr.id, known.place);
            self.set_size(expr, known.size);
            if let Some(entries) = known.entries {
                self.entries.insert(expr.id, entries);
            }
            return sum.plus(Range::exactly(1));
        }
        let priced = matches!(
            self.checked.of(operand),
            Type::Map(_) | Type::Object(_) | Type::Message(_)
        );
        let place = self.step(self.place(operand), Some(field), "");
        self.places.insert(expr.id, place);
        sum.plus(Range::exactly(u64::from(priced)))
    }

    fn list(&mut self, expr: &'a Expr, items: &'a [(Expr, bool)]) -> Range {
        let mut sum = Range::exactly(LIST);
        let mut size = Range {
            min: if items.is_empty() { 0 } else { u64::MAX },
            max: 0,
        };
        for (item, _) in items {
            sum = sum.plus(self.cost(item));
            size = size.union(self.size_or_unknown(item));
        }
        self.entries.insert(
            expr.id,
            Entries {
                list: true,
                key: Range::exactly(1),
                value: size,
            },
        );
        sum
    }

    fn map(&mut self, expr: &'a Expr, entries: &'a [crate::ast::Entry]) -> Range {
        let mut sum = Range::exactly(MAP);
        let none = Range {
            min: if entries.is_empty() { 0 } else { u64::MAX },
            max: 0,
        };
        let (mut key, mut value) = (none, none);
        for entry in entries {
            sum = sum.plus(self.cost(&entry.key)).plus(self.cost(&entry.value));
            key = key.union(self.size_or_unknown(&entry.key));
            value = value.union(self.size_or_unknown(&entry.value));
        }
        self.entries.insert(
            expr.id,
            Entries {
                list: false,
                key,
                value,
            },
        );
        sum
    }

    fn bind(&mut self, expr: &'a Expr, fold: &'a Fold) -> Range {
        let sum = self.cost(&fold.range).plus(self.cost(&fold.init));
        self.push_value(&fold.accu, &fold.init);
        let sum = sum.plus(self.cost(&fold.result));
        self.locals.pop();
        self.copy_sizes(expr, &fold.result);
        sum
    }

    fn fold(&mut self, expr: &'a Expr, fold: &'a Fold) -> Range {
        let sum = self.cost(&fold.range).plus(self.cost(&fold.init));
        self.push_value(&fold.accu, &fold.init);
        let outer = self.locals.len();
        match &fold.var2 {
            None => self.push_entry(&fold.var, &fold.range, None),
            Some(var2) => {
                self.push_entry(&fold.var, &fold.range, Some(true));
                self.push_entry(var2, &fold.range, Some(false));
            }
        }
        let turn = self.cost(&fold.condition);
        let turn = self.cost(&fold.step).plus(turn);
        self.locals.truncate(outer);
        let sum = sum.plus(self.cost(&fold.result));
        self.locals.pop();
        let turns = self.size_or_unknown(&fold.range);
        match fold.init.kind {
            Kind::Literal(_) => {
                let size = self.size(&fold.init);
                self.set_size(expr, size);
            }
            Kind::List(_) | Kind::Map(_) => {
                self.sizes.insert(expr.id, turns);
                if let Some(entries) = self.entry_sizes(&fold.step) {
                    self.entries.insert(expr.id, entries);
                }
            }
            _ => {}
        }
        sum.plus(turns.times(turn))
    }

    fn push_value(&mut self, name: &'a str, value: &'a Expr) {
        let (place, size, entries) = (self.place(value), self.size(value), self.entry_sizes(value));
        self.locals.push(Local {
            name,
            place,
            size,
            entries,
        });
    }

    /// Adds a loop's variable: the key of each entry, its value, or, with `None`, the only variable of a loop.
    fn push_entry(&mut self, name: &'a str, range: &'a Expr, key: Option<bool>) {
        let entries = self.entry_sizes(range);
        let list = entries.map_or_else(|| matches!(self.checked.of(range), Type::List(_)), |it| it.list);
        let key = key.unwrap_or(!list);
        let size = entries.map(|it| if key { it.key } else { it.value });
        let step = match (key, list) {
            (true, true) => "@indices",
            (true, false) => "@keys",
            (false, true) => "@items",
            (false, false) => "@values",
        };
        let place = self.step(self.place(range), None, step);
        self.locals.push(Local {
            name,
            place,
            size,
            entries: None,
        });
    }

    fn local(&self, name: &str) -> Option<&Local<'a>> {
        self.locals.iter().rev().find(|local| local.name == name)
    }

    fn place(&self, expr: &Expr) -> Origin<'a> {
        if let Kind::Ident(name) = &expr.kind
            && let Some(local) = self.local(name)
        {
            return local.place;
        }
        self.places.get(&expr.id).copied().unwrap_or(Origin::Nowhere)
    }

    /// The place of a field, or of an entry.
    fn step(&self, place: Origin<'a>, field: Option<&str>, entry: &str) -> Origin<'a> {
        let declared = match place {
            Origin::Nowhere => return self.base(),
            Origin::At(declared) => declared,
            Origin::Key | Origin::Lost => return Origin::Lost,
        };
        match (&declared.shape, field, entry) {
            (Shape::Object(fields), Some(field), _) => fields.get(field).map_or(Origin::Lost, |it| Origin::At(it)),
            (Shape::List(item) | Shape::Map(item), None, "@items" | "@values") => Origin::At(item),
            (Shape::Map(_), None, "@keys") => Origin::Key,
            _ => Origin::Lost,
        }
    }

    fn set_size(&mut self, expr: &Expr, size: Option<Range>) {
        if let Some(size) = size {
            self.sizes.insert(expr.id, size);
        }
    }

    fn copy_sizes(&mut self, to: &Expr, from: &Expr) {
        let size = self.size(from);
        self.set_size(to, size);
        if let Some(entries) = self.entry_sizes(from) {
            self.entries.insert(to.id, entries);
        }
    }

    fn size(&mut self, expr: &Expr) -> Option<Range> {
        if let Some(size) = self.sizes.get(&expr.id) {
            return Some(*size);
        }
        if let Some(size) = own_size(expr) {
            return Some(Range::exactly(size));
        }
        if let Some(size) = declared_size(self.place(expr)) {
            self.sizes.insert(expr.id, size);
            return Some(size);
        }
        if is_scalar(self.checked.of(expr)) {
            return Some(Range::exactly(1));
        }
        match &expr.kind {
            Kind::Ident(name) => self.local(name)?.size,
            _ => None,
        }
    }

    fn size_or_unknown(&mut self, expr: &Expr) -> Range {
        self.size(expr).unwrap_or(self.unknown())
    }

    fn entry_sizes(&self, expr: &Expr) -> Option<Entries> {
        if let Some(entries) = self.entries.get(&expr.id) {
            return Some(*entries);
        }
        match &expr.kind {
            Kind::Ident(name) => self.local(name)?.entries,
            _ => None,
        }
    }
}

fn declared_size(place: Origin<'_>) -> Option<Range> {
    match place {
        Origin::At(declared) => Some(Range {
            min: 0,
            max: declared.most,
        }),
        Origin::Key => Some(Range::ZERO),
        Origin::Nowhere | Origin::Lost => None,
    }
}

/// The size of a literal.
fn own_size(expr: &Expr) -> Option<u64> {
    let size = match &expr.kind {
        Kind::Literal(Literal::String(text)) => text.chars().count(),
        Kind::Literal(Literal::Bytes(bytes)) => bytes.len(),
        Kind::Literal(_) => 1,
        Kind::List(items) => items.len(),
        Kind::Map(entries) => entries.len(),
        _ => return None,
    };
    Some(size as u64)
}

fn is_scalar(r#type: &Type) -> bool {
    match r#type {
        Type::Bool | Type::Double | Type::Duration | Type::Int | Type::Timestamp | Type::Uint => true,
        other => other.unwrapped().is_some_and(is_scalar),
    }
}
