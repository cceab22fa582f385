//! From Rust types to CRDs: what the derives describe becomes a schema that the API server accepts, or a finding with a remedy.

#![allow(missing_docs)]

#[path = "../recorded/control_plane.rs"]
mod control_plane;
mod decode;
mod derive;
mod dropped;
mod embedded;
mod foobar;
mod markers;
mod rows;
mod unions;
mod versions;
