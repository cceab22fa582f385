//! What a request makes the server and its controllers do does not grow with the number of objects. Counted, not timed:
//! objects and changes that were looked at, once among few objects and once among many.

#[path = "../common/mod.rs"]
mod common;
mod crowds;
mod life;
mod step;
