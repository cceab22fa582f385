//! The hazards of operators, each with a test that fails on a runtime with the hazard. The names start with the numbers
//! of the list in `docs/contributing/hazards.md`; those of the informer are in `informer/`.

mod claimed;
mod fairness;
mod forgotten;
mod own_writes;
mod panics;
mod process;
mod rejections;
mod reports;
mod runs;
mod script;
mod siblings;
mod signals;
#[path = "../support/mod.rs"]
mod support;
mod wakes;
