//! The next step of a CronJob: Jobs to delete, its status, and the time for which a Job is due.

use kubewright_machinery::time;
use serde_json::{Value, json};

use super::{
    super::{
        fields::{self, items, text},
        jobs::end,
        write::Write,
    },
    times::Times,
};
use crate::meta;

/// The next step of a CronJob.
#[derive(Debug, Default)]
pub(super) struct CronPlan {
    /// The Jobs to delete.
    pub writes: Vec<Write>,
    pub status: Value,
    /// The time for which a Job is due.
    pub due: Option<i64>,
    /// When to decide again.
    pub again: Option<i64>,
    /// Reasons and messages of Events about what was found.
    pub events: Vec<(&'static str, String)>,
}

impl CronPlan {
    /// Deletes a Job with its Pods, and removes it from the status.
    fn delete(&mut self, job: &Value) {
        if !meta::is_deleting(job) {
            self.writes.push(Write::Cascade(job.clone(), "Background"));
            let message = format!("Deleted job {}", meta::text(job, "name"));
            self.events.push(("SuccessfulDelete", message));
        }
        self.remove_active(meta::text(job, "uid"));
    }

    /// Removes a Job from the status; returns whether it was there.
    fn remove_active(&mut self, uid: &str) -> bool {
        let mut active = items(&self.status, "/active").to_vec();
        let before = active.len();
        active.retain(|it| it["uid"] != uid);
        let is_removed = active.len() < before;
        if let Some(status) = self.status.as_object_mut() {
            match active.is_empty() {
                true => _ = status.remove("active"),
                false => _ = status.insert("active".to_owned(), active.into()),
            }
        }
        is_removed
    }
}

/// The next step. `times` is absent if the CronJob has no valid schedule or time zone.
pub(super) fn decide(cron: &Value, jobs: &[Value], times: Option<&Times>, now: i64) -> CronPlan {
    let mut plan = CronPlan {
        status: cron["status"].clone(),
        ..CronPlan::default()
    };
    clean_up(&mut plan, cron, jobs);
    follow(&mut plan, jobs);
    if meta::is_deleting(cron) || cron["spec"]["suspend"] == true {
        return plan;
    }
    if let Some(times) = times {
        start(&mut plan, cron, jobs, &ScheduleNow { times, now });
    }
    plan
}

/// A schedule, and the present time.
struct ScheduleNow<'a> {
    times: &'a Times,
    now: i64,
}

impl ScheduleNow<'_> {
    /// The latest time of the schedule after `earliest` that is not in the future.
    fn latest(&self, earliest: i64) -> Option<i64> {
        let first = self.times.next(earliest).filter(|at| *at <= self.now)?;
        let Some(second) = self.times.next(first).filter(|at| *at <= self.now) else {
            return Some(first);
        };
        // Years may have passed: the search begins close to the present, as upstream.
        let between = second - first;
        let skipped = (self.now - first) / between - 1;
        let later = std::iter::successors(self.times.next(first + skipped * between), |at| self.times.next(*at));
        later.take_while(|at| *at <= self.now).last()
    }
}

/// Deletes the oldest finished Jobs beyond the limits.
fn clean_up(plan: &mut CronPlan, cron: &Value, jobs: &[Value]) {
    for (field, name) in [
        ("successfulJobsHistoryLimit", "Complete"),
        ("failedJobsHistoryLimit", "Failed"),
    ] {
        let Some(limit) = cron["spec"][field].as_u64() else {
            continue;
        };
        let ended = |job: &&Value| end(job).is_some_and(|end| end["type"] == name);
        let mut ended: Vec<&Value> = jobs.iter().filter(ended).collect();
        // Those that have not started come last.
        ended.sort_by_key(|job| {
            let start = time::seconds(text(job, "/status/startTime"));
            (start.is_none(), start, meta::text(job, "name"))
        });
        let surplus = ended.len().saturating_sub(usize::try_from(limit).unwrap_or(usize::MAX));
        ended.iter().take(surplus).for_each(|job| plan.delete(job));
    }
}

