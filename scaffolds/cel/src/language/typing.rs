//! The check of a policy's expressions against the schemas of kinds. A server compiles the expressions without schemas, and
//! kube-controller-manager writes what this check finds into the policy's status.

use super::policy::{field, none};
use super::program::{Program, Refusal};
use super::scope::{self, scope};
use super::variables::COMPOSED;
use crate::declare::Declared;
use crate::schema::Node;
use crate::stack;
use crate::types::{Scope, Type, Variable};
use serde_json::Value;
use std::sync::Arc;

/// A kind: the name of its type in messages, and its schema, in which references are resolved.
#[derive(Clone, Copy, Debug)]
pub struct Kind<'a> {
    /// Different from the name of the other kind of a policy.
    pub name: &'a str,
    /// As OpenAPI publishes it.
    pub schema: &'a Value,
}

/// The types with which the expressions of a policy are checked.
#[derive(Debug)]
pub struct Typing {
    scope: Scope,
}

/// The parameters of a policy.
#[derive(Clone, Copy, Debug)]
pub enum Parameters<'a> {
    /// The policy has no parameters.
    None,
    /// Parameters of a kind without a known schema, which are of any type.
    Any,
    /// Parameters of this kind.
    Of(Kind<'a>),
}

impl Typing {
    /// The types of a policy for objects of a kind, with variables, which are names and expressions. A variable that does not
    /// compile is of any type.
    pub fn new<'v>(
        object: Kind<'_>,
        parameters: Parameters<'_>,
        variables: impl IntoIterator<Item = (&'v str, &'v str)>,
    ) -> Self {
        let params = match parameters {
            Parameters::None => None,
            Parameters::Any => Some(Type::Dyn),
            Parameters::Of(kind) => Some(declared(kind)),
        };
        let mut scope = scope(&scope::Declared {
            object: Some(declared(object)),
            params,
            authorizer: true,
            ..scope::Declared::default()
        });
        // The check declares the authorizer alone.
        scope.variables.retain(|it| it.name != "authorizer.requestResource");
        let mut known = none();
        let composed = |known| Variable {
            name: COMPOSED,
            r#type: Type::Object(Arc::new(known)),
        };
        scope.variables.push(composed(known.clone()));
        let mut typing = Self { scope };
        for (name, expression) in variables {
            let compiled = typing.compile(expression);
            let r#type = compiled.map_or(Type::Dyn, |program| field(program.checked.of(&program.expr)));
            known.fields.insert(name.to_owned(), r#type);
            typing.scope.variables.pop();
            typing.scope.variables.push(composed(known.clone()));
        }
        typing
    }

    /// The errors of an expression, in the server's words; `None` if its types are right.
    pub fn errors(&self, expression: &str) -> Option<String> {
        match self.compile(expression) {
            Err(Refusal::Compilation(issues)) => Some(issues),
            _ => None,
        }
    }

    fn compile(&self, expression: &str) -> Result<Program, Refusal> {
        let work = || Program::compile(expression, &self.scope, &[]);
        stack::with_stack(stack::nests(expression), work)
            .unwrap_or_else(|cause| Err(Refusal::Compilation(cause.message)))
    }
}

/// The type of a kind; any if expressions cannot access its schema.
fn declared(kind: Kind<'_>) -> Type {
    let node = Node::read(kind.schema);
    Declared::of(&node, true).map_or(Type::Dyn, |declared| declared.r#type(kind.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn errors(expression: &str) -> Option<String> {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
            "replicas": {"type": "integer"}, "port": {"oneOf": [{"type": "integer"}, {"type": "string"}]}}}}});
        let kind = Kind {
            name: "FooBar0",
            schema: &schema,
        };
        let variables = [
            ("count", "object.spec.replicas"),
            ("wrong", "object.spec.none"),
            ("all", "object.spec"),
        ];
        Typing::new(kind, Parameters::Any, variables).errors(expression)
    }

    #[test]
    fn an_expression_is_checked_with_the_types_of_the_kind_and_of_variables() {
        for right in [
            "object.spec.replicas > 1",
            "variables.count > 1",
            "variables.wrong.x > 1",
            "variables.all.port == 1",
            "params.a == 1",
            "object.metadata.name + 'a'",
        ] {
            assert_eq!(errors(right), None, "{right}");
        }
        let found = [
            (
                "object.spec.replicas > '1'",
                "found no matching overload for '_>_' applied to '(int, string)'",
            ),
            (
                "variables.count > '1'",
                "found no matching overload for '_>_' applied to '(int, string)'",
            ),
            ("object.spec.none", "undefined field 'none'"),
            ("object.spec.port == 1", "undefined field 'port'"),
            ("variables.none", "undefined field 'none'"),
            (
                "object.spec + 1",
                "found no matching overload for '_+_' applied to '(FooBar0.spec, int)'",
            ),
        ];
        for (wrong, words) in found {
            let errors = errors(wrong).unwrap_or_default();
            assert!(errors.contains(words), "{wrong}: {errors}");
        }
    }
}
