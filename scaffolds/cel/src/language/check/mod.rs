//! The type checker: finds the type of every node and the overloads of every call.

mod message;

use super::library::{self, Overload};
use crate::ast::{Expr, Fold, Kind, Literal, op};
use crate::issue::Issues;
use crate::types::{Scope, Type, instance, of_literal, type_named};
use crate::unify::{Unifier, most_general};
use kubewright_machinery::rule_names::escape;
use std::sync::Arc;

/// The results of the checker, by node id.
#[derive(Debug)]
pub(super) struct Checked {
    types: Vec<Type>,
    overloads: Vec<Vec<&'static Overload>>,
    names: Vec<Option<Name>>,
}

/// The meaning of a name.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Name {
    /// A variable of a loop, or an accumulator.
    Local,
    /// A variable of the scope.
    Variable(&'static str),
    /// The name of a type.
    Type(&'static str),
    /// The name of a type of mutations, which is no value at runtime.
    Built(String),
    /// A function in a namespace: the node before the dot is not a value.
    Function(&'static str),
}

impl Checked {
    pub(super) fn of(&self, expr: &Expr) -> &Type {
        self.types.get(expr.id).unwrap_or(&Type::Dyn)
    }

    /// The overloads that a call can have; one, unless types are known only at runtime.
    pub(super) fn overloads(&self, expr: &Expr) -> &[&'static Overload] {
        self.overloads.get(expr.id).map_or(&[], Vec::as_slice)
    }

    pub(super) fn name(&self, expr: &Expr) -> Option<&Name> {
        self.names.get(expr.id)?.as_ref()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &Name> {
        self.names.iter().flatten()
    }

    /// Whether the expression refers to a variable of its scope.
    pub(super) fn uses(&self, variable: &str) -> bool {
        self.names()
            .any(|name| matches!(name, Name::Variable(name) if *name == variable))
    }
}

/// A function and the name by which it is called.
struct Function<'n> {
    name: &'n str,
    overloads: &'static [Overload],
}

/// Checks an expression with ids below `ids`.
pub(super) fn check(expr: &Expr, ids: usize, scope: &Scope, issues: &mut Issues) -> Checked {
    let mut checker = Checker {
        issues,
        scope,
        locals: Vec::new(),
        unifier: Unifier::default(),
        checked: Checked {
            types: vec![Type::Error; ids],
            overloads: vec![Vec::new(); ids],
            names: vec![None; ids],
        },
    };
    checker.check(expr);
    let Checker {
        unifier, mut checked, ..
    } = checker;
    for r#type in &mut checked.types {
        *r#type = unifier.resolved(r#type, true);
    }
    checked
}

struct Checker<'a> {
    issues: &'a mut Issues,
    scope: &'a Scope,
    locals: Vec<(String, Type)>,
    unifier: Unifier,
    checked: Checked,
}

