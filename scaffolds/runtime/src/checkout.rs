//! Whether the operator was built from the project in which it runs.

use kubewright_schema::checkout;

use crate::error::{Error, Result};

/// Checks that these folders, which were compiled into the program, are in the current folder, if that is a project's: two
/// checkouts with one target folder get each other's programs from cargo. A deployed operator does not run in a project.
///
/// # Errors
///
/// [`Error::Setup`], which names the folder and the current one.
pub fn built_from<const N: usize>(folders: [&str; N]) -> Result<()> {
    let mut checked = folders.iter().map(|folder| checkout::check(folder.as_ref()));
    checked.try_for_each(|checked| checked.map_err(Error::Setup))
}
