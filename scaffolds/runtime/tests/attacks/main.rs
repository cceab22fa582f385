//! Attacks on an operator by whoever may create objects in the cluster or reach its Pod, each with what is to come of it.
//! What is promised is in SECURITY.md; each module is one attack.

mod drift;
mod idle_connections;
mod log_injection;
mod memory;
mod names;
mod neighbours;
mod strangers;
#[path = "../support/mod.rs"]
mod support;
mod token_guessing;
