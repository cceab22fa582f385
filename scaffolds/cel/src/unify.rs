//! Type inference: which types are assignable to which, and what follows for types that are still unknown.

use super::types::Type;
use std::collections::HashMap;

/// The inferred types so far.
#[derive(Debug, Default)]
pub(super) struct Unifier {
    known: HashMap<u32, Type>,
    /// The changes to undo if an attempt fails.
    trail: Vec<(u32, Option<Type>)>,
    next: u32,
}

impl Unifier {
    /// A type to be inferred.
    pub(super) fn fresh(&mut self) -> Type {
        self.next += 1;
        Type::Var(self.next - 1)
    }

    /// Whether each of `given` is assignable to its counterpart. If one is not, all inferences of this call are undone.
    pub(super) fn all_assignable(&mut self, given: &[Type], wanted: &[Type]) -> bool {
        self.trail.clear();
        let fits = given.len() == wanted.len() && given.iter().zip(wanted).all(|(one, other)| self.fits(one, other));
        if !fits {
            while let Some((var, before)) = self.trail.pop() {
                match before {
                    Some(before) => self.known.insert(var, before),
                    None => self.known.remove(&var),
                };
            }
        }
        fits
    }

    pub(super) fn assignable(&mut self, given: &Type, wanted: &Type) -> bool {
        self.all_assignable(std::slice::from_ref(given), std::slice::from_ref(wanted))
    }

    /// The type with all inferred types inserted. Types that are still unknown stay, or become `dyn` with `close`.
    pub(super) fn resolved(&self, r#type: &Type, close: bool) -> Type {
        match r#type {
            Type::Var(var) => match self.known.get(var) {
                Some(known) => self.resolved(known, close),
                None if close => Type::Dyn,
                None => r#type.clone(),
            },
            other => other.rebuilt(&mut |parameter| self.resolved(parameter, close)),
        }
    }

    fn learn(&mut self, var: u32, r#type: Type) {
        let before = self.known.insert(var, r#type);
        self.trail.push((var, before));
    }

    fn fits(&mut self, one: &Type, other: &Type) -> bool {
        if let Type::Var(var) = other {
            match self.stands_for(one, *var) {
                Substitution::Valid => return true,
                Substitution::Contradicts => return false,
                Substitution::Unknown => {}
            }
        }
        if let Type::Var(var) = one {
            return matches!(self.stands_for(other, *var), Substitution::Valid);
        }
        if one.is_dyn_or_error() || other.is_dyn_or_error() {
            return true;
        }
        match (one, other) {
            (Type::Null, other) | (other, Type::Null) => other.is_nullable(),
            (Type::Meta(_), Type::Meta(_)) => true,
            (Type::List(one), Type::List(other)) => self.fits(one, other),
            (Type::Map(one), Type::Map(other)) => self.fits(&one.0, &other.0) && self.fits(&one.1, &other.1),
            (Type::Opaque(one, inner), Type::Opaque(other, others)) => {
                one == other
                    && inner.len() == others.len()
                    && inner
                        .iter()
                        .zip(others.iter())
                        .all(|(one, other)| self.fits(one, other))
            }
            _ => one == other,
        }
    }

    /// Whether the unknown type `var` can be `r#type`; if so, `var` is `r#type` from then on.
    fn stands_for(&mut self, r#type: &Type, var: u32) -> Substitution {
        if *r#type == Type::Var(var) {
            return Substitution::Valid;
        }
        if let Some(known) = self.known.get(&var).cloned() {
            if known == *r#type {
                return Substitution::Valid;
            }
            if !self.fits(r#type, &known) {
                return Substitution::Contradicts;
            }
            let general = if less_specific(r#type, &known) {
                r#type.clone()
            } else {
                known
            };
            if self.absent(var, &general) {
                self.learn(var, general);
            }
            return Substitution::Valid;
        }
        if self.absent(var, r#type) {
            self.learn(var, r#type.clone());
            return Substitution::Valid;
        }
        Substitution::Unknown
    }

    /// Whether the type does not contain `var`.
    fn absent(&self, var: u32, within: &Type) -> bool {
        match within {
            Type::Var(other) if *other == var => false,
            Type::Var(other) => self.known.get(other).is_none_or(|known| self.absent(var, known)),
            other => other
                .parameters()
                .into_iter()
                .all(|parameter| self.absent(var, parameter)),
        }
    }
}

enum Substitution {
    Valid,
    Contradicts,
    Unknown,
}

/// The more general of two compatible types.
pub(super) fn most_general(one: Type, other: Type) -> Type {
    if less_specific(&one, &other) { one } else { other }
}

fn less_specific(one: &Type, other: &Type) -> bool {
    if matches!(one, Type::Dyn | Type::Var(_)) {
        return true;
    }
    match (one, other) {
        (_, Type::Dyn | Type::Var(_)) => false,
        (Type::Meta(_), Type::Meta(_)) => true,
        (Type::List(one), Type::List(other)) => less_specific(one, other),
        (Type::Map(one), Type::Map(other)) => less_specific(&one.0, &other.0) && less_specific(&one.1, &other.1),
        (Type::Opaque(one, inner), Type::Opaque(other, others)) => {
            one == other
                && inner.len() == others.len()
                && inner.iter().zip(others.iter()).all(|(a, b)| less_specific(a, b))
        }
        _ => one == other,
    }
}
