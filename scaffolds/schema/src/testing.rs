//! Internal items for the tests of this workspace (feature `testing`). They may change with any release.

#[cfg(feature = "cel")]
pub use crate::cel::{Rules, check as check_rules};
pub use crate::normalise::{VERSION_ANNOTATION, crd as normalise};
