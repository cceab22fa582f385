//! The ObjectMeta of a resource inside of another: read as Go's decoder reads it, and the rules for it.

mod fields;
mod rules;
mod time;

pub(super) use fields::read;
pub(super) use rules::check;
