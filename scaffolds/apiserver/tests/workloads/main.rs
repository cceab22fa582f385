//! Deployments, ReplicaSets, StatefulSets and Pods on a server whose workloads run: in virtual time.

mod cluster;
#[path = "../common/mod.rs"]
mod common;
mod deployments;
mod pods;
mod replica_sets;
mod stateful_sets;
