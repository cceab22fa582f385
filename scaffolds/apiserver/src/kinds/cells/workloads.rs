//! The cells of kinds that make Pods or look after them.

use serde_json::{Value, json};

use super::{Row, containers, duration, labels, selector};
use crate::kinds::{at::At, time};

pub(super) fn cells(kind: &str, row: &Row<'_>) -> Option<Vec<Value>> {
    Some(match kind {
        "Deployment" => {
            let ready = json!(replicas(row));
            let mut cells = vec![row.name(), ready, row.int("status.updatedReplicas")];
            cells.extend([row.int("status.availableReplicas"), row.age()]);
            with_template(cells, row, true)
        }
        "ReplicaSet" => replica_set(row),
        "StatefulSet" => with_template(vec![row.name(), json!(replicas(row)), row.age()], row, false),
        "DaemonSet" => daemon_set(row),
        "ControllerRevision" => vec![row.name(), json!(controller(row)), row.int("revision"), row.age()],
        "Job" => job(row),
        "CronJob" => cron_job(row),
        "HorizontalPodAutoscaler" => autoscaler(row),
        "PodDisruptionBudget" => {
            let limit = |path: &str| shown_or(&row.get(path), "N/A");
            let (least, most) = (limit("spec.minAvailable"), limit("spec.maxUnavailable"));
            vec![row.name(), least, most, row.int("status.disruptionsAllowed"), row.age()]
        }
        _ => return None,
    })
}

/// Those of the core group.
pub(super) fn core(kind: &str, row: &Row<'_>) -> Option<Vec<Value>> {
    match kind {
        "ReplicationController" => {
            let mut cells = replica_set(row);
            if let Some(last) = cells.last_mut() {
                *last = labels(&row.get("spec.selector"));
            }
            Some(cells)
        }
        "PodTemplate" => {
            let mut cells = vec![row.name()];
            cells.extend(containers(&row.get("template.spec.containers")));
            cells.push(labels(&row.get("template.metadata.labels")));
            Some(cells)
        }
        _ => None,
    }
}

fn replicas(row: &Row<'_>) -> String {
    format!(
        "{}/{}",
        row.get("status.readyReplicas").int(),
        row.get("spec.replicas").int()
    )
}

fn with_template(mut cells: Vec<Value>, row: &Row<'_>, selects: bool) -> Vec<Value> {
    cells.extend(containers(&row.get("spec.template.spec.containers")));
    if selects {
        cells.push(selector(&row.get("spec.selector")));
    }
    cells
}

fn replica_set(row: &Row<'_>) -> Vec<Value> {
    let (wanted, actual) = (row.int("spec.replicas"), row.int("status.replicas"));
    with_template(
        vec![row.name(), wanted, actual, row.int("status.readyReplicas"), row.age()],
        row,
        true,
    )
}

fn daemon_set(row: &Row<'_>) -> Vec<Value> {
    let counts = [
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    ];
    let mut cells = vec![row.name()];
    cells.extend(counts.iter().map(|name| row.int(&format!("status.{name}"))));
    cells.extend([labels(&row.get("spec.template.spec.nodeSelector")), row.age()]);
    with_template(cells, row, true)
}

fn controller(row: &Row<'_>) -> String {
    let mut owners = row.get("metadata.ownerReferences").items();
    let Some(owner) = owners.find(|owner| owner.get("controller").is_true()) else {
        return "<none>".to_owned();
    };
    let kind = owner.get("kind").str().to_lowercase();
    let group = owner
        .get("apiVersion")
        .str()
        .rsplit_once('/')
        .map_or("", |(group, _)| group);
    let dot = if group.is_empty() { "" } else { "." };
    format!("{kind}{dot}{group}/{}", owner.get("name").str())
}

fn job(row: &Row<'_>) -> Vec<Value> {
    let succeeded = row.get("status.succeeded").int();
    let (completions, parallelism) = (row.get("spec.completions"), row.get("spec.parallelism").int());
    let completions = match (completions.value.as_i64(), parallelism) {
        (Some(completions), _) => format!("{succeeded}/{completions}"),
        (None, 2..) => format!("{succeeded}/1 of {parallelism}"),
        _ => format!("{succeeded}/1"),
    };
    let time = |path: &str| time::epoch(row.get(path).str());
    let took = time("status.startTime").map(|start| time("status.completionTime").unwrap_or(row.now) - start);
    let took = took.map(duration).unwrap_or_default();
    let cells = vec![
        row.name(),
        json!(job_status(row)),
        json!(completions),
        json!(took),
        row.age(),
    ];
    with_template(cells, row, true)
}

