//! What operators get wrong, each once: every test fails on a runtime that has the hazard. The names carry the numbers
//! of the list in `docs/contributing/hazards.md`; those of the informer stand in `informer/`.

mod own_writes;
mod panics;
mod process;
mod rejections;
mod runs;
mod script;
mod siblings;
mod signals;
#[path = "../support/mod.rs"]
mod support;
mod wakes;
