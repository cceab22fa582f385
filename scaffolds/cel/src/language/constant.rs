//! Whether a mutation is no more than a default: it sets constants where fields are missing.

use super::condition::{self, Asked, Authorizer, Decision};
use super::policy::{Expression, Input, Mutation, Outcome, Policy, Purpose};
use crate::ast::{Expr, Kind};
use crate::types::OBJECT;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Whether an apply configuration sets nothing but constants, in fields that it or these match conditions, which are names and
/// expressions, find to be missing. Metadata has no defaults.
pub fn could_be_default(conditions: &[[String; 2]], expression: &str) -> bool {
    let policy = Policy::new(false, false);
    let compile = |purpose: Purpose, text: &str| {
        let compiled = policy.compile(purpose, text.trim());
        compiled.map_err(|refused| refused.detail().to_owned())
    };
    let conditions = conditions.iter().map(|[_, text]| compile(Purpose::Condition, text));
    let conditions: Vec<_> = conditions.collect();
    let mutation = Mutation::ApplyConfiguration(compile(Purpose::ApplyConfiguration, expression));
    let (mut tested, mut set) = (BTreeSet::new(), BTreeSet::new());
    let mut all = conditions.iter().chain([mutation.expression()]);
    let are_constant = all.all(|it| {
        it.as_ref()
            .is_ok_and(|it| is_constant(&it.program.expr, &mut tested, &mut set))
    });
    let is_tested = |path: &String| tested.contains(path) && !path.starts_with("metadata.");
    if !are_constant || set.is_empty() || !set.iter().all(is_tested) {
        return false;
    }
    let changes = |is_present: bool| sets(&policy, &conditions, &mutation, &object(&tested, is_present));
    changes(false) == Some(true) && changes(true) == Some(false)
}

/// Whether a policy sets anything in an object; `None` if an expression has no value.
fn sets(
    policy: &Policy,
    conditions: &[Result<Expression, String>],
    mutation: &Mutation,
    object: &Value,
) -> Option<bool> {
    let null = Value::Null;
    let input = Input {
        request: condition::Input {
            object,
            old_object: &null,
            request: &null,
            authorizer: &Authorizer::new(|_| Decision::default()),
            resource: &Asked::default(),
        },
        params: &null,
        namespace: &null,
    };
    if !policy.matches(conditions, &input).ok()? {
        return Some(false);
    }
    match policy.mutation(mutation, &input).ok()? {
        Outcome::Configuration(configuration) => Some(configuration.object != json!({})),
        _ => None,
    }
}

/// An object with all of these fields, or with the objects that could have them.
fn object(paths: &BTreeSet<String>, is_present: bool) -> Value {
    let mut object = json!({});
    for path in paths {
        let mut at = &mut object;
        let mut steps = path.split('.').peekable();
        while let Some(step) = steps.next() {
            let is_last = steps.peek().is_none();
            if is_last && !is_present {
                break;
            }
            if !at[step].is_object() {
                at[step] = if is_last { json!("") } else { json!({}) };
            }
            at = &mut at[step];
            if !at.is_object() {
                break;
            }
        }
    }
    object
}

/// Whether a value depends on nothing but which fields are present. Collects the paths of those, and of those that are set.
fn is_constant(expr: &Expr, tested: &mut BTreeSet<String>, set: &mut BTreeSet<String>) -> bool {
    match &expr.kind {
        Kind::Select {
            operand,
            field,
            test: true,
        } => match operand
            .qualified_name()
            .as_deref()
            .and_then(|it| it.strip_prefix("object"))
        {
            Some(path) => {
                tested.insert(format!("{path}.{field}").trim_start_matches('.').to_owned());
                true
            }
            None => false,
        },
        Kind::Struct(name, slots) => {
            let path = name.trim_start_matches('.').strip_prefix(OBJECT).unwrap_or_default();
            slots.iter().all(|slot| {
                if !matches!(slot.value.kind, Kind::Struct(..)) {
                    set.insert(format!("{path}.{}", slot.field).trim_start_matches('.').to_owned());
                }
                !slot.optional && is_constant(&slot.value, tested, set)
            })
        }
        Kind::Ident(_) | Kind::Select { .. } | Kind::Fold(_) | Kind::Broken => false,
        _ => expr.children().into_iter().all(|child| is_constant(child, tested, set)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_in_missing_fields_could_be_defaults() {
        let missing = [["unset", "!has(object.spec.mode)"].map(str::to_owned)];
        let user = [["jane", "request.userInfo.username == 'jane'"].map(str::to_owned)];
        let sets = "Object{spec: Object.spec{mode: 'a'}}";
        for (conditions, expression, could) in [
            (&missing[..], sets, true),
            (
                &[],
                "has(object.spec.mode) ? Object{} : Object{spec: Object.spec{mode: 'a'}}",
                true,
            ),
            (
                &[],
                "has(object.spec.mode) ? Object{spec: Object.spec{mode: 'a'}} : Object{}",
                false,
            ),
            // It replaces what is there.
            (&[], sets, false),
            (&user, sets, false),
            (&missing, "Object{spec: Object.spec{mode: object.metadata.name}}", false),
            (&missing, "Object{spec: Object.spec{other: 'a'}}", false),
            (
                &[],
                "has(object.metadata.labels) ? Object{} : Object{metadata: Object.metadata{labels: {'a': 'b'}}}",
                false,
            ),
            (&missing, "Object{}", false),
        ] {
            assert_eq!(could_be_default(conditions, expression), could, "{expression}");
        }
    }
}
