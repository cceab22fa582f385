//! DaemonSets.

use std::num::IntErrorKind;

use serde_json::{Value, json};

use crate::{
    kinds::{
        edit::{Fields, made, section, set, set_text, text, within},
        faults::{Faults, quoted},
        int_or_percent::{amount, at_most_all, share},
        kind::{BuiltInKind, Change, Warnings},
        labels::{is_sound, print_labels, selector, shown},
        located::Located,
        pod::warnings,
        row::Row,
        semantic,
        workload::{self, counts, decrement, is_selective, matches, with_containers},
    },
    strategy::{Generation, Internal, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            generation: Generation::COUNTED,
            internal: Internal {
                field_annotations: &[GENERATION],
                ..Internal::default()
            },
            ..Rules::default()
        },
        unreadable,
        decoded,
        defaults: &[("apps.v1.DaemonSet", default)],
        prepare_create,
        prepare_update,
        prepare_status: |new, old| set_template_generation(new, template_generation(old)),
        validate,
        validate_update,
        validate_status,
        warnings,
        cells,
        ..BuiltInKind::default()
    }
}

fn default(object: &mut Fields) {
    let Some(spec) = within(object, "spec") else { return };
    set(spec, "revisionHistoryLimit", 10);
    let Some(strategy) = made(spec, "updateStrategy") else {
        return;
    };
    set_text(strategy, "type", "RollingUpdate");
    if text(strategy, "type") == "RollingUpdate"
        && let Some(rolling) = made(strategy, "rollingUpdate")
    {
        set(rolling, "maxUnavailable", 1);
        set(rolling, "maxSurge", 0);
    }
}

const GENERATION: &str = "deprecated.daemonset.template.generation";

/// Writes the template's generation, which is stored in an annotation.
fn set_template_generation(object: &mut Value, generation: i64) {
    let annotations =
        section(object, "metadata").map(|metadata| metadata.entry("annotations").or_insert_with(|| json!({})));
    if let Some(annotations) = annotations.and_then(Value::as_object_mut) {
        annotations.insert(GENERATION.to_owned(), json!(generation.to_string()));
    }
}

fn template_generation(object: &Value) -> i64 {
    generation_text(object)
        .and_then(|text| text.parse().ok())
        .unwrap_or_default()
}

/// The text of the annotation with the generation of the template.
fn generation_text(object: &Value) -> Option<&str> {
    object.pointer("/metadata/annotations")?.get(GENERATION)?.as_str()
}

/// The error of an annotation that is not an integer.
fn unreadable(object: &Value) -> Option<String> {
    let text = generation_text(object)?;
    let error = text.parse::<i64>().err()?;
    let why = match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
        _ => "invalid syntax",
    };
    Some(format!("strconv.ParseInt: parsing {}: {why}", quoted(text)))
}

/// Upstream the generation is a field of the decoded object, encoded as an annotation. So the annotation exists from
/// the beginning, and the writer owns it.
fn decoded(object: &mut Value) {
    set_template_generation(object, template_generation(object));
    // Upstream's internal fields have no null.
    let strategy = object
        .pointer_mut("/spec/updateStrategy")
        .filter(|it| it["type"] == "OnDelete");
    if let Some(rolling) = strategy
        .and_then(|it| it.get_mut("rollingUpdate"))
        .and_then(Value::as_object_mut)
    {
        set(rolling, "maxUnavailable", 0);
        set(rolling, "maxSurge", 0);
    }
}

fn prepare_create(object: &mut Value) {
    let generation = template_generation(object).max(1);
    set_template_generation(object, generation);
}

fn prepare_update(new: &mut Value, old: &Value) {
    let template = |object: &Value| object.pointer("/spec/template").cloned().unwrap_or_default();
    let changed = !semantic::equal("core.v1.PodTemplateSpec", &template(new), &template(old));
    set_template_generation(new, template_generation(old).wrapping_add(i64::from(changed)));
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    let at = spec.get("selector");
    selector(&at, faults);
    if is_sound(&at) {
        matches(&spec, faults);
    }
    if at.is_set() && !is_selective(&spec) {
        faults.invalid_as(&at, &shown(&at), "empty selector is invalid for daemonset");
    }
    workload::template(&spec, "DaemonSet", faults);
    faults.not_negative(&spec.get("minReadySeconds"));
    strategy(&spec.get("updateStrategy"), faults);
    faults.not_negative(&spec.get("revisionHistoryLimit"));
}

fn strategy(at: &Located<'_>, faults: &mut Faults) {
    let rolling = at.get("rollingUpdate");
    match at.get("type").str() {
        "OnDelete" => {}
        "RollingUpdate" => {
            let (unavailable, surge) = (rolling.get("maxUnavailable"), rolling.get("maxSurge"));
            amount(&unavailable, faults);
            amount(&surge, faults);
            at_most_all(&unavailable, faults);
            at_most_all(&surge, faults);
            match (share(&unavailable) != 0, share(&surge) != 0) {
                (true, true) => faults.invalid(&surge, "may not be set when maxUnavailable is non-zero"),
                (false, false) => faults.required(&unavailable, "cannot be 0 when maxSurge is 0"),
                _ => {}
            }
        }
        other => {
            let shown = format!(
                r#"{{"Type":{},"RollingUpdate":{}}}"#,
                quoted(other),
                rolling_in_go(&rolling)
            );
            faults.not_supported_as(at, &shown, &["RollingUpdate", "OnDelete"]);
        }
    }
}

/// The limits of a rolling update in Go's syntax: an absent limit is 0.
fn rolling_in_go(at: &Located<'_>) -> String {
    let limit = |name: &str| match at.get(name).value {
        Value::Null => "0".to_owned(),
        value => value.to_string(),
    };
    match at.is_set() {
        true => format!(
            r#"{{"MaxUnavailable":{},"MaxSurge":{}}}"#,
            limit("maxUnavailable"),
            limit("maxSurge")
        ),
        false => "null".to_owned(),
    }
}

fn validate_update(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    faults.immutable(&new.at("spec.selector"), &old.at("spec.selector"));
    validate(new, faults);
}

fn validate_status(new: &Located<'_>, old: &Located<'_>, faults: &mut Faults) {
    let status = new.get("status");
    let names = [
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    ];
    counts(&status, &names, faults);
    decrement(&status, &old.get("status"), faults);
}

fn warnings(Change { new: at, old }: Change<'_, '_>) -> Warnings {
    const GENERATION: &str = "deprecated.daemonset.template.generation";
    let generation = |at: &Located<'_>| at.at("metadata.annotations").get(GENERATION).str().to_owned();
    let mut warnings = Vec::new();
    if old.is_none_or(|old| generation(old) != generation(at)) {
        warnings::template(&at.at("spec.template"), &mut warnings);
    }
    warnings
}

fn cells(row: &Row<'_>) -> Vec<Value> {
    let counts = [
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    ];
    let mut cells = vec![row.name()];
    cells.extend(counts.iter().map(|name| row.int(&format!("status.{name}"))));
    cells.extend([print_labels(&row.get("spec.template.spec.nodeSelector")), row.age()]);
    with_containers(cells, row, true)
}
