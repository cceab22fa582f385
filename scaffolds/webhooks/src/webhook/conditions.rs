//! Checks the conditions of a webhook: whether they compile, and whether the API server lets them run to their end.

use kubewright_schema::condition::{BUDGET, Condition, LIMIT};

use crate::scope::{
    Scope,
    lint::{Checked, wrong},
};

/// The remedy for prices: a question to the authorizer is the only function that costs much without data.
const CHEAPER: &str = "ask the authorizer, at 350000 for each `check`, in the webhook's code: its client can create a \
                       SubjectAccessReview; and loop over fewer constants";

/// Checks them all. The price of each counts no data: what a condition costs more on large objects is not known before.
pub(super) fn check(scope: &Scope) -> Checked {
    let mut prices = 0_u64;
    for [name, expression] in &scope.conditions {
        match Condition::compile(expression.trim()) {
            Ok(condition) => prices = prices.saturating_add(affordable(name, condition.price())?),
            Err(why) => {
                return wrong(
                    format!("its condition `{name}`: {why}"),
                    "it is over object, oldObject, request and authorizer",
                );
            }
        }
    }
    match prices > BUDGET {
        true => wrong(
            format!("its conditions cost {prices} together, and the API server evaluates no more after {BUDGET}"),
            CHEAPER,
        ),
        false => Ok(()),
    }
}

/// The price of a condition, if the API server lets it run to its end.
fn affordable(name: &str, price: u64) -> Result<u64, [String; 2]> {
    match price > LIMIT {
        true => {
            let why = format!("its condition `{name}` costs {price}, and the API server stops each after {LIMIT}");
            Err([why, CHEAPER.to_owned()])
        }
        false => Ok(price),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;
    use crate::{
        scope::{FailurePolicy::Ignore, lint},
        webhook::{Webhook, lint::tests::of},
    };

    fn refusal(conditions: &[[String; 2]]) -> Option<[String; 2]> {
        let webhook = of::<ConfigMap>().failure_policy(Ignore);
        let add = |webhook: Webhook<_, _>, [name, expression]: &[String; 2]| webhook.when(name, expression);
        let webhook = conditions.iter().fold(webhook, add);
        let scope = &webhook.declared.scope;
        lint::check(scope, "").and_then(|()| check(scope)).err()
    }

    fn condition(name: &str, expression: impl Into<String>) -> [String; 2] {
        [name.to_owned(), expression.into()]
    }

    /// So many questions to the authorizer.
    fn checks(count: usize) -> String {
        let checks = (0..count).map(|nth| format!("authorizer.path('/{nth}').check('get').allowed()"));
        checks.collect::<Vec<_>>().join(" || ")
    }

    fn each(count: usize) -> Vec<[String; 2]> {
        (0..count).map(|nth| condition(&format!("c{nth}"), checks(1))).collect()
    }

    #[test]
    fn conditions_may_cost_what_the_api_server_allows_and_data_is_not_counted() {
        let all = "object.data.all(k, object.data.all(l, k.matches('^[a-z]+$') && k.contains(l)))";
        for fine in [each(7), vec![condition("a", checks(2))], vec![condition("a", all)]] {
            assert_eq!(refusal(&fine), None);
        }
    }

    #[test]
    fn a_condition_that_cannot_run_to_its_end_is_refused_with_its_price() {
        let ten = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]";
        let turns = ["a", "b", "c", "d", "e", "f"].map(|name| format!("{ten}.all({name}, "));
        let loops = format!("{}object.metadata.name != 'x'{}", turns.concat(), ")".repeat(6));
        for (conditions, why) in [
            (vec![condition("a", checks(3))], "its condition `a` costs 1050"),
            (vec![condition("a", loops)], "its condition `a` costs"),
            (each(8), "its conditions cost 2800"),
        ] {
            let [refused, hint] = refusal(&conditions).unwrap();
            assert!(refused.starts_with(why), "{refused}");
            assert!(hint.contains("SubjectAccessReview"), "{hint}");
        }
    }

    #[test]
    fn names_and_types_are_those_that_the_api_server_accepts() {
        for (conditions, why) in [
            (vec![condition("a b", "true")], "cannot be the name"),
            (
                vec![condition("a", "true"), condition("a", "true")],
                "two conditions are named `a`",
            ),
            (vec![condition("a", "objekt.x")], "undeclared reference to 'objekt'"),
            (vec![condition("a", "1")], "must evaluate to bool"),
        ] {
            let [refused, _] = refusal(&conditions).unwrap();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
