//! The group batch: a file for each kind, and for parts that their specs share.

pub(in crate::kinds) mod cron_job;
mod failure_policy;
pub(in crate::kinds) mod job;
mod job_spec;
mod job_status;
mod success_policy;
