//! Messages: `Object{spec: Object.spec{…}}` and `JSONPatch{op: …}`, which mutations of policies build.

use super::Checker;
use crate::ast::{Expr, Slot};
use crate::types::{JSON_PATCH, OBJECT, Scope, Type, type_named};

impl Scope {
    /// The type of mutations with this name, if expressions may build it.
    pub(super) fn built(&self, name: &str) -> Option<Type> {
        let is_object = name
            .strip_prefix(OBJECT)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        (self.mutates && (is_object || name == JSON_PATCH)).then(|| Type::Built(name.into()))
    }
}

/// The type of a field of a type of mutations. Objects may have any field; the server has a type without a name for a field
/// that a JSONPatch does not have.
pub(super) fn field(built: &str, field: &str) -> Type {
    match (built, field) {
        (JSON_PATCH, "op" | "from" | "path") => Type::String,
        (JSON_PATCH, "value") => Type::Dyn,
        (JSON_PATCH, _) => Type::Built("".into()),
        _ => Type::Dyn,
    }
}

impl Checker<'_> {
    pub(super) fn message(&mut self, expr: &Expr, name: &str, slots: &[Slot]) -> Type {
        let name = name.strip_prefix('.').unwrap_or(name);
        let Some(built) = self.scope.built(name) else {
            return self.no_message(expr, name, slots);
        };
        for slot in slots {
            let given = self.item(&slot.value, slot.optional);
            let wanted = field(name, &slot.field);
            if !self.unifier.assignable(&wanted, &given) {
                let given = self.unifier.resolved(&given, true);
                let field = &slot.field;
                let message = format!("expected type of field '{field}' is '{wanted}' but provided type is '{given}'");
                self.wrong(slot.at, message);
            }
        }
        built
    }

    /// The errors about a name that does not belong to a message.
    fn no_message(&mut self, expr: &Expr, name: &str, slots: &[Slot]) -> Type {
        let Some((name, _)) = type_named(name) else {
            return self.undeclared(expr.at, name);
        };
        self.wrong(expr.at, format!("'{name}' is not a message type"));
        for slot in slots {
            self.check(&slot.value);
            self.wrong(slot.at, format!("undefined field '{}'", slot.field));
        }
        Type::Error
    }
}
