//! Deployments, ReplicaSets, StatefulSets, Pods and claims on a server whose workloads run: in virtual time.

mod budgets;
mod cluster;
#[path = "../common/mod.rs"]
mod common;
mod deployments;
mod pods;
mod replica_sets;
mod stateful_sets;
mod storage;
