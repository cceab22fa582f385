//! Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, CronJobs, Services, Pods and claims on a server whose workloads
//! run: in virtual time.

mod autoscalers;
mod budgets;
mod cluster;
#[path = "../common/mod.rs"]
mod common;
mod cost;
mod cron_jobs;
mod daemon_sets;
mod deployments;
mod jobs;
mod nodes;
mod pods;
mod replica_sets;
mod services;
mod stateful_sets;
mod storage;
