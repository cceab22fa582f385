//! The podFailurePolicy and the successPolicy of a Job.

use serde_json::Value;

use super::{
    super::fields::{items, text},
    indexes::IndexSet,
};
use crate::meta;

/// The consequence of a failed Pod.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Consequence {
    /// It counts as a failure.
    Counts,
    /// It does not count.
    Ignored,
    /// Its index fails, without further attempts.
    FailsIndex,
    /// The Job fails, with this message.
    FailsJob(String),
}

/// The consequence of a failed Pod by the first rule that matches.
pub(super) fn consequence(job: &Value, pod: &Value) -> Consequence {
    let rules = items(job, "/spec/podFailurePolicy/rules");
    let matched = rules.iter().enumerate().find_map(|(at, rule)| {
        let why = match rule["onExitCodes"].is_object() {
            true => exit_code(rule, pod),
            false => condition(rule, pod),
        };
        Some((at, rule, why?))
    });
    let Some((at, rule, why)) = matched else {
        return Consequence::Counts;
    };
    match text(rule, "/action") {
        "Ignore" => Consequence::Ignored,
        "FailIndex" => Consequence::FailsIndex,
        "FailJob" => Consequence::FailsJob(format!("{why} matching FailJob rule at index {at}")),
        _ => Consequence::Counts,
    }
}

/// The start of the message about a container that has ended with one of the rule's codes.
fn exit_code(rule: &Value, pod: &Value) -> Option<String> {
    let container = rule.pointer("/onExitCodes/containerName").and_then(Value::as_str);
    let values = items(rule, "/onExitCodes/values");
    let is_listed = text(rule, "/onExitCodes/operator") == "In";
    let statuses = ["/status/containerStatuses", "/status/initContainerStatuses"];
    let mut ended = statuses.iter().flat_map(|list| items(pod, list)).filter_map(|status| {
        let code = status.pointer("/state/terminated/exitCode")?;
        let name = text(status, "/name");
        let is_meant = container.is_none_or(|container| container == name);
        (is_meant && *code != 0).then_some((name, code))
    });
    let (name, code) = ended.find(|(_, code)| values.contains(code) == is_listed)?;
    Some(format!(
        "Container {name} for pod {} failed with exit code {code}",
        named(pod)
    ))
}

/// The start of the message about a condition that the rule lists.
fn condition(rule: &Value, pod: &Value) -> Option<String> {
    let patterns = items(rule, "/onPodConditions");
    let is_listed = |condition: &&Value| {
        let same = |pattern: &Value| {
            ["type", "status"]
                .iter()
                .all(|field| pattern[*field] == condition[*field])
        };
        patterns.iter().any(same)
    };
    let found = items(pod, "/status/conditions").iter().find(is_listed)?;
    Some(format!("Pod {} has condition {}", named(pod), text(found, "/type")))
}

fn named(pod: &Value) -> String {
    format!("{}/{}", meta::text(pod, "namespace"), meta::text(pod, "name"))
}

/// The message about the first rule of the successPolicy that these indexes meet.
pub(super) fn success(job: &Value, completions: i64, succeeded: &IndexSet) -> Option<String> {
    let rules = items(job, "/spec/successPolicy/rules");
    let is_met = |rule: &Value| {
        let count = rule["succeededCount"].as_i64();
        let Some(text) = rule["succeededIndexes"].as_str() else {
            return count.is_some_and(|count| succeeded.count() >= count);
        };
        let wanted = IndexSet::parse(text, completions);
        let found = wanted.common(succeeded);
        !wanted.is_empty() && (found == wanted.count() || count.is_some_and(|count| found >= count))
    };
    let met = rules.iter().position(is_met).filter(|_| !succeeded.is_empty())?;
    Some(format!("Matched rules at index {met}"))
}
