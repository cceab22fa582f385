//! The arithmetic of ResourceQuotas: how much an object uses, which quotas limit it, and whether it fits. Nothing here reads or
//! writes the store.

mod amounts;
mod check;
mod claims;
mod limits;
mod measure;
mod pending;
mod pods;
mod scopes;

pub use amounts::Amounts;
pub use check::{Charged, QuotaRequest, charge};
pub use limits::Quota;
pub use measure::Measure;
pub use pending::{Pending, Reservation};
pub use pods::{requested, specified};

/// The name of ResourceQuotas in the store.
pub const RESOURCE: &str = "/resourcequotas";
