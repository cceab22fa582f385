//! Jobs and CronJobs.

use serde_json::{Value, json};

use super::{
    cron,
    failure_policy::failure_policy,
    labels::{is_sound, selector, selects, shown},
    pod::pod_template,
    success_policy::success_policy,
    workload::matches,
};
use crate::kinds::at::{At, Faults};

pub(in crate::kinds) fn job(at: &At<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    generated(at, faults);
    selected_job(&spec, faults);
}

/// The spec of a Job that has its selector.
fn selected_job(spec: &At<'_>, faults: &mut Faults) {
    job_spec(spec, faults);
    let found = spec.get("selector");
    if found.is_set() {
        selector(&found, faults);
    } else {
        faults.required(&found, "");
    }
    if is_sound(&found) {
        matches(spec, faults);
    }
}

/// The labels that the server gives to a Job's Pods, and the selector of them.
fn generated(job: &At<'_>, faults: &mut Faults) {
    let spec = job.get("spec");
    if spec.get("manualSelector").is_true() || !spec.get("selector").is_set() {
        return;
    }
    let (uid, name) = (job.at("metadata.uid").str(), job.at("metadata.name").str());
    let metadata = spec.at("template.metadata");
    let found = metadata.get("labels");
    let wanted = [
        ("controller-uid", uid),
        ("job-name", name),
        ("batch.kubernetes.io/controller-uid", uid),
        ("batch.kubernetes.io/job-name", name),
    ];
    for (key, value) in wanted {
        let actual = found.get(key);
        let path = format!("{}.labels", metadata.path);
        if !actual.is_set() {
            faults.required(&found.called(&path), &format!("must be '{value}'"));
        } else if actual.str() != value {
            let detail = format!("must be '{value}'");
            faults.invalid(&found.called(&path), &detail);
        }
    }
    let labels: Value = wanted
        .into_iter()
        .map(|(key, value)| (key.to_owned(), json!(value)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    if !selects(&spec.get("selector"), &At::root(&labels)) {
        let at = spec.get("selector");
        faults.invalid_as(&at, &shown(&at), "`selector` not auto-generated");
    }
}

/// The most Pods of an indexed Job.
const MOST_INDEXED: i64 = 100_000;

pub(super) fn job_spec(spec: &At<'_>, faults: &mut Faults) {
    for name in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        faults.not_negative(&spec.get(name));
    }
    let (failed, per_index) = (spec.get("maxFailedIndexes"), spec.get("backoffLimitPerIndex"));
    if failed.is_set() && !per_index.is_set() {
        faults.required(&per_index, "when maxFailedIndexes is specified");
    }
    completion(spec, faults);
    failure_policy(spec, faults);
    success_policy(spec, faults);
    let replacement = spec.get("podReplacementPolicy");
    if replacement.is_set() {
        let known: &[&str] = if spec.get("podFailurePolicy").is_set() {
            &["Failed"]
        } else {
            &["Failed", "TerminatingOrFailed"]
        };
        faults.one_of(&replacement, known);
    }
    let template = spec.get("template");
    pod_template(&template, faults);
    let policy = template.at("spec.restartPolicy");
    match policy.str() {
        "Always" | "" => faults.required(&policy, "valid values: \"OnFailure\", \"Never\""),
        "OnFailure" if spec.get("podFailurePolicy").is_set() => {
            faults.invalid(
                &policy,
                "only \"Never\" is supported when podFailurePolicy is specified",
            );
        }
        "OnFailure" | "Never" => {}
        _ => faults.not_supported(&policy, &["OnFailure", "Never"]),
    }
}

fn completion(spec: &At<'_>, faults: &mut Faults) {
    let (mode, completions) = (spec.get("completionMode"), spec.get("completions"));
    let (failed, per_index) = (spec.get("maxFailedIndexes"), spec.get("backoffLimitPerIndex"));
    if mode.is_set() {
        faults.one_of(&mode, &["NonIndexed", "Indexed"]);
    }
    if mode.str() == "Indexed" {
        if !completions.is_set() {
            faults.required(&completions, "when completion mode is Indexed");
        }
        if spec.get("parallelism").int() > MOST_INDEXED {
            let detail = "must be less than or equal to 100000 when completion mode is Indexed";
            faults.invalid(&spec.get("parallelism"), detail);
        }
        if failed.is_set() && completions.is_set() && failed.int() > completions.int() {
            faults.invalid(&failed, "must be less than or equal to completions");
        }
    } else if matches!(mode.str(), "" | "NonIndexed") {
        for at in [per_index, failed].into_iter().filter(At::is_set) {
            faults.invalid(&at, "requires indexed completion mode");
        }
    }
}

pub(in crate::kinds) fn job_update(new: &At<'_>, old: &At<'_>, faults: &mut Faults) {
    let (spec, before) = (new.get("spec"), old.get("spec"));
    generated(new, faults);
    // The server looks at it twice.
    selected_job(&spec, faults);
    selected_job(&spec, faults);
    let found = spec.get("selector");
    let (completions, was) = (spec.get("completions"), before.get("completions"));
    if spec.get("completionMode").str() != "Indexed" {
        faults.immutable(&completions, &was);
    } else if completions.is_set()
        && completions.value != was.value
        && completions.int() != spec.get("parallelism").int()
    {
        faults.invalid(&completions, "can only be modified in tandem with spec.parallelism");
    }
    faults.immutable(&found, &before.get("selector"));
    job_template(&spec, &before, faults);
    for name in [
        "completionMode",
        "podFailurePolicy",
        "backoffLimitPerIndex",
        "managedBy",
        "successPolicy",
    ] {
        faults.immutable(&spec.get(name), &before.get(name));
    }
}

/// The template may not change but for where its Pods run, while the Job is suspended and has not started.
fn job_template(spec: &At<'_>, before: &At<'_>, faults: &mut Faults) {
    let (new, old) = (spec.get("template"), before.get("template"));
    let free = ["nodeSelector", "affinity", "tolerations", "schedulingGates"];
    let is_free = before.get("suspend").is_true();
    let comparable = |template: &At<'_>| {
        let mut value = template.value.clone();
        if let (true, Some(fields)) = (is_free, value.get_mut("spec").and_then(Value::as_object_mut)) {
            fields.retain(|name, _| !free.contains(&name.as_str()));
        }
        if let (true, Some(fields)) = (is_free, value.get_mut("metadata").and_then(Value::as_object_mut)) {
            fields.retain(|name, _| !matches!(name.as_str(), "labels" | "annotations"));
        }
        value
    };
    if comparable(&new) != comparable(&old) {
        faults.invalid(&new, "field is immutable");
    }
}

