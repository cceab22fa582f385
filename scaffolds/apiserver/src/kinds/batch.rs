//! The rules of `batch/v1`.

use super::{
    check,
    kind::{PLAIN, Rules},
    prepare,
};

pub(super) fn rules(kind: &str) -> Option<Rules> {
    Some(match kind {
        "Job" => Rules {
            counts_generation: true,
            create: prepare::job,
            validate: check::job,
            validate_update: check::job_update,
            warnings: prepare::named_pods,
            fields: &[("status.successful", "/status/succeeded", "0")],
            ..PLAIN
        },
        "CronJob" => Rules {
            counts_generation: true,
            validate: check::cron_job,
            validate_update: |new, _, faults| check::cron_job(new, faults),
            warnings: prepare::named_pods,
            ..PLAIN
        },
        _ => return None,
    })
}