/// Removes the Jobs from the status that have ended or are gone, and writes the time of the last success.
fn follow(plan: &mut CronPlan, jobs: &[Value]) {
    for job in jobs {
        let Some(end) = end(job) else { continue };
        if plan.remove_active(meta::text(job, "uid")) {
            let (name, condition) = (meta::text(job, "name"), text(end, "/type"));
            let message = format!("Saw completed job: {name}, condition: {condition}");
            plan.events.push(("SawCompletedJob", message));
        }
        let completed = text(job, "/status/completionTime");
        let last = time::seconds(text(&plan.status, "/lastSuccessfulTime"));
        if end["type"] == "Complete" && time::seconds(completed) > last {
            plan.status["lastSuccessfulTime"] = json!(completed);
        }
    }
    for gone in items(&plan.status.clone(), "/active") {
        if !jobs.iter().any(|job| gone["uid"] == meta::text(job, "uid")) {
            plan.remove_active(text(gone, "/uid"));
            let message = format!("Active job went missing: {}", text(gone, "/name"));
            plan.events.push(("MissingJob", message));
        }
    }
}

/// Plans the Job that is due, and the deletion of running Jobs that it replaces.
fn start(plan: &mut CronPlan, cron: &Value, jobs: &[Value], at: &ScheduleNow<'_>) {
    let last = time::seconds(text(&plan.status, "/lastScheduleTime"));
    let since = last.unwrap_or_else(|| fields::created(cron));
    let deadline = cron["spec"]["startingDeadlineSeconds"].as_i64().map(fields::go_seconds);
    let earliest = deadline.map_or(since, |seconds| since.max(at.now - seconds));
    let next = at.times.next(at.latest(since).unwrap_or(since));
    plan.again = next.filter(|next| *next > at.now).or_else(|| at.times.next(at.now));
    let Some(due) = at.latest(earliest) else { return };
    let name = name(cron, due);
    let is_active = items(&plan.status, "/active").iter().any(|it| it["name"] == name);
    if is_active || last == Some(due) || deadline.is_some_and(|seconds| due + seconds < at.now) {
        return;
    }
    let active = items(&plan.status, "/active").to_vec();
    match text(cron, "/spec/concurrencyPolicy") {
        "Forbid" if !active.is_empty() => return,
        "Replace" => {
            let is_active = |job: &&Value| active.iter().any(|it| it["uid"] == meta::text(job, "uid"));
            jobs.iter().filter(is_active).for_each(|job| plan.delete(job));
        }
        _ => {}
    }
    plan.due = Some(due);
}

/// The name of the Job for a time: with the minutes since 1970, so that each time has one Job.
fn name(cron: &Value, due: i64) -> String {
    format!("{}-{}", meta::text(cron, "name"), due / 60)
}

/// The Job for a time.
pub(super) fn job(cron: &Value, due: i64, times: &Times) -> Value {
    let template = &cron["spec"]["jobTemplate"];
    let mut metadata = json!({
        "name": name(cron, due), "namespace": meta::text(cron, "namespace"), "ownerReferences": [fields::reference(cron)],
    });
    for field in ["labels", "annotations"] {
        if let Some(value) = template["metadata"].get(field) {
            metadata[field] = value.clone();
        }
    }
    metadata["annotations"]["batch.kubernetes.io/cronjob-scheduled-timestamp"] = json!(times.show(due));
    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template["spec"]})
}

/// Writes a new Job into the status.
pub(super) fn started(status: &mut Value, job: &Value, due: i64) {
    let [name, namespace, uid, version] =
        ["name", "namespace", "uid", "resourceVersion"].map(|field| meta::text(job, field));
    let reference = json!({
        "kind": "Job", "apiVersion": "batch/v1", "namespace": namespace, "name": name, "uid": uid,
        "resourceVersion": version,
    });
    let mut active = items(status, "/active").to_vec();
    if !active.iter().any(|it| it["uid"] == uid) {
        active.push(reference);
    }
    status["active"] = active.into();
    status["lastScheduleTime"] = json!(time::text(due));
}
