//! Internal items for the tests of this workspace (feature `testing`). They may change with any release.

pub use crate::normalise::{VERSION_ANNOTATION, crd as normalise};
