//! A manager from its start to its end: controllers, tasks, the lease, restarts, and what is seen of it from outside.

mod authored_tasks;
mod crash;
mod events;
mod fixtures;
mod leader;
mod metrics;
mod migration;
mod replicas;
mod requeue;
mod running;
mod standby;
mod status;
mod stopping;
#[path = "../support/mod.rs"]
mod support;
mod tasks;
