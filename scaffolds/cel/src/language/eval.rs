//! Evaluates expressions, and counts the cost as the server does.

use super::check::{Checked, Name};
use super::constants;
use super::library;
use super::meter::Meter;
use super::operators;
use super::program::Program;
use super::value::{Built, Fault, Key, List, Map, Outcome, Val};
use super::variables::{COMPOSED, Variables};
use crate::ast::{ACCUMULATOR, Expr, Fold, Kind, Literal, Slot, op};
use std::collections::BTreeMap;
use std::rc::Rc;

impl Program {
    /// The value of the expression, or the error; and the cost of the evaluation.
    pub(super) fn run<'a>(&'a self, variables: &Variables<'a>) -> (Outcome<Val<'a>>, u64) {
        let mut evaluator = Evaluator {
            program: self,
            checked: &self.checked,
            variables,
            locals: Vec::new(),
            meter: Meter::default(),
        };
        let value = evaluator.value(&self.expr);
        (value, evaluator.meter.spent())
    }
}

struct Evaluator<'a, 'v> {
    program: &'a Program,
    checked: &'a Checked,
    variables: &'v Variables<'a>,
    locals: Vec<(&'a str, Outcome<Val<'a>>)>,
    meter: Meter,
}

/// The key of a selection, and where it comes from.
#[derive(Clone, Copy)]
enum Pick<'x, 'a> {
    /// A name or a constant.
    Constant(&'x Val<'a>),
    /// A variable, or a selection from one.
    Attribute(&'x Val<'a>),
    Computed(&'x Val<'a>),
}

