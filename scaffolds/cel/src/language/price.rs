//! Checks of the expressions of a policy that a server cannot make when they are written: whether they fit the schema of the kind,
//! what they may cost at most, and whether a rule on the type would do.

use super::admit::{MOST_PER_RULE, too_expensive};
use super::admitted;
use super::cost::{Known, Root};
use super::policy::{Expression, Policy, field, none};
use super::program::Program;
use super::variables::COMPOSED;
use crate::stack;
use crate::types::{Object, Type};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Policy {
    /// A policy for objects under this `openAPIV3Schema`, and parameters under `params`, or of any type. Its expressions are
    /// refused if they are wrong for these types, where a server would find that at the first request, and have a
    /// [price](Self::price). Values that the schema only preserves, dates and durations are of any type.
    pub fn typed(has_params: bool, composes: bool, object: &Value, params: Option<&Value>) -> Self {
        let mut policy = Self::new(has_params, composes);
        policy.admitted = Some(admitted::declare(object, params));
        policy.schema = Some(object.clone());
        policy
    }

    /// The most that an expression may cost for one request, by the sizes that the schema allows, without the variables that
    /// it reads. `None` if the policy is not [typed](Self::typed), or the expression reads what has no schema.
    pub fn price(&self, expression: &Expression) -> Option<u64> {
        self.priced(&expression.program, &self.order)
    }

    /// The most that computing a variable may cost, like [`Policy::price`].
    pub fn price_of_variable(&self, name: &str) -> Option<u64> {
        let at = self.order.iter().position(|it| it == name)?;
        self.priced(self.composed.get(name)?.as_ref().ok()?, &self.order[..at])
    }

    fn priced(&self, program: &Program, variables: &[String]) -> Option<u64> {
        let admitted = self.admitted.as_ref()?;
        let is_known = |program: &Program| admitted.contains_key("params") || !program.checked.uses("params");
        let mut known = BTreeMap::<String, Known<'_>>::new();
        for name in variables {
            let variable = self.composed.get(name)?.as_ref().ok()?;
            if program.checked.uses(COMPOSED) && !is_known(variable) {
                return None;
            }
            let root = Root::Named(admitted, known.clone());
            known.insert(name.clone(), variable.estimate(root).1);
        }
        is_known(program).then(|| program.estimate(Root::Named(admitted, known)).0)
    }
}

/// The server's words about an expression that may cost this much, if it would be too much for a rule on the type
/// (StaticEstimatedCostLimit of apiextensions-apiserver). Of policies a server makes no estimate: it ends an expression at a tenth
/// of that (celconfig.PerCallLimit), which a request of ordinary size does not come near to.
pub fn excess(price: u64) -> Option<String> {
    (price > MOST_PER_RULE).then(|| too_expensive("estimated cost", price, MOST_PER_RULE))
}

