//! A lock, so that only one command at a time works on a project. The operating system releases it when the process ends.

use anyhow::{Context, Result};
use std::fs::{File, TryLockError};
use std::path::Path;

/// Held until dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Locks the project in `dir`. If another command holds the lock, it calls `waiting` once, then waits.
    pub fn take(dir: &Path, waiting: impl FnOnce()) -> Result<Self> {
        let mut waiting = Some(waiting);
        loop {
            let file = open(dir)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    if let Some(waiting) = waiting.take() {
                        waiting();
                    }
                    file.lock()
                        .with_context(|| format!("cannot lock `{}`", dir.display()))?;
                }
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("cannot lock `{}`", dir.display()));
                }
            }
            // The other command may have removed the folder.
            if is_current(&file, dir) {
                return Ok(Self { _file: file });
            }
        }
    }
}

/// On Unix the folder itself is locked, so no lock file remains.
#[cfg(unix)]
fn open(dir: &Path) -> Result<File> {
    File::open(dir).with_context(|| format!("cannot open `{}`", dir.display()))
}

#[cfg(unix)]
fn is_current(file: &File, dir: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(dir)) {
        (Ok(locked), Ok(found)) => (locked.dev(), locked.ino()) == (found.dev(), found.ino()),
        // The caller's next step reports the error.
        _ => true,
    }
}

/// On other systems a temporary file is locked instead.
#[cfg(not(unix))]
fn open(dir: &Path) -> Result<File> {
    let fail = || format!("cannot lock `{}`", dir.display());
    let dir = dir.canonicalize().with_context(fail)?;
    let name = format!(
        "kubewright-{}.lock",
        crate::render::header::sha256(&dir.to_string_lossy())
    );
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(std::env::temp_dir().join(name))
        .with_context(fail)
}

#[cfg(not(unix))]
fn is_current(_file: &File, _dir: &Path) -> bool {
    true
}
