//! The work of the server and its controllers for a request does not grow with the number of objects. The work is
//! counted, not timed: as the number of visited objects and changes, once with few objects and once with many.

#[path = "../common/mod.rs"]
mod common;
mod crowds;
mod life;
mod policies;
mod step;
