//! The effects of a transaction on a file.

use crate::plan::{FileKind, RelPath};
use crate::render::File;
use std::collections::BTreeMap;

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

/// The effect of a transaction on a vendored crate: numbers of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swap {
    /// Files that are created.
    pub created: usize,
    /// Files that are changed.
    pub updated: usize,
    /// Files that are deleted.
    pub deleted: usize,
    vendored: bool,
}

impl Swap {
    /// `create`, `update` or `delete`, of the crate as a whole.
    pub fn verb(&self) -> &'static str {
        match self {
            Self {
                updated: 0, deleted: 0, ..
            } => "create",
            Self { vendored: false, .. } => "delete",
            _ => "update",
        }
    }
}

/// The vendored crates that a transaction writes or deletes, by name. To delete only the VERSION of a crate with its source in folders is to
/// eject it, which is a change of one file.
pub fn swaps(changes: &[Change]) -> BTreeMap<&str, Swap> {
    let mut found: BTreeMap<&str, Swap> = BTreeMap::new();
    for change in changes {
        let Some(name) = change.crate_name() else { continue };
        let swap = found.entry(name).or_default();
        match (&change.before, &change.after) {
            (None, _) => swap.created += 1,
            (_, Some(_)) => swap.updated += 1,
            (_, None) => swap.deleted += 1,
        }
        swap.vendored |= change
            .after
            .as_ref()
            .is_some_and(|file| file.kind == FileKind::Vendored);
    }
    found.retain(|_, swap| swap.vendored || swap.deleted > 1);
    found
}

impl Change {
    /// The folder of `crates/` that the file is in.
    pub fn crate_name(&self) -> Option<&str> {
        let (name, _) = self.path.as_str().strip_prefix("crates/")?.split_once('/')?;
        Some(name)
    }
}