impl<'a> Evaluator<'a, '_> {
    fn value(&mut self, expr: &'a Expr) -> Outcome<Val<'a>> {
        if self.program.is_constant(expr) {
            return constants::value(expr);
        }
        match &expr.kind {
            Kind::Literal(literal) => Ok(Val::literal(literal)),
            Kind::Ident(name) => self.variable(expr, name),
            Kind::Select { operand, field, test } => self.select(expr, operand, field, *test),
            Kind::Call { function, target, args } => self.call(expr, function, target.as_deref(), args),
            Kind::List(items) => self.list(items),
            Kind::Map(entries) => self.map(entries),
            Kind::Fold(fold) => self.fold(fold),
            Kind::Struct(name, slots) => self.message(name, slots),
            Kind::Broken => Err(Fault::no_overload()),
        }
    }

    fn variable(&mut self, expr: &'a Expr, name: &str) -> Outcome<Val<'a>> {
        if let Some(Name::Type(name)) = self.checked.name(expr) {
            return Ok(Val::Type(name));
        }
        self.meter.spend(1)?;
        match self.checked.name(expr) {
            Some(Name::Variable(name)) => match self.variables.get(name) {
                Some(value) => value.clone(),
                None => Err(Fault::new(format!("no such attribute(s): {name}"))),
            },
            _ => match self.locals.iter().rev().find(|(local, _)| *local == name) {
                Some((_, value)) => value.clone(),
                None => Err(Fault::new(format!("no such attribute(s): {name}"))),
            },
        }
    }

    /// The value before a `.` or `[`. If it is not a variable or a selection from one, the cost is one more.
    fn operand(&mut self, operand: &'a Expr) -> Outcome<Val<'a>> {
        let value = self.value(operand);
        if !is_attribute(operand) {
            self.meter.spend(1)?;
        }
        value
    }

    fn select(&mut self, expr: &'a Expr, operand: &'a Expr, field: &'a str, test: bool) -> Outcome<Val<'a>> {
        if let Some(Name::Type(name) | Name::Variable(name)) = self.checked.name(expr) {
            return self.variable(expr, name);
        }
        if self.is_composed(operand) {
            return self.composed(field, test);
        }
        let value = self.operand(operand)?;
        if let Val::Built(built) = &value {
            self.meter.spend(u64::from(!test))?;
            return built.select(field, test);
        }
        let key = Val::String(field.into());
        if test {
            return Ok(Val::Bool(match &value {
                Val::Optional(inner) => match inner {
                    Some(inner) => present(inner, &key)?.is_some(),
                    None => false,
                },
                value => present(value, &key)?.is_some(),
            }));
        }
        self.qualify(value, Pick::Constant(&key), false)
    }

    /// Whether an expression stands for the variables of a policy.
    fn is_composed(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, Kind::Ident(_)) && self.checked.name(expr) == Some(&Name::Variable(COMPOSED))
    }

    /// `variables.field`, or whether there is such a variable.
    fn composed(&mut self, field: &str, test: bool) -> Outcome<Val<'a>> {
        self.meter.spend(if test { 1 } else { 2 })?;
        self.variables.select(field, test)
    }

    /// `value.key` or `value[key]`. The result is an optional if `value` is one, or with `optional`.
    fn qualify(&mut self, value: Val<'a>, pick: Pick<'_, 'a>, optional: bool) -> Outcome<Val<'a>> {
        let (key, price) = match pick {
            Pick::Constant(key) | Pick::Computed(key) => (key, 1),
            Pick::Attribute(key) => (key, 0),
        };
        let (value, optional) = match value {
            Val::Optional(None) => return Ok(Val::Optional(None)),
            Val::Optional(Some(inner)) => ((*inner).clone(), true),
            value => (value, optional),
        };
        if optional {
            return Ok(match present(&value, key)? {
                None => Val::Optional(None),
                Some(found) => {
                    self.meter.spend(price)?;
                    match found {
                        Val::Optional(inner) => Val::Optional(inner),
                        found => found.some(),
                    }
                }
            });
        }
        self.meter.spend(price)?;
        match present(&value, key)? {
            Some(found) => Ok(found),
            None if matches!(value, Val::List(_)) => Err(Fault::no_index(key)),
            None => Err(Fault::no_key(key)),
        }
    }

    fn index(&mut self, container: &'a Expr, index: &'a Expr, optional: bool) -> Outcome<Val<'a>> {
        let value = self.operand(container)?;
        let key = self.value(index)?;
        let pick = if self.program.is_constant(index) {
            Pick::Constant(&key)
        } else if is_attribute(index) {
            Pick::Attribute(&key)
        } else {
            Pick::Computed(&key)
        };
        self.qualify(value, pick, optional)
    }

    fn call(
        &mut self,
        expr: &'a Expr,
        function: &'a str,
        target: Option<&'a Expr>,
        args: &'a [Expr],
    ) -> Outcome<Val<'a>> {
        match (function, target, args) {
            (op::AND, None, terms) => self.logical(terms, false),
            (op::OR, None, terms) => self.logical(terms, true),
            (op::CONDITIONAL, None, [condition, yes, no]) => match self.value(condition)? {
                Val::Bool(true) => self.branch(yes),
                Val::Bool(false) => self.branch(no),
                _ => Err(Fault::no_overload()),
            },
            (op::INDEX, None, [container, index]) => self.index(container, index, false),
            (op::OPT_INDEX, None, [container, index]) => self.index(container, index, true),
            (op::OPT_SELECT, None, [operand, field]) if self.is_composed(operand) => match &field.kind {
                Kind::Literal(Literal::String(name)) => self.composed(name, false).map(Val::some),
                _ => Err(Fault::no_overload()),
            },
            (op::OPT_SELECT, None, [operand, field]) => {
                let value = self.operand(operand)?;
                let key = self.value(field)?;
                self.qualify(value, Pick::Constant(&key), true)
            }
            ("or" | "orValue", Some(target), [other]) => match self.value(target)? {
                Val::Optional(Some(value)) if function == "orValue" => Ok((*value).clone()),
                Val::Optional(None) => self.value(other),
                value @ Val::Optional(_) => Ok(value),
                _ => Err(Fault::no_overload()),
            },
            (op::NOT_STRICTLY_FALSE, None, [arg]) => self.not_strictly_false(arg),
            (op::ADD, None, [accu, item]) if is_accumulator(accu) => self.append(expr, accu, item),
            (op::IN, None, [item, list]) if self.program.is_constant(list) && constants::is_set(list) => {
                let item = self.value(item)?;
                operators::within(&item, &constants::value(list)?)
            }
            _ => self.function(expr, function, target, args),
        }
    }

    /// The chosen branch of `?:`. There, the server counts no cost for a variable itself, only for selections from it.
    fn branch(&mut self, expr: &'a Expr) -> Outcome<Val<'a>> {
        let free = match &expr.kind {
            Kind::Call { function, .. } => function != op::CONDITIONAL && is_attribute(expr),
            _ => is_attribute(expr) && !matches!(self.checked.name(expr), Some(Name::Type(_))),
        };
        let value = self.value(expr);
        if free {
            self.meter.refund(1);
        }
        value
    }

    /// `&&` and `||`: one term can decide the result even if others are errors.
    fn logical(&mut self, terms: &'a [Expr], decides: bool) -> Outcome<Val<'a>> {
        let mut fault = None;
        for term in terms {
            match self.value(term) {
                Ok(Val::Bool(value)) if value == decides => return Ok(Val::Bool(decides)),
                Ok(Val::Bool(_)) => {}
                Err(fault) if fault.is_final() => return Err(fault),
                Err(error) => fault = fault.or(Some(error)),
                Ok(_) => fault = fault.or(Some(Fault::no_overload())),
            }
        }
        fault.map_or(Ok(Val::Bool(!decides)), Err)
    }

    fn not_strictly_false(&mut self, arg: &'a Expr) -> Outcome<Val<'a>> {
        let value = self.value(arg);
        self.meter.spend(1)?;
        match value {
            Ok(Val::Bool(false)) => Ok(Val::Bool(false)),
            Err(fault) if fault.is_final() => Err(fault),
            _ => Ok(Val::Bool(true)),
        }
    }

    fn function(
        &mut self,
        expr: &'a Expr,
        function: &'a str,
        target: Option<&'a Expr>,
        args: &'a [Expr],
    ) -> Outcome<Val<'a>> {
        let (function, target) = match self.checked.name(expr) {
            Some(Name::Function(name)) => (*name, None),
            _ => (
                library::name(function.trim_start_matches('.')).unwrap_or_default(),
                target,
            ),
        };
        let overload = match self.checked.overloads(expr) {
            [one] => one.id,
            _ => "",
        };
        let mut values = Vec::with_capacity(args.len() + 1);
        let mut fault = None;
        for arg in target.into_iter().chain(args) {
            match self.value(arg) {
                Ok(value) => values.push(value),
                Err(fault) if fault.is_final() => return Err(fault),
                // Both sides of an operator are evaluated, even if the first is an error.
                Err(error) => {
                    fault = fault.or(Some(error));
                    values.push(Val::Null);
                    if args.len() + usize::from(target.is_some()) > 2 {
                        break;
                    }
                }
            }
        }
        let result = match fault {
            Some(fault) => Err(fault),
            None => match (function, values.as_slice()) {
                (op::EQUALS, [one, other]) => one.equal(other).map(Val::Bool),
                (op::NOT_EQUALS, [one, other]) => operators::unequal(one, other).map(Val::Bool),
                _ => match self.program.patterns.get(&expr.id) {
                    Some(pattern) => library::search(function, pattern, &values),
                    None => library::call(function, overload, &values),
                },
            },
        };
        self.meter.call(function, overload, &values, result.as_ref().ok())?;
        result
    }

    /// `accumulator + [item]`: takes the list out of its variable, so that the item can be appended in place.
    fn append(&mut self, expr: &'a Expr, accu: &'a Expr, item: &'a Expr) -> Outcome<Val<'a>> {
        let Kind::List(items) = &item.kind else {
            let args: &[Expr] = match &expr.kind {
                Kind::Call { args, .. } => args,
                _ => &[],
            };
            return self.function(expr, op::ADD, None, args);
        };
        let [(only, false)] = items.as_slice() else {
            return Err(Fault::no_overload());
        };
        self.meter.spend(1)?;
        let constant = self.program.is_constant(item);
        let added = self.value(only);
        self.meter.spend(if constant { 1 } else { 11 })?;
        let Kind::Ident(name) = &accu.kind else {
            return Err(Fault::no_overload());
        };
        let place = self.locals.iter_mut().rev().find(|(local, _)| local == name);
        let list = place.map(|(_, value)| std::mem::replace(value, Ok(Val::Null)));
        match list {
            Some(Ok(Val::List(list))) => operators::append(list, added?),
            Some(Err(fault)) => Err(fault),
            _ => Err(Fault::no_overload()),
        }
    }

    fn list(&mut self, items: &'a [(Expr, bool)]) -> Outcome<Val<'a>> {
        let mut out = Vec::with_capacity(items.len());
        for (item, optional) in items {
            match self.value(item)? {
                Val::Optional(inner) if *optional => out.extend(inner.map(|it| (*it).clone())),
                other if *optional => {
                    let shown = other.shown();
                    return Err(Fault::new(format!(
                        "cannot initialize optional list element from non-optional value {shown}"
                    )));
                }
                value => out.push(value),
            }
        }
        self.meter.spend(10)?;
        Ok(Val::List(List::own(out)))
    }

    fn map(&mut self, entries: &'a [crate::ast::Entry]) -> Outcome<Val<'a>> {
        let mut out = BTreeMap::new();
        for entry in entries {
            let key = self.value(&entry.key)?;
            let value = self.value(&entry.value)?;
            let key = Key::of(&key).ok_or_else(|| Fault::new(format!("unsupported key type: {}", key.type_name())))?;
            match value {
                Val::Optional(Some(inner)) if entry.optional => _ = out.insert(key, (*inner).clone()),
                Val::Optional(None) if entry.optional => _ = out.remove(&key),
                value => _ = out.insert(key, value),
            }
        }
        self.meter.spend(30)?;
        Ok(Val::Map(Map::own(out)))
    }

    fn message(&mut self, name: &'a str, slots: &'a [Slot]) -> Outcome<Val<'a>> {
        let mut fields = BTreeMap::new();
        for Slot {
            field, value, optional, ..
        } in slots
        {
            match self.value(value)? {
                Val::Optional(None) if *optional => _ = fields.remove(field.as_str()),
                Val::Optional(Some(inner)) if *optional => _ = fields.insert(field.as_str(), (*inner).clone()),
                other if *optional => {
                    let shown = other.shown();
                    return Err(Fault::new(format!(
                        "cannot initialize optional entry '{field}' from non-optional value {shown}"
                    )));
                }
                value => _ = fields.insert(field.as_str(), value),
            }
        }
        self.meter.spend(40)?;
        Built::new(name.trim_start_matches('.'), fields).map(|built| Val::Built(Rc::new(built)))
    }

    fn fold(&mut self, fold: &'a Fold) -> Outcome<Val<'a>> {
        let outer = self.locals.len();
        let result = self.folded(fold);
        self.locals.truncate(outer);
        result
    }

    fn folded(&mut self, fold: &'a Fold) -> Outcome<Val<'a>> {
        if fold.is_bind() {
            let bound = self.value(&fold.init);
            self.locals.push((&fold.accu, bound));
            return self.value(&fold.result);
        }
        let range = self.value(&fold.range)?;
        let init = self.value(&fold.init);
        let place = self.locals.len();
        self.locals.push((&fold.accu, init));
        for (first, second) in entries(&range, fold.var2.is_some())? {
            self.locals.push((&fold.var, first));
            if let Some(var2) = &fold.var2 {
                self.locals.push((var2, second));
            }
            let go_on = self.value(&fold.condition);
            if matches!(go_on, Ok(Val::Bool(false))) {
                self.locals.truncate(place + 1);
                break;
            }
            go_on.map(drop).or_else(Fault::absorbed)?;
            let step = self.value(&fold.step);
            self.locals.truncate(place + 1);
            if matches!(&step, Err(fault) if fault.is_final()) {
                return step;
            }
            if let Some((_, accu)) = self.locals.last_mut() {
                *accu = step;
            }
        }
        self.value(&fold.result)
    }
}

type Pair<'a> = (Outcome<Val<'a>>, Outcome<Val<'a>>);

/// The entries of a loop's range: items or keys; with two variables, indices and items, or keys and values.
fn entries<'a>(range: &Val<'a>, two: bool) -> Outcome<Vec<Pair<'a>>> {
    let index = |at: usize| Ok(Val::Int(i64::try_from(at).unwrap_or(i64::MAX)));
    Ok(match range {
        Val::List(list) if two => list.iter().enumerate().map(|(at, item)| (index(at), item)).collect(),
        Val::List(list) => list.iter().map(|item| (item, Ok(Val::Null))).collect(),
        Val::Map(map) => {
            let value = |key: &Val<'a>| map.find(key).and_then(|it| it.ok_or_else(|| Fault::no_key(key)));
            map.keys()
                .into_iter()
                .map(|key| (Ok(key.clone()), if two { value(&key) } else { Ok(Val::Null) }))
                .collect()
        }
        other => {
            let name = match other {
                Val::String(_) => "types.String",
                Val::Int(_) => "types.Int",
                Val::Bool(_) => "types.Bool",
                Val::Double(_) => "types.Double",
                Val::Null => "types.Null",
                other => other.type_name(),
            };
            return Err(Fault::new(if two {
                format!("unsupported comprehension range type: {name}")
            } else {
                format!("got '{name}', expected iterable type")
            }));
        }
    })
}

/// The value at a key, if there is one.
fn present<'a>(value: &Val<'a>, key: &Val<'a>) -> Outcome<Option<Val<'a>>> {
    match value {
        Val::Map(map) => map.find(key),
        Val::List(list) => {
            let index = match key {
                Val::Int(index) => usize::try_from(*index).ok(),
                Val::Uint(index) => usize::try_from(*index).ok(),
                Val::Double(index) if index.fract() == 0.0 && *index >= 0.0 && *index < 1e15 => Some(*index as usize),
                Val::Double(_) => {
                    return Err(Fault::new(format!("unsupported index value {} in list", key.shown())));
                }
                other => {
                    return Err(Fault::new(format!(
                        "unsupported index type '{}' in list",
                        other.type_name()
                    )));
                }
            };
            index.and_then(|index| list.get(index)).transpose()
        }
        Val::Built(built) => Ok(match key {
            Val::String(field) => built.fields.get(&**field).cloned(),
            _ => None,
        }),
        _ => Ok(None),
    }
}

/// Whether an expression is a variable or a selection from one, which the server evaluates in one step.
fn is_attribute(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Ident(_) | Kind::Select { test: false, .. } => true,
        Kind::Call {
            function, target: None, ..
        } => [op::INDEX, op::OPT_INDEX, op::OPT_SELECT, op::CONDITIONAL].contains(&function.as_str()),
        _ => false,
    }
}

fn is_accumulator(expr: &Expr) -> bool {
    matches!(&expr.kind, Kind::Ident(name) if name == ACCUMULATOR)
}
