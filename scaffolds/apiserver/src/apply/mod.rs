//! Server-side apply and field management, as structured-merge-diff and the field manager of kube-apiserver 1.37 do
//! them, driven by a [`Schema`](kubewright_schema::typed::Schema). Pure functions from objects to objects.
//!
//! - [`apply`] for `PATCH` with `application/apply-patch+yaml`, whether the object exists or not.
//! - [`update`] after every other write (create, PUT, JSON, merge and strategic patches, and what the server itself
//!   writes for a client), before the strategy's `prepare_for_…`: it keeps `metadata.managedFields`.
//! - [`keep_times`] last, on the object to be stored: restores the times of managedFields if nothing else has changed,
//!   so that a write without changes is recognised as one.
//!
//! Objects are complete and in the version of the request; the caller converts stored objects before, and supplies
//! [`Writer::convert`] where versions differ by more than their schemas.

mod ancient;
mod compare;
mod conflict;
mod error;
mod fields;
mod last_applied;
mod managed;
mod owned;
mod prune;
mod reconcile;
mod remove;
mod scale;
mod set;
mod settle;
mod updater;
mod writer;
mod zero;

#[cfg(feature = "testing")]
pub use self::error::Error;
pub use self::{
    managed::invalid as invalid_managers,
    scale::{scale_entries, scaled_entries},
    settle::{have_equal_fields, keep_times},
    writer::{Convert, Writer, apply, check_type, manager_of, update},
};
