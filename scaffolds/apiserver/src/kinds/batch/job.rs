//! Jobs.

use kubewright_machinery::time::{self, human_duration};
use serde_json::{Value, json};

use crate::{
    kinds::{
        batch::{
            job_spec::{self, warn},
            job_status,
        },
        edit::{Fields, section, set, set_text, within},
        faults::Faults,
        internal::in_go_or_null,
        kind::{BuiltInKind, Change, Selectable, Warnings},
        labels::{is_sound, selector, selects, shown},
        located::Located,
        row::Row,
        semantic,
        workload::{is_another, matches, new_name_warnings, with_containers},
    },
    strategy::{Deletion, MetadataPass, Rules},
};

const ORPHANS: &str = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to \
    remove them or set propagationPolicy=Orphan to suppress this warning";

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            counts_generation: true,
            metadata_passes: MetadataPass::VALIDATE_THEN_UPDATE,
            deletion: Deletion {
                orphans_dependents: true,
                warning: Some(ORPHANS),
                ..Deletion::default()
            },
            ..Rules::default()
        },
        defaults: &[
            ("batch.v1.Job", default),
            ("batch.v1.PodFailurePolicyOnPodConditionsPattern", |pattern| {
                set_text(pattern, "status", "True");
            }),
        ],
        prepare_create,
        validate,
        validate_update,
        validate_status: job_status::validate,
        warnings,
        selectable: const { &[Selectable::new("status.successful", "/status/succeeded").or("0")] },
        cells,
        ..BuiltInKind::default()
    }
}

fn default(object: &mut Fields) {
    let labels = object
        .get("spec")
        .and_then(|spec| spec.pointer("/template/metadata/labels"))
        .cloned();
    if let (Some(labels), Some(metadata)) = (labels, within(object, "metadata"))
        && metadata
            .get("labels")
            .and_then(Value::as_object)
            .is_none_or(|labels| labels.is_empty())
    {
        metadata.insert("labels".to_owned(), labels);
    }
    let Some(spec) = within(object, "spec") else { return };
    if spec.get("parallelism").is_none() {
        set(spec, "completions", 1);
    }
    set(spec, "parallelism", 1);
    let limit = if spec.contains_key("backoffLimitPerIndex") {
        i32::MAX
    } else {
        6
    };
    set(spec, "backoffLimit", limit);
    set(spec, "completionMode", "NonIndexed");
    set(spec, "suspend", false);
    let replacement = if spec.contains_key("podFailurePolicy") {
        "Failed"
    } else {
        "TerminatingOrFailed"
    };
    set(spec, "podReplacementPolicy", replacement);
    set(spec, "manualSelector", false);
}

/// Sets the labels of a Job's Pods and the selector for them.
fn prepare_create(object: &mut Value) {
    let at = Located::root(object);
    if at.at("spec.manualSelector").is_true() {
        return;
    }
    let (uid, name) = (
        at.at("metadata.uid").value.clone(),
        at.at("metadata.name").value.clone(),
    );
    // A Job without labels gets those of its template, including the ones that are added here.
    let found = at.at("metadata.labels");
    let shared = !found.is_set() || found.value == at.at("spec.template.metadata.labels").value;
    let metadata = object.pointer_mut("/spec/template/metadata");
    let Some(labels) = metadata.and_then(|metadata| section(metadata, "labels")) else {
        return;
    };
    for (key, value) in [
        ("controller-uid", &uid),
        ("job-name", &name),
        ("batch.kubernetes.io/controller-uid", &uid),
        ("batch.kubernetes.io/job-name", &name),
    ] {
        labels.entry(key).or_insert_with(|| value.clone());
    }
    let labels = labels.clone();
    if let (true, Some(metadata)) = (shared, section(object, "metadata")) {
        metadata.insert("labels".to_owned(), Value::Object(labels));
    }
    let selector = section(object, "spec").map(|spec| spec.entry("selector").or_insert_with(|| json!({})));
    if let Some(labels) = selector.and_then(|selector| section(selector, "matchLabels"))
        && !labels.contains_key("batch.kubernetes.io/controller-uid")
    {
        labels.insert("batch.kubernetes.io/controller-uid".to_owned(), uid);
    }
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    generated(at, faults);
    selected_job(&spec, faults);
}

/// Validates the spec of a Job, which must have a selector.
fn selected_job(spec: &Located<'_>, faults: &mut Faults) {
    job_spec::validate(spec, faults);
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

/// Checks the labels that the server generates for a Job's Pods, and their selector.
fn generated(job: &Located<'_>, faults: &mut Faults) {
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
    if !selects(&spec.get("selector"), &Located::root(&labels)) {
        let at = spec.get("selector");
        faults.invalid_as(&at, &shown(&at), "`selector` not auto-generated");
    }
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let (spec, before) = (new.get("spec"), old.get("spec"));
    generated(new, faults);
    // The server checks it twice.
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
    template(&spec, &before, faults);
    for name in ["completionMode", "backoffLimitPerIndex", "managedBy"] {
        faults.immutable(&spec.get(name), &before.get(name));
    }
    let policies = [
        ("podFailurePolicy", "batch.v1.PodFailurePolicy"),
        ("successPolicy", "batch.v1.SuccessPolicy"),
    ];
    for (name, definition) in policies {
        let now = spec.get(name);
        if !now.is_like(&before.get(name)) {
            faults.invalid_as(&now, &in_go_or_null(definition, &now), "field is immutable");
        }
    }
}

/// The template may change only where it determines on which nodes Pods run, and only while the Job is suspended and
/// has not started.
fn template(spec: &Located<'_>, before: &Located<'_>, faults: &mut Faults) {
    let (new, old) = (spec.get("template"), before.get("template"));
    let free = ["nodeSelector", "affinity", "tolerations", "schedulingGates"];
    let is_free = before.get("suspend").is_true();
    let comparable = |template: &Located<'_>| {
        let mut value = template.value.clone();
        if let (true, Some(fields)) = (is_free, value.get_mut("spec").and_then(Value::as_object_mut)) {
            fields.retain(|name, _| !free.contains(&name.as_str()));
        }
        if let (true, Some(fields)) = (is_free, value.get_mut("metadata").and_then(Value::as_object_mut)) {
            fields.retain(|name, _| !matches!(name.as_str(), "labels" | "annotations"));
        }
        value
    };
    if !semantic::equal("core.v1.PodTemplateSpec", &comparable(&new), &comparable(&old)) {
        faults.invalid(&new, "field is immutable");
    }
}

fn warnings(Change { new: at, old }: Change<'_, '_>) -> Warnings {
    let mut warnings = new_name_warnings(at, old);
    if is_another(Change { new: at, old }) {
        warn(&at.get("spec"), &mut warnings);
    }
    warnings
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let succeeded = row.get("status.succeeded").int();
    let (completions, parallelism) = (row.get("spec.completions"), row.get("spec.parallelism").int());
    let completions = match (completions.value.as_i64(), parallelism) {
        (Some(completions), _) => format!("{succeeded}/{completions}"),
        (None, 2..) => format!("{succeeded}/1 of {parallelism}"),
        _ => format!("{succeeded}/1"),
    };
    let time = |path: &str| time::seconds(row.get(path).str());
    let took = time("status.startTime").map(|start| time("status.completionTime").unwrap_or(row.now) - start);
    let took = took.map(human_duration).unwrap_or_default();
    let cells = vec![
        row.name(),
        json!(print_status(row)),
        json!(completions),
        json!(took),
        row.age(),
    ];
    with_containers(cells, row, true)
}

fn print_status(row: &Row<'_>) -> &'static str {
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
