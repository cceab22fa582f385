//! The informer against the in-process API server, at the end of a line on which things go wrong: see `server/`. Tests whose
//! names carry a number are of the list in `docs/contributing/hazards.md`: each fails on an informer that has the hazard.

mod asking;
#[path = "../support/cases.rs"]
mod cases;
mod keeping;
mod model;
mod predicates;
mod relisting;
mod server;
mod telling;
mod watching;
mod writes;
