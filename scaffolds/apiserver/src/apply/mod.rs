//! Server-side apply and the bookkeeping of who owns which field: what structured-merge-diff and the field manager of
//! kube-apiserver 1.36 do, driven by a [`Schema`]. Pure: objects in, objects out.
//!
//! - [`apply`] for `PATCH` with `application/apply-patch+yaml`, on an object or on none.
//! - [`update`] after every other write (create, PUT, JSON, merge and strategic patches, and what the server itself
//!   writes for a client), before the strategy's `prepare_for_…`: it keeps `metadata.managedFields`.
//! - [`keep_times`] last, on what would be stored: undoes moved times when nothing else changed, so that a write that
//!   changes nothing is seen to change nothing.
//!
//! Objects are whole and in the version that the request is in; convert what is stored beforehand.

mod ancient;
mod compare;
mod compile;
mod conflict;
mod element;
mod error;
mod fields;
pub(crate) mod go;
mod last_applied;
mod managed;
mod merge;
mod owned;
mod prune;
mod reconcile;
mod remove;
mod scale;
mod schema;
mod set;
mod settle;
mod typed;
mod updater;
mod validate;
mod value;
mod writer;
mod zero;

pub use self::{
    conflict::Conflict,
    error::Error,
    scale::{Replicas, scale_entries, scaled_entries},
    schema::{Field, ListType, Patch, Schema, Shape},
    settle::keep_times,
    writer::{Writer, apply, manager_of, update},
};
