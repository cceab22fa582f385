//! For the tests of policies and conversions (feature `testing`, no part of an operator's own build), without a server.

mod round_trip;
mod trial;

pub use self::round_trip::{RoundTrips, round_trips};
pub use self::trial::{Mutated, Trial};
#[doc(hidden)] // For the tests of the crate itself.
pub use crate::conversion::Reviews;
