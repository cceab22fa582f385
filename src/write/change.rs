//! What a transaction does to one file.

use crate::plan::RelPath;
use crate::render::File;

/// One file before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which file.
    pub path: RelPath,
    /// What stands there; `None` if nothing does.
    pub before: Option<Vec<u8>>,
    /// What should; `None` if nothing.
    pub after: Option<File>,
}
