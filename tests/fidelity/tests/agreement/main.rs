//! The ledger, the recordings and the comparison itself; and webhooks, which probes cannot take away and bring back.

mod comparison;
mod conversions;
mod ledger;
mod other_releases;
mod recordings;
mod webhooks;