pub(in crate::kinds) fn cron_job(at: &At<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    let schedule = spec.get("schedule");
    if schedule.str().is_empty() {
        faults.required(&schedule, "");
    } else {
        if let Err(sentence) = cron::is_schedule(schedule.str()) {
            faults.invalid(&schedule, &sentence);
        }
        if schedule.str().contains("TZ") {
            faults.invalid(
                &schedule,
                "cannot use TZ or CRON_TZ in schedule, use timeZone field instead",
            );
        }
    }
    faults.not_negative(&spec.get("startingDeadlineSeconds"));
    time_zone(&spec.get("timeZone"), faults);
    faults.one_of(&spec.get("concurrencyPolicy"), &["Allow", "Forbid", "Replace"]);
    let template = spec.at("jobTemplate.spec");
    if template.get("selector").is_set() {
        faults.invalid(&template.get("selector"), "`selector` will be auto-generated");
    }
    if template.get("manualSelector").is_true() {
        faults.not_supported_as(&template.get("manualSelector"), "true", &["nil", "false"]);
    }
    job_spec(&template, faults);
    faults.not_negative(&spec.get("successfulJobsHistoryLimit"));
    faults.not_negative(&spec.get("failedJobsHistoryLimit"));
    let name = at.at("metadata.name");
    if name.str().len() > 52 {
        faults.invalid(&name, "must be no more than 52 characters");
    }
}

/// The names of the time zone database that Go brings along.
const ZONES: &str = include_str!("../zones.txt");

fn time_zone(at: &At<'_>, faults: &mut Faults) {
    if !at.is_set() {
        return;
    }
    if at.str().is_empty() {
        return faults.invalid(at, "timeZone must be nil or non-empty string");
    }
    let fits = |part: &str| {
        let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+".contains(&byte);
        !matches!(part, "." | "..")
            && !part.starts_with('-')
            && !part.is_empty()
            && part.len() <= 255
            && part.bytes().all(inner)
    };
    if !at.str().split('/').all(fits) {
        return faults.invalid(at, &format!("unknown time zone {}", at.str()));
    }
    if at.str().eq_ignore_ascii_case("local") {
        let detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones";
        faults.invalid(at, detail);
    }
    if !matches!(at.str(), "UTC" | "Local") && !ZONES.lines().any(|zone| zone == at.str()) {
        faults.invalid(at, &format!("unknown time zone {}", at.str()));
    }
}
