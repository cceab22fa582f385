//! Deployments, ReplicaSets, Jobs, CronJobs and Pods on a server whose workloads run: in virtual time.

mod cluster;
#[path = "../common/mod.rs"]
mod common;
mod cron_jobs;
mod deployments;
mod jobs;
mod pods;
mod replica_sets;
