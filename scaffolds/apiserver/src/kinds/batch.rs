//! The rules of `batch/v1`.

use super::{
    check,
    kind::{PLAIN, Rules},
    prepare, warn,
};

pub(super) fn rules(kind: &str) -> Option<Rules> {
    Some(match kind {
        "Job" => Rules {
            counts_generation: true,
            create: prepare::job,
            validate: check::job,
            validate_update: check::job_update,
            warnings: warn::job,
            fields: &[("status.successful", "/status/succeeded", "0")],
            ..PLAIN
        },
        "CronJob" => Rules {
            counts_generation: true,
            validate: check::cron_job,
            validate_update: |new, _, faults| check::cron_job(new, faults),
            warnings: warn::cron_job,
            ..PLAIN
        },
        _ => return None,
    })
}
