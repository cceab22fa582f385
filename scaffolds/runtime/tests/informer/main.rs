//! The informer against the in-process API server, over a connection with faults: see `server/`. Tests whose names have
//! a number are of the list in `docs/contributing/hazards.md`: each fails on an informer with that hazard.

#[path = "../support/cases.rs"]
mod cases;
mod keeping;
mod model;
mod notifying;
mod predicates;
mod relisting;
mod requests;
mod server;
mod watching;
mod writes;