/// Whether the expression of a validation could be a rule on the type, under this `openAPIV3Schema`: it reads nothing that rules do not
/// have, itself or by these variables, which are names and expressions.
pub fn could_be_rule(schema: &Value, variables: &[[String; 2]], expression: &str) -> bool {
    let mut known = none();
    let compile = |text: &str, known: &Object, wanted: &[Type]| {
        let scope = admitted::rule_scope(schema, Type::Object(Arc::new(known.clone())))?;
        let work = || Program::compile(text, &scope, wanted).ok();
        stack::with_stack(stack::nests(text), work).ok().flatten()
    };
    for [name, text] in variables {
        if let Some(program) = compile(text, &known, &[]) {
            let r#type = field(program.checked.of(&program.expr));
            known.fields.insert(name.clone(), r#type);
        }
    }
    compile(expression, &known, &[Type::Bool]).is_some_and(|program| {
        let checked = &program.checked;
        checked.uses("object") || checked.uses("oldObject") || checked.uses(COMPOSED)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::policy::Purpose;
    use serde_json::json;

    fn schema() -> Value {
        let names = json!({"type": "array", "items": {"type": "string"}});
        let few = json!({"type": "array", "maxItems": 10, "items": {"type": "string", "maxLength": 63}});
        let spec = json!({"type": "object", "properties": {
            "target": {"type": "string"},
            "names": names,
            "few": few,
            "when": {"type": "string", "format": "date-time"},
            "raw": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        }});
        json!({"type": "object", "properties": {"spec": spec}})
    }

    fn typed() -> Policy {
        Policy::typed(false, true, &schema(), None)
    }

    fn price(policy: &Policy, expression: &str) -> u64 {
        let compiled = policy.compile(Purpose::Condition, expression).unwrap();
        policy.price(&compiled).unwrap()
    }

    #[test]
    fn a_field_that_the_type_does_not_have_is_refused() {
        let refused = typed()
            .compile(Purpose::Condition, "object.spec.tarket == 'x'")
            .unwrap_err();
        assert!(
            refused.detail().contains("undefined field 'tarket'"),
            "{}",
            refused.detail()
        );
        // A server would find it at the first request.
        Policy::new(false, true)
            .compile(Purpose::Condition, "object.spec.tarket == 'x'")
            .unwrap();
    }

    #[test]
    fn what_expressions_of_policies_may_use_fits() {
        let mut policy = typed();
        policy
            .add("prefix", "namespaceObject.metadata.?labels[?'a/b'].orValue('')")
            .unwrap();
        for fine in [
            "object.metadata.name.startsWith(variables.prefix)",
            "object.metadata.labels['a'] == 'b' && has(object.metadata.deletionTimestamp)",
            "oldObject == null || object.spec.target == oldObject.spec.target",
            "timestamp(object.spec.when) > timestamp('2026-01-01T00:00:00Z') && object.spec.when != ''",
            "object.spec.raw.a.b == 1",
            "request.userInfo.groups.exists(group, group == 'admins')",
            "authorizer.group('apps').resource('deployments').check('create').allowed()",
        ] {
            let compiled = policy.compile(Purpose::Condition, fine).unwrap();
            let price = policy.price(&compiled).unwrap();
            assert_eq!(excess(price), None, "{fine}: {price}");
        }
    }

    #[test]
    fn a_price_follows_the_limits_of_the_type() {
        let policy = typed();
        let [many, few] = ["names", "few"].map(|list| {
            let loop_in_loop = format!("object.spec.{list}.all(a, object.spec.{list}.exists_one(b, a == b))");
            price(&policy, &loop_in_loop)
        });
        assert!(few < 5_000, "{few}");
        let excess = excess(many).unwrap();
        assert!(
            excess.starts_with("estimated cost exceeds budget by factor of "),
            "{excess}"
        );
        assert!(excess.contains("adding maxItems"), "{excess}");
    }

    #[test]
    fn a_variable_has_a_price_of_its_own_and_its_size_counts_where_it_is_read() {
        let mut policy = typed();
        policy.add("few", "object.spec.few.map(name, name + '!')").unwrap();
        policy.add("many", "object.spec.names.map(name, name + '!')").unwrap();
        assert!(policy.price_of_variable("few").unwrap() < policy.price_of_variable("many").unwrap());
        let [few, many] = ["few", "many"].map(|name| price(&policy, &format!("variables.{name}.all(it, it != '')")));
        assert!(few < 100 && many > 1_000_000, "{few} {many}");
    }

    #[test]
    fn what_has_no_schema_has_no_price() {
        let mut policy = Policy::typed(true, true, &schema(), None);
        policy.add("limit", "params.limit").unwrap();
        for (expression, priced) in [
            ("params.a == 1", false),
            ("variables.limit == 1", false),
            ("object.spec.target == ''", true),
        ] {
            let compiled = policy.compile(Purpose::Condition, expression).unwrap();
            assert_eq!(policy.price(&compiled).is_some(), priced, "{expression}");
        }
        let params = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
        let policy = Policy::typed(true, true, &schema(), Some(&params));
        assert!(price(&policy, "params.a == 1") < 10);
    }

    #[test]
    fn what_reads_the_object_alone_could_be_a_rule() {
        let variables = [
            ["target", "object.spec.target"],
            ["prefix", "namespaceObject.metadata.name"],
            ["both", "variables.target + variables.prefix"],
        ]
        .map(|pair| pair.map(str::to_owned));
        for (expression, could) in [
            ("object.spec.target != ''", true),
            ("variables.target != object.metadata.name", true),
            ("object.spec.target == oldObject.spec.target", true),
            ("variables.target.startsWith(variables.prefix)", false),
            ("variables.both != ''", false),
            ("object.metadata.labels['a'] == 'b'", false),
            ("request.userInfo.username != 'jane'", false),
            ("object.spec.raw.a == 1", false),
            ("true", false),
        ] {
            assert_eq!(could_be_rule(&schema(), &variables, expression), could, "{expression}");
        }
    }
}