impl Checker<'_> {
    fn wrong(&mut self, at: usize, message: String) -> Type {
        self.issues.add(Some(at), message);
        Type::Error
    }

    fn undeclared(&mut self, at: usize, name: &str) -> Type {
        let name = name.strip_prefix('.').unwrap_or(name);
        self.wrong(at, format!("undeclared reference to '{name}' (in container '')"))
    }

    fn mismatch(&mut self, at: usize, expected: &Type, found: &Type) -> Type {
        self.wrong(at, format!("expected type '{expected}' but found '{found}'"))
    }

    /// Checks a node and records its type.
    fn check(&mut self, expr: &Expr) -> Type {
        let r#type = match &expr.kind {
            Kind::Literal(literal) => of_literal(literal),
            Kind::Ident(name) => match self.lookup(expr.id, name) {
                Some(r#type) => r#type,
                None => self.undeclared(expr.at, name),
            },
            Kind::Select { operand, field, test } => self.select(expr, operand, field, *test),
            Kind::Call { function, target, args } => self.call(expr, function, target.as_deref(), args),
            Kind::List(items) => self.list(items),
            Kind::Map(entries) => self.map(entries),
            Kind::Struct(name, slots) => self.message(expr, name, slots),
            Kind::Fold(fold) => self.fold(fold),
            Kind::Broken => Type::Error,
        };
        self.checked.types[expr.id] = r#type.clone();
        r#type
    }

    /// Finds the type of a variable or type name, and records it.
    fn lookup(&mut self, id: usize, name: &str) -> Option<Type> {
        let global = name.strip_prefix('.');
        let (found, r#type) = if let Some((_, local)) = self
            .locals
            .iter()
            .rev()
            .find(|(local, _)| local == name && global.is_none())
        {
            (Name::Local, local.clone())
        } else {
            let name = global.unwrap_or(name);
            let variable = self.scope.variables.iter().find(|variable| variable.name == name);
            match (variable, self.scope.built(name)) {
                (Some(variable), _) => (Name::Variable(variable.name), variable.r#type.clone()),
                (None, Some(of)) => (Name::Built(name.to_owned()), Type::Meta(Some(Arc::new(of)))),
                (None, None) => {
                    let (name, of) = type_named(name)?;
                    (Name::Type(name), Type::Meta(Some(Arc::new(of))))
                }
            }
        };
        self.checked.names[id] = Some(found);
        Some(r#type)
    }

    fn select(&mut self, expr: &Expr, operand: &Expr, field: &str, test: bool) -> Type {
        if !test
            && let Some(name) = expr.qualified_name()
            && let Some(r#type) = self.lookup(expr.id, &name)
        {
            return r#type;
        }
        let selected = self.select_field(expr, operand, field, false);
        if test {
            Type::Bool
        } else {
            self.unifier.resolved(&selected, false)
        }
    }

    fn select_field(&mut self, expr: &Expr, operand: &Expr, field: &str, optional: bool) -> Type {
        let operand = self.check(operand);
        let operand = self.unifier.resolved(&operand, false);
        let target = operand.unwrapped().unwrap_or(&operand).clone();
        let optional = optional || operand.unwrapped().is_some();
        let result = match &target {
            Type::Map(of) => of.1.clone(),
            Type::Object(object) => match object.fields.get(field).or_else(|| {
                // Reserved words may also be written without escaping where the grammar accepts them.
                let escaped = escape(field).filter(|escaped| *escaped == format!("__{field}__"))?;
                object.fields.get(&escaped)
            }) {
                Some(r#type) => r#type.clone(),
                None => self.wrong(expr.at, format!("undefined field '{field}'")),
            },
            Type::Built(name) => message::field(name, field),
            Type::Message(name) => self.wrong(expr.at, format!("unexpected failed resolution of '{name}'")),
            Type::Var(_) => {
                self.unifier.assignable(&Type::Dyn, &target);
                Type::Dyn
            }
            _ => {
                if !target.is_dyn_or_error() {
                    self.wrong(expr.at, format!("type '{target}' does not support field selection"));
                }
                Type::Dyn
            }
        };
        if optional { Type::optional(result) } else { result }
    }

    fn call(&mut self, expr: &Expr, function: &str, target: Option<&Expr>, args: &[Expr]) -> Type {
        if function == op::OPT_SELECT
            && let [operand, field] = args
            && let Kind::Literal(Literal::String(name)) = &field.kind
        {
            self.check(field);
            let overloads = self.overloads(function);
            self.checked.overloads[expr.id].extend(overloads.into_iter().flatten());
            let selected = self.select_field(expr, operand, name, true);
            return self.unifier.resolved(&selected, false);
        }
        let mut given: Vec<Type> = args.iter().map(|arg| self.check(arg)).collect();
        let Some(target) = target else {
            let name = function.strip_prefix('.').unwrap_or(function);
            return match self.overloads(name) {
                Some(overloads) => self.resolve(expr, Function { name, overloads }, &given, args),
                None => self.undeclared(expr.at, name),
            };
        };
        if let Some(prefix) = target.qualified_name() {
            let full = format!("{}.{function}", prefix.strip_prefix('.').unwrap_or(&prefix));
            if let (Some(name), Some(overloads)) = (library::name(&full), self.overloads(&full)) {
                self.checked.names[expr.id] = Some(Name::Function(name));
                return self.resolve(expr, Function { name, overloads }, &given, args);
            }
        }
        given.insert(0, self.check(target));
        match self.overloads(function) {
            Some(overloads) => {
                let name = function;
                self.resolve(expr, Function { name, overloads }, &given, args)
            }
            None => self.undeclared(expr.at, function),
        }
    }

    /// All overloads of a function that expressions of this scope may call.
    fn overloads(&self, function: &str) -> Option<&'static [Overload]> {
        library::overloads(function).filter(|_| self.scope.mutates || function != library::ESCAPE_KEY)
    }

    /// Finds the overloads that accept the arguments, and their result type.
    fn resolve(&mut self, expr: &Expr, function: Function<'_>, given: &[Type], args: &[Expr]) -> Type {
        let Function { name, overloads } = function;
        if matches!(name, op::AND | op::OR) {
            return self.logical(expr, overloads, given, args);
        }
        let member = given.len() > args.len();
        let mut result: Option<Type> = None;
        for overload in overloads.iter().filter(|overload| overload.member == member) {
            let fresh: Vec<(char, Type)> = overload
                .parameters
                .iter()
                .map(|letter| (*letter, self.unifier.fresh()))
                .collect();
            let wanted: Vec<Type> = overload.args.iter().map(|arg| instance(arg, &fresh)).collect();
            if !self.unifier.all_assignable(given, &wanted) {
                continue;
            }
            self.checked.overloads[expr.id].push(overload);
            let gives = self.unifier.resolved(&instance(&overload.result, &fresh), false);
            result = Some(match result {
                None => gives,
                Some(before) if before.is_dyn() || before == gives => before,
                Some(_) => Type::Dyn,
            });
        }
        result.unwrap_or_else(|| self.no_overload(expr.at, name, given, member))
    }

    fn no_overload(&mut self, at: usize, function: &str, given: &[Type], member: bool) -> Type {
        let shown: Vec<String> = given
            .iter()
            .map(|it| self.unifier.resolved(it, true).to_string())
            .collect();
        let (receiver, rest) = shown.split_at(usize::from(member));
        let receiver: String = receiver.iter().map(|it| format!("{it}.")).collect();
        let signature = format!("{receiver}({})", rest.join(", "));
        self.wrong(
            at,
            format!("found no matching overload for '{function}' applied to '{signature}'"),
        )
    }

    fn logical(&mut self, expr: &Expr, overloads: &'static [Overload], given: &[Type], args: &[Expr]) -> Type {
        let mut fits = true;
        for (given, arg) in given.iter().zip(args) {
            if !self.unifier.assignable(given, &Type::Bool) {
                self.mismatch(arg.at, &Type::Bool, given);
                fits = false;
            }
        }
        self.checked.overloads[expr.id].extend(overloads.first());
        if fits { Type::Bool } else { Type::Error }
    }

    /// The type of an item in a literal; for `?item`, the type inside the optional.
    fn item(&mut self, item: &Expr, optional: bool) -> Type {
        let r#type = self.check(item);
        if !optional {
            return r#type;
        }
        match r#type.unwrapped() {
            Some(inner) => inner.clone(),
            None => {
                if !r#type.is_dyn() {
                    self.mismatch(item.at, &Type::optional(r#type.clone()), &r#type);
                }
                r#type
            }
        }
    }

    fn join(&mut self, before: Option<Type>, r#type: Type) -> Type {
        match before {
            None => r#type,
            Some(before) if self.unifier.assignable(&before, &r#type) => most_general(before, r#type),
            // Whether mixed types are allowed is checked when all types are known.
            Some(_) => Type::Dyn,
        }
    }

    fn list(&mut self, items: &[(Expr, bool)]) -> Type {
        let mut of = None;
        for (item, optional) in items {
            let r#type = self.item(item, *optional);
            of = Some(self.join(of, r#type));
        }
        Type::list(of.unwrap_or_else(|| self.unifier.fresh()))
    }

    fn map(&mut self, entries: &[crate::ast::Entry]) -> Type {
        let (mut key, mut value) = (None, None);
        for entry in entries {
            let r#type = self.check(&entry.key);
            key = Some(self.join(key, r#type));
            let r#type = self.item(&entry.value, entry.optional);
            value = Some(self.join(value, r#type));
        }
        let key = key.unwrap_or_else(|| self.unifier.fresh());
        Type::map(key, value.unwrap_or_else(|| self.unifier.fresh()))
    }

    fn fold(&mut self, fold: &Fold) -> Type {
        let range = self.check(&fold.range);
        let accu = self.check(&fold.init);
        let range = self.unifier.resolved(&range, false);
        let outer = self.locals.len();
        self.locals.push((fold.accu.clone(), accu.clone()));
        let (first, second) = self.ranged(fold, &range);
        let inner = self.locals.len();
        match &fold.var2 {
            None => self.locals.push((fold.var.clone(), first)),
            Some(var2) => self.locals.extend([(fold.var.clone(), first), (var2.clone(), second)]),
        }
        let condition = self.check(&fold.condition);
        self.assert(fold.condition.at, &Type::Bool, &condition);
        let step = self.check(&fold.step);
        self.assert(fold.step.at, &accu, &step);
        self.locals.truncate(inner);
        let result = self.check(&fold.result);
        self.locals.truncate(outer);
        self.unifier.resolved(&result, false)
    }

    /// The types of the variables of a loop.
    fn ranged(&mut self, fold: &Fold, range: &Type) -> (Type, Type) {
        match range {
            Type::List(of) if fold.var2.is_some() => (Type::Int, (**of).clone()),
            Type::List(of) => ((**of).clone(), Type::Dyn),
            Type::Map(of) => (of.0.clone(), of.1.clone()),
            Type::Dyn | Type::Error | Type::Var(_) => {
                self.unifier.assignable(&Type::Dyn, range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.wrong(fold.range.at, message);
                (Type::Error, Type::Error)
            }
        }
    }

    fn assert(&mut self, at: usize, expected: &Type, found: &Type) {
        if !self.unifier.assignable(expected, found) {
            self.mismatch(at, expected, found);
        }
    }
}
