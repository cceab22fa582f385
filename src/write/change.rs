//! What a transaction does to one file.

use crate::plan::RelPath;
use crate::render::File;

/// One file, before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its path.
    pub path: RelPath,
    /// The present contents; `None` if the file does not exist.
    pub before: Option<Vec<u8>>,
    /// The new contents; `None` to delete the file.
    pub after: Option<File>,
}
