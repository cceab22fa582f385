//! One command at a time in a project. The lock is the system's, so it ends with the process, however that ends.

use anyhow::{Context, Result};
use std::fs::{File, TryLockError};
use std::path::Path;

/// Held until dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of the project in `dir`; calls `waiting` once if another command has it, and then waits for that.
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
            // Whoever had the lock may have removed the folder again.
            if is_current(&file, dir) {
                return Ok(Self { _file: file });
            }
        }
    }
}

/// On Unix a folder can be locked itself, which leaves nothing behind.
#[cfg(unix)]
fn open(dir: &Path) -> Result<File> {
    File::open(dir).with_context(|| format!("cannot open `{}`", dir.display()))
}

#[cfg(unix)]
fn is_current(file: &File, dir: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(dir)) {
        (Ok(locked), Ok(found)) => (locked.dev(), locked.ino()) == (found.dev(), found.ino()),
        // Let the caller's next step name what is wrong.
        _ => true,
    }
}

/// Elsewhere a file among the temporary ones stands for it.
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
