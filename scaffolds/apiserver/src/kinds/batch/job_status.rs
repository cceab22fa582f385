//! The status of a Job: validates what a client writes. Most rules apply only to what the write changes.

use std::collections::BTreeSet;

use serde_json::json;

use crate::kinds::{
    faults::{Faults, quoted, shown},
    located::Located,
};

/// The conditions with which a Job ends, or is about to.
struct EndingConditions {
    complete: bool,
    failed: bool,
    failure_target: bool,
    success: bool,
}

impl EndingConditions {
    fn of(status: &Located<'_>) -> Self {
        Self {
            complete: has(status, "Complete", "True"),
            failed: has(status, "Failed", "True"),
            failure_target: has(status, "FailureTarget", "True"),
            success: has(status, "SuccessCriteriaMet", "True"),
        }
    }

    fn is_finished(&self) -> bool {
        self.complete || self.failed
    }
}

/// The Job before and after a write of its status.
struct StatusChange<'c, 'v> {
    spec: Located<'v>,
    now: Located<'v>,
    was: Located<'v>,
    end: &'c EndingConditions,
    before: &'c EndingConditions,
}

impl StatusChange<'_, '_> {
    fn changes(&self, field: &str) -> bool {
        self.now.get(field).value != self.was.get(field).value
    }

    fn changes_number(&self, field: &str) -> bool {
        self.now.get(field).int() != self.was.get(field).int()
    }

    fn finishes(&self) -> bool {
        self.end.is_finished() != self.before.is_finished()
    }

    fn completes(&self) -> bool {
        self.end.complete != self.before.complete
    }

    fn fails(&self) -> bool {
        self.end.failed != self.before.failed
    }
}

pub(super) fn has(status: &Located<'_>, kind: &str, state: &str) -> bool {
    let mut conditions = status.get("conditions").items();
    conditions.any(|condition| condition.get("type").str() == kind && condition.get("status").str() == state)
}

pub(super) fn validate(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let (now, was) = (new.get("status"), old.get("status"));
    let (end, before) = (EndingConditions::of(&now), EndingConditions::of(&was));
    let change = StatusChange {
        spec: new.get("spec"),
        now,
        was,
        end: &end,
        before: &before,
    };
    for name in ["active", "succeeded", "failed", "ready", "terminating"] {
        faults.not_negative(&change.now.get(name));
    }
    uncounted(&change, faults);
    conditions(&contradictions(&change), &change, faults);
    completion_time(&change, faults);
    conditions(&required_conditions(&change), &change, faults);
    finished(&change, faults);
    indexes(&change, faults);
    pods(&change, faults);
    conditions(&successes(&change), &change, faults);
    changes(&change, faults);
}

/// The UIDs of Pods that have ended and are not yet counted.
fn uncounted(change: &StatusChange<'_, '_>, faults: &mut Faults) {
    let pods = change.now.get("uncountedTerminatedPods");
    let (succeeded, failed) = (pods.get("succeeded"), pods.get("failed"));
    let mut seen = BTreeSet::new();
    for uid in succeeded.items().chain(failed.items()) {
        match uid.str() {
            "" => faults.invalid(&uid, "must not be empty"),
            text if !seen.insert(text) => faults.duplicate(&uid),
            _ => {}
        }
    }
}

