//! What the runtime does with children, and with other objects that it applies: requests, ownership, pruning, several owners
//! and none.

mod foreign;
mod generated;
mod one_request;
mod ownership;
mod places;
mod prune;
mod shared_objects;
mod stack;
#[path = "../support/mod.rs"]
mod support;
mod unowned;
mod writes;
