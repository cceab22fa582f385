//! Refuses webhooks that the API server would refuse, or that could block a cluster.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright_runtime::{Error, Result};

use super::{component::NAMESPACE, conditions, declare::DeclaredWebhook};
use crate::scope::{
    self, FailurePolicy, Operation,
    lint::{Checked, touchable, wrong},
};

/// The seconds that the API allows.
const SECONDS: std::ops::RangeInclusive<u64> = 1..=30;

/// Checks a declaration.
///
/// # Errors
///
/// [`Error::Setup`] with what is wrong, and what to do.
pub(super) fn check(declared: &DeclaredWebhook) -> Result<()> {
    let checked = scope::lint::check(&declared.scope, "it is asked about")
        .and_then(|()| mutates(declared))
        .and_then(|()| limits(declared))
        .and_then(|()| placeholder(declared.scope.namespaces.as_ref()))
        .and_then(|()| conditions::check(&declared.scope))
        .and_then(|()| dangers(declared));
    checked.map_err(|[why, hint]| {
        let form = if declared.mutating { "defaulting" } else { "validating" };
        let text = format!("the {form} webhook of {} is refused: {why}", declared.scope.kind);
        Error::Setup(format!("{text}\n\nhint: {hint}"))
    })
}

fn mutates(declared: &DeclaredWebhook) -> Checked {
    match declared.mutating && declared.scope.operations.contains(&Operation::Delete) {
        true => wrong("a deletion has no object to change", "leave `Operation::Delete` out"),
        false => Ok(()),
    }
}

fn limits(declared: &DeclaredWebhook) -> Checked {
    let limit = declared.timeout;
    if limit.subsec_nanos() == 0 && SECONDS.contains(&limit.as_secs()) {
        return Ok(());
    }
    wrong(format!("its timeout is {limit:?}"), "pass 1 to 30 whole seconds")
}

/// Kustomize would replace the value by the operator's namespace.
fn placeholder(namespaces: Option<&LabelSelector>) -> Checked {
    let expressions = namespaces.iter().flat_map(|it| it.match_expressions.iter().flatten());
    let mut values = expressions.flat_map(|it| it.values.iter().flatten());
    match values.any(|value| value == NAMESPACE) {
        true => wrong(
            format!("`{NAMESPACE}` in an expression of its selector stands for the operator's namespace"),
            "use another value, or `match_labels`",
        ),
        false => Ok(()),
    }
}

/// Finds webhooks that could block a cluster. `*/*` cannot be declared, because a webhook is for objects of one type.
fn dangers(declared: &DeclaredWebhook) -> Checked {
    touchable(&declared.scope, "no webhook may be asked about")?;
    if !declared.foreign {
        return Ok(());
    }
    let selectors = [&declared.scope.namespaces, &declared.scope.objects];
    let is_selective = selectors
        .into_iter()
        .flatten()
        .any(|it| *it != LabelSelector::default());
    match declared.scope.failure_policy {
        None => wrong(
            "it is for a kind of others, and says nothing of failures",
            "add `.failure_policy(FailurePolicy::Ignore)`, or `Fail` with a selector",
        ),
        Some(FailurePolicy::Fail) if !is_selective => wrong(
            "while it is down, no such object of the cluster could be written",
            "add `.namespaces(…)` or `.objects(…)`, or let it ignore failures",
        ),
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use k8s_openapi::api::{
        coordination::v1::Lease,
        core::v1::{ConfigMap, Pod},
    };
    use kubewright_runtime::Object;

    use super::*;
    use crate::{
        scope::FailurePolicy::*,
        webhook::{Admission, Change, Validator, Verdict, Webhook, decide::Validating},
    };

    pub(in crate::webhook) struct Anything;

    impl<K: Object> Validator<K> for Anything {
        async fn validate(&self, _: &Admission, _: Change<'_, K>) -> Result<Verdict> {
            Ok(Verdict::allowed())
        }
    }

    pub(in crate::webhook) fn of<K: Object>() -> Webhook<K, Validating<Anything>> {
        Webhook::<K, _>::validating(Anything)
    }

    fn refusal<K: Object>(webhook: Webhook<K, Validating<Anything>>) -> String {
        check(&webhook.declared).unwrap_err().to_string()
    }

    fn selector() -> LabelSelector {
        serde_json::from_value(serde_json::json!({"matchLabels": {"team": "a"}})).unwrap()
    }

    #[test]
    fn what_could_block_a_cluster_is_refused() {
        assert!(refusal(of::<Lease>()).contains("every controller of the cluster needs its leases"));
        assert!(refusal(of::<Pod>()).contains("says nothing of failures"));
        assert!(refusal(of::<Pod>().failure_policy(Fail)).contains("no such object of the cluster could be written"));
        for fine in [
            of::<Pod>().failure_policy(Ignore),
            of::<Pod>().failure_policy(Fail).namespaces(selector()),
            of::<Pod>().failure_policy(Fail).objects(selector()),
        ] {
            check(&fine.declared).unwrap();
        }
        // A selector that selects everything is none.
        let all = of::<Pod>().failure_policy(Fail).namespaces(LabelSelector::default());
        assert!(refusal(all).contains("no such object of the cluster could be written"));
    }

    #[test]
    fn kinds_of_other_operators_are_declared_to_be_foreign() {
        let mut theirs = of::<ConfigMap>();
        theirs.declared.scope.group = "water.example.org".to_owned();
        theirs.declared.foreign = false;
        check(&theirs.declared).unwrap();
        let theirs = theirs.foreign();
        assert!(refusal(theirs).contains("says nothing of failures"));
    }

    #[test]
    fn what_the_api_server_refuses_is_refused_before() {
        let fine = || of::<ConfigMap>().failure_policy(Ignore);
        check(&fine().when("a", "object.metadata.name != 'x'").declared).unwrap();
        for (webhook, why) in [
            (fine().operations([]), "no operation"),
            (fine().timeout(Duration::from_millis(1500)), "1.5s"),
            (fine().timeout(Duration::from_secs(31)), "31s"),
            (fine().subresource("*"), "`*` is not a subresource"),
        ] {
            let refused = refusal(webhook);
            assert!(refused.contains(why), "{refused}");
            assert!(refused.contains("\n\nhint: "), "{refused}");
        }
        let mut wrong = selector();
        wrong.match_labels = Some([("a b".to_owned(), "c".to_owned())].into());
        assert!(refusal(fine().objects(wrong)).contains("`.objects(…)`"));
        let expression = serde_json::json!({"key": "team", "operator": "NotIn", "values": ["system"]});
        let placeholder = serde_json::from_value(serde_json::json!({"matchExpressions": [expression]})).unwrap();
        assert!(refusal(fine().namespaces(placeholder)).contains("stands for the operator's namespace"));
    }
}
