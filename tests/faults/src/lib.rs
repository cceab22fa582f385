//! An operator and an API server in one process, under a clock that tests command, with faults between the two: at each
//! write of the operator's life, in what it is shown after a restart, in what it is not shown.
//!
//! The catalogue of faults is that of Sieve (OSDI 2022), the comparison of histories that of Acto (SOSP 2023): see
//! `docs/src/contributing/hazards.md`.

mod line;
mod operator;
mod world;

pub use line::{Fault, Line};
pub use operator::{FooBar, FooBarSpec, FooBarStatus, Process};
pub use world::{World, settle};
