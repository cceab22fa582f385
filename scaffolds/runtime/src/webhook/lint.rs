//! Refuses webhooks that the API server would refuse, or that could block a cluster.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kubewright_machinery::{
    labels,
    names::{is_label, is_subdomain},
};

use super::{
    component::NAMESPACE,
    conditions,
    declare::{Declared, FailurePolicy},
    review::Operation,
};
use crate::error::{Error, Result};

/// The seconds that the API allows.
const SECONDS: std::ops::RangeInclusive<u64> = 1..=30;
/// Groups whose objects the API server, its leases or admission itself depend on. No webhook is called for the last
/// one's configurations anyway.
pub(crate) const UNTOUCHABLE: [(&str, &str); 4] = [
    (
        "coordination.k8s.io",
        "every controller of the cluster needs its leases",
    ),
    ("authentication.k8s.io", "every request may need it"),
    ("authorization.k8s.io", "every request may need it"),
    (
        "admissionregistration.k8s.io",
        "nobody could repair a webhook that is broken",
    ),
];

/// Checks a declaration.
///
/// # Errors
///
/// [`Error::Setup`] with what is wrong, and what to do.
pub(super) fn check(declared: &Declared) -> Result<()> {
    let checked = operations(declared)
        .and_then(|()| limits(declared))
        .and_then(|()| selector("namespaces", declared.namespaces.as_ref()))
        .and_then(|()| placeholder(declared.namespaces.as_ref()))
        .and_then(|()| selector("objects", declared.objects.as_ref()))
        .and_then(|()| conditions::check(declared))
        .and_then(|()| dangers(declared));
    checked.map_err(|[why, hint]| {
        let form = if declared.mutating { "defaulting" } else { "validating" };
        let text = format!("the {form} webhook of {} is refused: {why}", declared.kind);
        Error::Setup(format!("{text}\n\nhint: {hint}"))
    })
}

/// What is wrong, and a hint.
pub(crate) type Checked = Result<(), [String; 2]>;

pub(crate) fn wrong(why: impl Into<String>, hint: &str) -> Checked {
    Err([why.into(), hint.to_owned()])
}

fn operations(declared: &Declared) -> Checked {
    if declared.operations.is_empty() {
        return wrong("it is asked about no operation", "name one in `.operations(…)`");
    }
    if declared.mutating && declared.operations.contains(&Operation::Delete) {
        return wrong("a deletion has no object to change", "leave `Operation::Delete` out");
    }
    match declared.subresources.iter().find(|name| !is_label(name)) {
        Some(name) => wrong(format!("`{name}` is not a subresource"), "write it as `status`"),
        None => Ok(()),
    }
}

fn limits(declared: &Declared) -> Checked {
    let limit = declared.timeout;
    if limit.subsec_nanos() == 0 && SECONDS.contains(&limit.as_secs()) {
        return Ok(());
    }
    wrong(format!("its timeout is {limit:?}"), "pass 1 to 30 whole seconds")
}

/// The rules of label selectors (`k8s.io/apimachinery/pkg/apis/meta/v1/validation`).
pub(crate) fn selector(of: &str, selector: Option<&LabelSelector>) -> Checked {
    let Some(selector) = selector else { return Ok(()) };
    let (mut faults, mut keys) = (Vec::new(), Vec::new());
    for (key, value) in selector.match_labels.iter().flatten() {
        keys.push(key);
        faults.extend(labels::value(value));
    }
    for requirement in selector.match_expressions.iter().flatten() {
        keys.push(&requirement.key);
        let has_values = requirement.values.as_ref().is_some_and(|values| !values.is_empty());
        match (requirement.operator.as_str(), has_values) {
            ("In" | "NotIn", true) | ("Exists" | "DoesNotExist", false) => {}
            (operator, _) => faults.push(format!("operator `{operator}` does not fit its values")),
        }
        faults.extend(
            requirement
                .values
                .iter()
                .flatten()
                .flat_map(|value| labels::value(value)),
        );
    }
    faults.extend(keys.into_iter().flat_map(|key| labels::key(key)));
    match faults.first() {
        None => Ok(()),
        Some(fault) => wrong(fault.clone(), &format!("change the selector of `.{of}(…)`")),
    }
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

/// What could block a cluster. `*/*` cannot be declared, because a webhook is for objects of one type.
fn dangers(declared: &Declared) -> Checked {
    let untouchable = UNTOUCHABLE.iter().find(|(group, _)| *group == declared.group);
    if let Some((group, why)) = untouchable {
        return wrong(format!("no webhook may be asked about {group}: {why}"), "leave it out");
    }
    if !declared.foreign {
        return Ok(());
    }
    let selectors = [&declared.namespaces, &declared.objects];
    let is_selective = selectors
        .into_iter()
        .flatten()
        .any(|it| *it != LabelSelector::default());
    match declared.failure_policy {
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

/// Whether Kubernetes itself has kinds of this group: those of others have a domain of their own.
pub(crate) fn is_of_kubernetes(group: &str) -> bool {
    !is_subdomain(group) || !group.contains('.') || group.ends_with(".k8s.io")
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use k8s_openapi::api::{
        coordination::v1::Lease,
        core::v1::{ConfigMap, Pod},
    };

    use super::*;
    use crate::{
        object::Object,
        webhook::{Admission, Change, FailurePolicy::*, Validator, Verdict, Webhook, decide::Validating},
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
        theirs.declared.group = "water.example.org".to_owned();
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
