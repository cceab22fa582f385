//! CronJobs.

use kubewright_machinery::cron::parse;
use serde_json::{Value, json};

use crate::{
    kinds::{
        batch::job_spec::{self, warn},
        edit::{Fields, set, set_text, within},
        faults::Faults,
        kind::{BuiltInKind, Change, Warnings},
        labels::print_selector,
        located::Located,
        row::{Row, shown_or},
        workload::{is_another, new_name_warnings, print_containers},
    },
    strategy::{Generation, MetadataPass, Passes, Rules},
};

pub(in crate::kinds) fn kind() -> BuiltInKind {
    BuiltInKind {
        rules: Rules {
            generation: Generation::COUNTED,
            passes: Passes {
                status: MetadataPass::NONE,
                ..Passes::USUAL
            },
            ..Rules::default()
        },
        defaults: &[("batch.v1.CronJob", default)],
        validate,
        validate_update: |new, _, faults| validate(new, faults),
        warnings,
        cells,
        ..BuiltInKind::default()
    }
}

fn default(object: &mut Fields) {
    let Some(spec) = within(object, "spec") else { return };
    set_text(spec, "concurrencyPolicy", "Allow");
    set(spec, "suspend", false);
    set(spec, "successfulJobsHistoryLimit", 3);
    set(spec, "failedJobsHistoryLimit", 1);
}

fn validate(at: &Located<'_>, faults: &mut Faults) {
    let spec = at.get("spec");
    let schedule = spec.get("schedule");
    if schedule.str().is_empty() {
        faults.declared(|faults| faults.required(&schedule, ""));
    } else {
        if let Some(sentence) = malformed(schedule.str()) {
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
    job_spec::validate(&template, faults);
    faults.not_negative(&spec.get("successfulJobsHistoryLimit"));
    faults.not_negative(&spec.get("failedJobsHistoryLimit"));
    let name = at.at("metadata.name");
    if name.str().len() > 52 {
        faults.invalid(&name, "must be no more than 52 characters");
    }
}

/// The error of Go's parser about a schedule. The parser reads a time zone before the schedule.
fn malformed(text: &str) -> Option<String> {
    let Some(rest) = ["TZ=", "CRON_TZ="].iter().find_map(|prefix| text.strip_prefix(prefix)) else {
        return parse(text).err();
    };
    let Some((zone, _)) = rest.split_once(' ') else {
        return Some("invalid schedule format: runtime error: slice bounds out of range [:-1]".to_owned());
    };
    let is_outside = zone.starts_with(['/', '\\']) || zone.split('/').any(|part| part == "..");
    let why = match zone {
        _ if is_outside => "time: invalid location name".to_owned(),
        _ if zone.is_empty() || is_zone(zone) => return parse(text).err(),
        _ => format!("unknown time zone {zone}"),
    };
    Some(format!("provided bad location {zone}: {why}"))
}

/// The names in the time zone database that Go includes.
const ZONES: &str = include_str!("../zones.txt");

fn is_zone(name: &str) -> bool {
    matches!(name, "UTC" | "Local") || ZONES.lines().any(|zone| zone == name)
}

fn time_zone(at: &Located<'_>, faults: &mut Faults) {
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
    if !is_zone(at.str()) {
        faults.invalid(at, &format!("unknown time zone {}", at.str()));
    }
}

fn warnings(Change { new: at, old }: Change<'_, '_>) -> Warnings {
    let mut warnings = new_name_warnings(at, old);
    if is_another(Change { new: at, old }) {
        warn(&at.at("spec.jobTemplate.spec"), &mut warnings);
    }
    if old.is_some() && at.at("spec.schedule").str().contains("TZ") {
        warnings.push(
            "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see \
             https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details"
                .to_owned(),
        );
    }
    warnings
}

fn cells(row: &Row<'_>) -> Vec<Value> {
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
    cells.extend(print_containers(
        &row.get("spec.jobTemplate.spec.template.spec.containers"),
    ));
    cells.push(print_selector(&row.get("spec.jobTemplate.spec.selector")));
    cells
}
