//! Jobs.

use kubewright_machinery::time::{self, human_duration};
use serde_json::{Value, json};

use crate::{
    kinds::{
        batch::{
            job_spec::{self, warn},
            job_status::{self, has},
        },
        edit::{Fields, each, section, set, set_text, within},
        faults::Faults,
        format::label,
        internal::in_go_or_null,
        kind::{BuiltInKind, Change, Selectable, Warnings},
        labels::{is_sound, selector, selects, shown},
        located::Located,
        row::Row,
        semantic,
        workload::{is_another, matches, new_name_warnings, with_containers},
    },
    strategy::{Deletion, Generation, Rules},
};

const ORPHANS: &str = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to \
    remove them or set propagationPolicy=Orphan to suppress this warning";

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            deletion: Deletion {
                orphans_dependents: true,
                warning: Some(ORPHANS),
                ..Deletion::default()
            },
            generation: Generation::COUNTED,
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
    generated(at, faults);
    selected_job(&at.get("spec"), faults);
    host_names(at, faults);
}

/// Checks the longest name of a host, with which the Pods of an indexed Job run.
fn host_names(job: &Located<'_>, faults: &mut Faults) {
    let completions = job.at("spec.completions").int();
    let name = job.at("metadata.name");
    let longest = format!("{}-{}", name.str(), completions - 1);
    if completions > 0 && job.at("spec.completionMode").str() == "Indexed" && !label(&longest).is_empty() {
        let detail = format!("will not able to create pod with invalid DNS label: {longest}");
        faults.invalid(&name, &detail);
    }
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
        let path = format!("{}.labels[{key}]", metadata.path);
        if !actual.is_set() {
            faults.required(&found.called(&path), &format!("must be '{value}'"));
        } else if actual.str() != value {
            let detail = format!("must be '{value}'");
            faults.invalid(&found.called(&path), &detail);
        }
    }
    let at = spec.get("selector");
    let labels: Value = wanted
        .into_iter()
        .map(|(key, value)| (key.to_owned(), json!(value)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    if is_sound(&at) && !selects(&at, &Located::root(&labels)) {
        faults.invalid_as(&at, &shown(&at), "`selector` not auto-generated");
    }
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let (spec, before) = (new.get("spec"), old.get("spec"));
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
    template(&spec, old, faults);
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
    host_names(new, faults);
}

/// The template may change only while the Job is suspended and has no Pods: where it determines on which nodes Pods run, and with which
/// resources.
fn template(spec: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let (new, before, status) = (spec.get("template"), old.at("spec.template"), old.get("status"));
    let has_stopped = !status.get("startTime").is_set() || has(&status, "Suspended", "True");
    if !(old.at("spec.suspend").is_true() && has_stopped && status.get("active").int() == 0) {
        if !semantic::equal("core.v1.PodTemplateSpec", new.value, before.value) {
            faults.invalid(&new, "field is immutable");
        }
    } else if !semantic::equal("core.v1.PodSpec", &fixed(&new), &fixed(&before)) {
        faults.invalid(&new.get("spec"), "field is immutable");
    }
}

/// The part of a template's spec that does not change even while the Job is suspended.
fn fixed(template: &Located<'_>) -> Value {
    let mut value = template.get("spec").value.clone();
    let Some(spec) = value.as_object_mut() else {
        return value;
    };
    for list in ["containers", "initContainers"] {
        each(spec, list).for_each(|container| _ = container.remove("resources"));
    }
    spec.retain(|name, _| !["nodeSelector", "tolerations", "schedulingGates"].contains(&name.as_str()));
    if let Some(affinity) = within(spec, "affinity") {
        affinity.remove("nodeAffinity");
        if affinity.is_empty() {
            spec.remove("affinity");
        }
    }
    value
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
    let has = |name: &str| has(&row.get("status"), name, "True");
    let ends = ["Complete", "Failed"].into_iter().find(|name| has(name));
    let terminating = || row.is_deleted().then_some("Terminating");
    let others = || {
        ["Suspended", "FailureTarget", "SuccessCriteriaMet"]
            .into_iter()
            .find(|name| has(name))
    };
    ends.or_else(terminating).or_else(others).unwrap_or("Running")
}
