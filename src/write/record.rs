//! Records of the journals that commands of this user wrote: an empty file for each, named by the hash of the journal,
//! in a private folder outside of the project. A journal without a record is from the checkout or from another user,
//! and is never replayed.

use std::env;
use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The folders for records, the preferred one first.
#[derive(Clone, Debug)]
pub struct Records {
    folders: Vec<PathBuf>,
}

impl Records {
    /// For the project at `project`: `kubewright` in `XDG_STATE_HOME`, `~/.local/state` (on Windows `LOCALAPPDATA`) or
    /// `XDG_RUNTIME_DIR`, and last a folder of this user among the temporary files. A folder inside of the project is
    /// not used, since a checkout could contain it.
    pub fn of(project: &Path) -> Self {
        let variable = |name: &str| env::var_os(name).map(PathBuf::from);
        let below = |folder: Option<PathBuf>, path: &str| folder.map(|folder| folder.join(path));
        let candidates = [
            below(variable("XDG_STATE_HOME"), "kubewright"),
            below(variable("HOME"), ".local/state/kubewright"),
            below(variable("LOCALAPPDATA"), "kubewright"),
            below(variable("XDG_RUNTIME_DIR"), "kubewright"),
            Some(env::temp_dir().join(system::temporary())),
        ];
        let candidates = candidates.into_iter().flatten().filter(|folder| folder.is_absolute());
        Self::in_folders(project, candidates.collect())
    }

    /// Uses the first of these folders that can be written to.
    pub fn in_folders(project: &Path, mut folders: Vec<PathBuf>) -> Self {
        let project = resolved(project);
        folders.retain(|folder| !resolved(folder).starts_with(&project));
        Self { folders }
    }

    /// Adds a record, durably.
    pub fn add(&self, hash: &str) -> io::Result<()> {
        let mut failed = None;
        for folder in &self.folders {
            match add(folder, hash) {
                Ok(()) => return Ok(()),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        Err(failed.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
    }

    /// Whether there is a record in any of the folders, because `HOME` may have changed.
    pub fn has(&self, hash: &str) -> bool {
        let mut folders = self.folders.iter().filter(|folder| system::is_private(folder));
        folders.any(|folder| fs::symlink_metadata(folder.join(hash)).is_ok_and(|found| found.is_file()))
    }

    /// Removes a record, if there is one.
    pub fn remove(&self, hash: &str) -> io::Result<()> {
        for folder in self.folders.iter().filter(|folder| system::is_private(folder)) {
            match fs::remove_file(folder.join(hash)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

fn add(folder: &Path, hash: &str) -> io::Result<()> {
    system::create_private(folder)?;
    if !system::is_private(folder) {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("`{}` is not a folder of this user alone", folder.display()),
        ));
    }
    match OpenOptions::new().write(true).create_new(true).open(folder.join(hash)) {
        Ok(file) => file.sync_all(),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// The path without links, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let known = path
        .ancestors()
        .find_map(|above| Some((above, above.canonicalize().ok()?)));
    match known {
        Some((above, real)) => path.strip_prefix(above).map_or(real.clone(), |rest| real.join(rest)),
        None => path,
    }
}

#[cfg(unix)]
mod system {
    use std::fs::{self, DirBuilder};
    use std::io;
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    use std::path::Path;

    /// The name of this user's folder among the temporary files.
    pub fn temporary() -> String {
        format!("kubewright-{}", rustix::process::geteuid().as_raw())
    }

    pub fn create_private(folder: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)
    }

    /// Whether it is a folder, not a link, that only this user can write to.
    pub fn is_private(folder: &Path) -> bool {
        let own = rustix::process::geteuid().as_raw();
        fs::symlink_metadata(folder)
            .is_ok_and(|found| found.is_dir() && found.uid() == own && found.mode() & 0o022 == 0)
    }
}

#[cfg(not(unix))]
mod system {
    use std::io;
    use std::path::Path;

    pub fn temporary() -> String {
        "kubewright-records".to_owned()
    }

    pub fn create_private(folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)
    }

    /// Folders of a user's profile are private.
    pub fn is_private(folder: &Path) -> bool {
        folder.is_dir()
    }
}