/// A rule about conditions: whether it is broken, and the error.
type ConditionRule = (bool, &'static str);

fn conditions(rules: &[ConditionRule], change: &StatusChange<'_, '_>, faults: &mut Faults) {
    for (_, sentence) in rules.iter().filter(|(is_broken, _)| *is_broken) {
        faults.wrong(&change.now.get("conditions"), sentence);
    }
}

/// Conditions that exclude each other.
fn contradictions(change: &StatusChange<'_, '_>) -> [ConditionRule; 2] {
    let (end, before) = (change.end, change.before);
    [
        (
            (change.completes() || change.fails()) && end.complete && end.failed,
            "cannot set Complete=True and Failed=true conditions",
        ),
        (
            (change.completes() || end.failure_target != before.failure_target) && end.complete && end.failure_target,
            "cannot set Complete=True and FailureTarget=true conditions",
        ),
    ]
}

/// Conditions that require another one.
fn required_conditions(change: &StatusChange<'_, '_>) -> [ConditionRule; 2] {
    let (end, before) = (change.end, change.before);
    [
        (
            (change.fails() || change.changes("failedIndexes")) && end.failed && !end.failure_target,
            "cannot set Failed=True condition without the FailureTarget=true condition",
        ),
        (
            (change.completes() || end.success != before.success) && end.complete && !end.success,
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
        ),
    ]
}

/// Conditions about the success of a Job.
fn successes(change: &StatusChange<'_, '_>) -> [ConditionRule; 3] {
    let end = change.end;
    [
        (
            end.success && end.failed,
            "cannot set SuccessCriteriaMet=True and Failed=true conditions",
        ),
        (
            end.success && end.failure_target,
            "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions",
        ),
        (
            change.spec.get("successPolicy").is_set() && !end.success && end.complete,
            "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True",
        ),
    ]
}

/// The time at which the Job was completed.
fn completion_time(change: &StatusChange<'_, '_>, faults: &mut Faults) {
    let (start, completion) = (change.now.get("startTime"), change.now.get("completionTime"));
    let (starts, ends) = (change.changes("startTime"), change.changes("completionTime"));
    if change.completes() || ends {
        match (completion.is_set(), change.end.complete) {
            (true, false) => faults.invalid(
                &completion,
                "cannot set completionTime when there is no Complete=True condition",
            ),
            (false, true) => faults.required(&completion, "completionTime is required for Complete jobs"),
            _ => {}
        }
    }
    // Both have the format that sorts by time.
    if (starts || ends) && start.is_set() && completion.is_set() && completion.str() < start.str() {
        faults.invalid(&completion, "must be equal to or after `startTime`");
    }
}

/// The fields that a finished Job must have, or must not have.
fn finished(change: &StatusChange<'_, '_>, faults: &mut Faults) {
    if !change.end.is_finished() {
        return;
    }
    let active = change.now.get("active");
    if (change.finishes() || change.changes_number("active")) && active.int() > 0 {
        faults.invalid(&active, "active>0 is invalid for finished job");
    }
    let start = change.now.get("startTime");
    let is_empty = change.spec.get("suspend").is_true() && change.spec.get("completions").value == &json!(0);
    if (change.finishes() || change.changes("startTime")) && !is_empty && !start.is_set() {
        faults.required(&start, "startTime is required for finished job");
    }
    let pods = change.now.get("uncountedTerminatedPods");
    let (succeeded, failed) = (pods.get("succeeded"), pods.get("failed"));
    let is_new = change.finishes() || change.changes("uncountedTerminatedPods");
    if is_new && succeeded.len() + failed.len() > 0 {
        let list = |at: &Located<'_>| if at.len() == 0 { json!(null) } else { at.value.clone() };
        let value = format!(r#"{{"Succeeded":{},"Failed":{}}}"#, list(&succeeded), list(&failed));
        faults.invalid_as(&pods, &value, "must be empty for finished job");
    }
}

/// The numbers of Pods that terminate or are ready.
fn pods(change: &StatusChange<'_, '_>, faults: &mut Faults) {
    let terminating = change.now.get("terminating");
    let is_new = change.finishes() || change.changes("terminating");
    if is_new && terminating.int() > 0 && change.end.is_finished() {
        faults.invalid(&terminating, "terminating>0 is invalid for finished job");
    }
    let (active, ready) = (change.now.get("active"), change.now.get("ready"));
    if (change.changes("ready") || change.changes_number("active")) && ready.int() > active.int() {
        faults.invalid(&ready, "cannot set more ready pods than active");
    }
}

/// The changes that are forbidden whatever the next status is.
fn changes(change: &StatusChange<'_, '_>, faults: &mut Faults) {
    let (end, before) = (change.end, change.before);
    let terminal = [
        (
            before.failed && !end.failed,
            "cannot disable the terminal Failed=True condition",
        ),
        (
            before.complete && !end.complete,
            "cannot disable the terminal Complete=True condition",
        ),
        (
            before.failure_target && !end.failure_target,
            "cannot disable the terminal FailureTarget=True condition",
        ),
    ];
    conditions(&terminal, change, faults);
    // An indexed Job with as many Pods as completions can be scaled down.
    let scales = is_indexed(change) && change.spec.get("completions").value == change.spec.get("parallelism").value;
    for (name, may_decrease) in [("failed", false), ("succeeded", scales)] {
        let number = change.now.get(name);
        if !may_decrease && number.int() < change.was.get(name).int() {
            let sentence = format!("cannot decrease the {name} counter");
            faults.invalid_as(&number, &number.int().to_string(), &sentence);
        }
    }
    let (start, completion) = (change.now.get("startTime"), change.now.get("completionTime"));
    if change.changes("completionTime") && completion.is_set() && change.was.get("completionTime").is_set() {
        faults.invalid(&completion, "field is immutable");
    }
    let resumes = has(&change.was, "Suspended", "True") && has(&change.now, "Suspended", "False");
    let is_suspended = change.spec.get("suspend").is_true();
    if change.changes("startTime") && !resumes && change.was.get("startTime").is_set() && !is_suspended {
        faults.invalid(&start, "field is immutable for unsuspended job once set");
    }
    let success = [
        (
            before.success && !end.success,
            "cannot disable the SuccessCriteriaMet=True condition",
        ),
        (
            before.complete && !before.success && end.success,
            "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions",
        ),
    ];
    conditions(&success, change, faults);
}

fn is_indexed(change: &StatusChange<'_, '_>) -> bool {
    change.spec.get("completionMode").str() == "Indexed"
}

/// The indexes that were completed or have failed, such as `1,3-5`.
fn indexes(change: &StatusChange<'_, '_>, faults: &mut Faults) {
    let (completed, failed) = (change.now.get("completedIndexes"), change.now.get("failedIndexes"));
    let (completes, fails) = (change.changes("completedIndexes"), change.changes("failedIndexes"));
    let count = change.spec.get("completions").value.as_i64();
    let has_limit = change.spec.get("backoffLimitPerIndex").is_set();
    for (at, is_checked) in [
        (&completed, completes),
        (&failed, fails && has_limit && failed.is_set()),
    ] {
        if let (true, Some(count)) = (is_checked, count)
            && let Err(why) = intervals(at.str(), count)
        {
            let name = at.path.rsplit('.').next().unwrap_or_default();
            faults.invalid_as(at, &quoted(at.str()), &format!("error parsing {name}: {why}"));
        }
    }
    if completes && !completed.str().is_empty() && !is_indexed(change) {
        faults.invalid(
            &completed,
            "cannot set non-empty completedIndexes when non-indexed completion mode",
        );
    }
    if fails && !has_limit && failed.is_set() {
        faults.invalid(
            &failed,
            "cannot set non-null failedIndexes when backoffLimitPerIndex is null",
        );
    }
    if let (true, Some(count), true) = (fails || completes, count, failed.is_set())
        && let Some(index) = overlap(completed.str(), failed.str(), count)
    {
        let sentence = format!("failedIndexes and completedIndexes overlap at index: {index}");
        faults.invalid_as(&failed, &shown(failed.value), &sentence);
    }
}

/// Checks that intervals are in order and below the number of completions.
fn intervals(text: &str, count: i64) -> Result<(), String> {
    let mut last = None;
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (first, end) = interval(part, count)?;
        if let Some(last) = last.filter(|last| *last >= first) {
            return Err(format!("non-increasing order, previous: {last}, current: {first}"));
        }
        last = Some(end);
    }
    Ok(())
}

fn interval(text: &str, count: i64) -> Result<(i64, i64), String> {
    let parts: Vec<&str> = text.split('-').collect();
    if parts.len() > 2 {
        let text = quoted(text);
        return Err(format!(
            "the fragment {text} violates the requirement that an index interval can have at most two parts separated by '-'"
        ));
    }
    let index = |text: &str| match text.parse::<i64>() {
        Err(_) => Err(format!("cannot convert string to integer for index: {}", quoted(text))),
        Ok(index) if index >= count => Err(format!("too large index: {}", quoted(text))),
        Ok(index) => Ok(index),
    };
    let first = index(parts[0])?;
    let Some(end) = parts.get(1) else {
        return Ok((first, first));
    };
    let end = index(end)?;
    if first >= end {
        return Err(format!("non-increasing order, previous: {first}, current: {end}"));
    }
    Ok((first, end))
}

/// The first index in both texts, whose malformed intervals do not count.
fn overlap(completed: &str, failed: &str, count: i64) -> Option<i64> {
    let read =
        |text: &str| -> Vec<(i64, i64)> { text.split(',').filter_map(|part| interval(part, count).ok()).collect() };
    let (completed, failed) = (read(completed), read(failed));
    let (mut one, mut other) = (completed.iter().peekable(), failed.iter().peekable());
    while let (Some((first, end)), Some((failed_first, failed_end))) = (one.peek(), other.peek()) {
        if first <= failed_end && failed_first <= end {
            return Some(*first.max(failed_first));
        }
        if first <= failed_first {
            one.next();
        } else {
            other.next();
        }
    }
    None
}
