//! The operator without its program: `main.rs` runs it on a cluster, and `make sim` under simulated faults.

pub mod app;
pub mod controllers;
pub mod dns;
