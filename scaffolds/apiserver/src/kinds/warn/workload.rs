//! Pods and what makes Pods.

use super::{Change, Said, is_another, storage::claim_spec, template::template};
use crate::kinds::{at::At, check};

/// More completions and more at a time than these are too many to keep account of.
const MOST_COMPLETIONS: i64 = 100_000;
const MOST_AT_ONCE: i64 = 10_000;

/// Of a new Pod; of changed ones nothing is said.
pub(in crate::kinds) fn pod((at, old): Change<'_, '_>) -> Said {
    if old.is_some() {
        return Vec::new();
    }
    let mut said = name(at, "the Pod's hostname");
    template(at, &mut said);
    said
}

/// Of what has its template at `spec.template`, and its Pods' names from its own.
pub(in crate::kinds) fn named_set((at, old): Change<'_, '_>) -> Said {
    let mut said = new_name(at, old);
    if is_another((at, old)) {
        template(&at.at("spec.template"), &mut said);
    }
    said
}

/// Of a DaemonSet.
pub(in crate::kinds) fn daemon_set((at, old): Change<'_, '_>) -> Said {
    const GENERATION: &str = "deprecated.daemonset.template.generation";
    let generation = |at: &At<'_>| at.at("metadata.annotations").get(GENERATION).str().to_owned();
    let mut said = Vec::new();
    if old.is_none_or(|old| generation(old) != generation(at)) {
        template(&at.at("spec.template"), &mut said);
    }
    said
}

/// Of a StatefulSet.
pub(in crate::kinds) fn stateful_set((at, old): Change<'_, '_>) -> Said {
    let mut said = Vec::new();
    let spec = at.get("spec");
    if is_another((at, old)) {
        template(&spec.get("template"), &mut said);
    }
    for claim in spec.get("volumeClaimTemplates").items() {
        let path = match old {
            None => claim.path.clone(),
            Some(_) => format!("{}.Spec", claim.path),
        };
        claim_spec(&claim.get("spec").called(&path), &mut said);
    }
    if spec.get("revisionHistoryLimit").int() < 0 {
        said.push(
            "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
                .to_owned(),
        );
    }
    said
}

/// Of a PodTemplate.
pub(in crate::kinds) fn pod_template((at, old): Change<'_, '_>) -> Said {
    let mut said = Vec::new();
    if is_another((at, old)) {
        template(&at.get("template"), &mut said);
    }
    said
}

/// Of a Job.
pub(in crate::kinds) fn job((at, old): Change<'_, '_>) -> Said {
    let mut said = new_name(at, old);
    if is_another((at, old)) {
        job_spec(&at.get("spec"), &mut said);
    }
    said
}

/// Of a CronJob.
pub(in crate::kinds) fn cron_job((at, old): Change<'_, '_>) -> Said {
    let mut said = new_name(at, old);
    if is_another((at, old)) {
        job_spec(&at.at("spec.jobTemplate.spec"), &mut said);
    }
    if old.is_some() && at.at("spec.schedule").str().contains("TZ") {
        said.push(
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
             https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
                .to_owned(),
        );
    }
    said
}

fn job_spec(spec: &At<'_>, said: &mut Said) {
    let (completions, at_once) = (spec.get("completions").int(), spec.get("parallelism").int());
    let is_indexed = spec.get("completionMode").str() == "Indexed";
    if is_indexed && completions > MOST_COMPLETIONS && at_once > MOST_AT_ONCE {
        said.push(format!(
            "{}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes \
             might not be able to track completedIndexes when a big number of indexes fail",
            spec.path
        ));
    }
    template(&spec.get("template"), said);
}

fn new_name(at: &At<'_>, old: Option<&At<'_>>) -> Said {
    match old {
        None => name(at, "Pod names and hostnames"),
        Some(_) => Vec::new(),
    }
}

/// Names of Pods and their hosts begin with the name of the object.
fn name(at: &At<'_>, use_: &str) -> Said {
    let sentences = check::label(at.at("metadata.name").str());
    if sentences.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "metadata.name: this is used in {use_}, which can result in surprising behavior; a DNS label is recommended: [{}]",
        sentences.join(" ")
    )]
}
