//! The spec of a Job, which a CronJob contains too.

use crate::kinds::{
    batch::{failure_policy::failure_policy, success_policy::success_policy},
    faults::Faults,
    kind::Warnings,
    located::Located,
    pod::{template::pod_template, warnings::template},
};

/// The maximum parallelism of an indexed Job.
const MOST_INDEXED: i64 = 100_000;

/// The maximum of `maxFailedIndexes`, and the one for more completions than `MOST_COMPLETIONS`.
const MOST_FAILED: i64 = 100_000;
const MOST_FAILED_OF_MANY: i64 = 10_000;

/// The maximum length of `managedBy`.
const LONGEST_MANAGER: usize = 63;

pub(in crate::kinds) fn validate(spec: &Located<'_>, faults: &mut Faults) {
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
    let manager = spec.get("managedBy");
    if manager.is_set() {
        faults.domain_prefixed_path(&manager);
        if manager.str().len() > LONGEST_MANAGER {
            faults.too_long(&manager, LONGEST_MANAGER);
        }
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

fn completion(spec: &Located<'_>, faults: &mut Faults) {
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
            let detail = format!("{} when completion mode is Indexed", at_most(MOST_INDEXED));
            faults.invalid(&spec.get("parallelism"), &detail);
        }
        if failed.is_set() && completions.is_set() && failed.int() > completions.int() {
            faults.invalid(&failed, "must be less than or equal to completions");
        }
        if failed.int() > MOST_FAILED {
            faults.invalid(&failed, &at_most(MOST_FAILED));
        }
        if completions.int() > MOST_COMPLETIONS && per_index.is_set() {
            many_completions(spec, faults);
        }
    } else if matches!(mode.str(), "" | "NonIndexed") {
        for at in [per_index, failed].into_iter().filter(Located::is_set) {
            faults.invalid(&at, "requires indexed completion mode");
        }
    }
}

/// The limits of an indexed Job with more completions than `MOST_COMPLETIONS` and a `backoffLimitPerIndex`.
fn many_completions(spec: &Located<'_>, faults: &mut Faults) {
    let (failed, at_once) = (spec.get("maxFailedIndexes"), spec.get("parallelism"));
    if !failed.is_set() {
        let detail = format!("must be specified when completions is above {MOST_COMPLETIONS}");
        faults.required(&failed, &detail);
    }
    for (number, most) in [(at_once, MOST_AT_ONCE), (failed, MOST_FAILED_OF_MANY)] {
        if number.int() > most {
            let detail = format!(
                "{} when completions are above {MOST_COMPLETIONS} and used with backoff limit per index",
                at_most(most)
            );
            faults.invalid(&number, &detail);
        }
    }
}

fn at_most(most: i64) -> String {
    format!("must be less than or equal to {most}")
}

/// With more completions than this, and a higher parallelism than the next constant, Kubernetes might not be able to
/// track all indexes.
const MOST_COMPLETIONS: i64 = 100_000;

const MOST_AT_ONCE: i64 = 10_000;

pub(in crate::kinds) fn warn(spec: &Located<'_>, warnings: &mut Warnings) {
    let (completions, at_once) = (spec.get("completions").int(), spec.get("parallelism").int());
    let is_indexed = spec.get("completionMode").str() == "Indexed";
    if is_indexed && completions > MOST_COMPLETIONS && at_once > MOST_AT_ONCE {
        warnings.push(format!(
            "{}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes \
             might not be able to track completedIndexes when a big number of indexes fail",
            spec.path
        ));
    }
    template(&spec.get("template"), warnings);
}
