//! An operator and an API server in one process, on a clock that tests control, with faults between the two: at each
//! write of the operator, in the states that it gets after a restart, and in the changes that it does not get.
//!
//! The catalogue of faults is that of Sieve (OSDI 2022), the comparison of histories that of Acto (SOSP 2023): see
//! `docs/src/contributing/hazards.md`.

mod line;
mod operator;
mod world;

pub use line::{Fault, Line};
pub use operator::{FooBar, FooBarSpec, FooBarStatus, Process};
pub use world::{World, settle};
