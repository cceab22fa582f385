//! Watches of a manager, and the contents of its caches: while it starts, and when kinds, watches and namespaces come and go.

mod absent;
mod added;
mod chosen;
mod cron_job;
mod dynamic;
mod late;
#[path = "../support/mod.rs"]
mod support;
mod waking;
