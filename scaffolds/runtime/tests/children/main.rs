//! Children, and other objects that the runtime applies: requests, ownership, pruning, several owners
//! and none.

mod foreign;
mod generated;
mod one_request;
mod ownership;
mod places;
mod ports;
mod prune;
mod shared_objects;
mod stack;
#[path = "../support/mod.rs"]
mod support;
mod unowned;
mod whole_values;
mod writes;