fn job_status(row: &Row<'_>) -> &'static str {
    let has = |name: &str| {
        let mut conditions = row.get("status.conditions").items();
        conditions.any(|condition| condition.get("type").str() == name && condition.get("status").str() == "True")
    };
    let ends = ["Complete", "Failed"].into_iter().find(|name| has(name));
    let terminating = || row.is_deleted().then_some("Terminating");
    let others = || {
        ["Suspended", "FailureTarget", "SuccessCriteriaMet"]
            .into_iter()
            .find(|name| has(name))
    };
    ends.or_else(terminating).or_else(others).unwrap_or("Running")
}

fn cron_job(row: &Row<'_>) -> Vec<Value> {
    let last = match row.get("status.lastScheduleTime").is_set() {
        true => row.since("status.lastScheduleTime"),
        false => "<none>".to_owned(),
    };
    let zone = shown_or(&row.get("spec.timeZone"), "<none>");
    let suspend = match row.get("spec.suspend").value.as_bool() {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    };
    let active = json!(row.get("status.active").len());
    let mut cells = vec![
        row.name(),
        row.text("spec.schedule"),
        zone,
        json!(suspend),
        active,
        json!(last),
        row.age(),
    ];
    cells.extend(containers(&row.get("spec.jobTemplate.spec.template.spec.containers")));
    cells.push(selector(&row.get("spec.jobTemplate.spec.selector")));
    cells
}

/// A text or number as text.
fn shown_or(at: &At<'_>, fallback: &str) -> Value {
    match at.value {
        Value::Null => json!(fallback),
        Value::String(text) => json!(text),
        other => json!(other.to_string()),
    }
}

fn autoscaler(row: &Row<'_>) -> Vec<Value> {
    let target = row.get("spec.scaleTargetRef");
    let reference = format!("{}/{}", target.get("kind").str(), target.get("name").str());
    let least = shown_or(&row.get("spec.minReplicas"), "<unset>");
    let most = row.int("spec.maxReplicas");
    vec![
        row.name(),
        json!(reference),
        json!(metrics(row)),
        least,
        most,
        row.int("status.currentReplicas"),
        row.age(),
    ]
}

fn metrics(row: &Row<'_>) -> String {
    let current: Vec<At<'_>> = row.get("status.currentMetrics").items().collect();
    let specs = row.get("spec.metrics");
    let texts: Vec<String> = specs
        .items()
        .enumerate()
        .map(|(index, spec)| metric(&spec, current.get(index)))
        .collect();
    match texts.get(..2) {
        _ if texts.is_empty() => "<none>".to_owned(),
        Some(first) if texts.len() > 2 => format!("{} + {} more...", first.join(", "), texts.len() - 2),
        _ => texts.join(", "),
    }
}

fn metric(spec: &At<'_>, status: Option<&At<'_>>) -> String {
    let (name, takes_average, by_resource) = match spec.get("type").str() {
        "External" => ("external", false, false),
        "Object" => ("object", false, false),
        "Pods" => ("pods", true, false),
        "Resource" => ("resource", true, true),
        "ContainerResource" => ("containerResource", true, true),
        _ => return "<unknown type>".to_owned(),
    };
    let source = spec.get(name);
    let current = |field: &str| status.map(|status| status.get(name).get("current").get(field));
    let known = |field: &str| current(field).filter(At::is_set).map_or("<unknown>", |at| at.str());
    let average = source.at("target.averageValue");
    let text = if average.is_set() {
        let suffix = if takes_average { "" } else { " (avg)" };
        format!("{}/{}{suffix}", known("averageValue"), average.str())
    } else if by_resource {
        let percent = |at: Option<At<'_>>, fallback: &str| {
            at.and_then(|at| at.value.as_i64())
                .map_or(fallback.to_owned(), |number| format!("{number}%"))
        };
        let target = percent(Some(source.at("target.averageUtilization")), "<auto>");
        format!("{}/{target}", percent(current("averageUtilization"), "<unknown>"))
    } else {
        format!("{}/{}", known("value"), source.at("target.value").str())
    };
    if by_resource {
        format!("{}: {text}", source.get("name").str())
    } else {
        text
    }
}
