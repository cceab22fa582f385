//! Attacks on an operator by clients that can create objects in the cluster or reach its Pod, each with the expected
//! outcome. SECURITY.md has the guarantees; each module is one attack.

mod drift;
mod idle_connections;
mod labels;
mod log_injection;
mod memory;
mod names;
mod neighbours;
mod nesting;
mod strangers;
#[path = "../support/mod.rs"]
mod support;
mod token_guessing;
