//! The folder of a project, locked.

use super::change::Change;
use super::disk::{Disk, RealDisk};
use super::journal::Writer;
use super::lock::Lock;
use crate::plan::RelPath;
use anyhow::{Context, Result, bail};
use std::io;
use std::path::{Path, PathBuf};

/// A project's folder. Nobody else writes there while this lives.
pub struct Root {
    path: PathBuf,
    disk: Box<dyn Disk>,
    _lock: Option<Lock>,
    /// Folders made for this project, outermost first; removed again if nothing gets written.
    made: Vec<PathBuf>,
    completed: bool,
}

impl Root {
    /// Locks a folder and completes what an interrupted command left there.
    pub fn lock(path: &Path, waiting: impl FnOnce()) -> Result<Self> {
        Self::lock_on(path, Box::new(RealDisk), waiting)
    }

    /// As [`Root::lock`], on a given disk.
    pub fn lock_on(path: &Path, disk: Box<dyn Disk>, waiting: impl FnOnce()) -> Result<Self> {
        if !path.is_dir() {
            bail!("`{}` is not a folder", path.display());
        }
        let lock = Lock::take(path, waiting)?;
        let completed = Writer::new(path, disk.as_ref()).roll_forward()?;
        Ok(Self {
            path: path.to_owned(),
            disk,
            _lock: Some(lock),
            made: Vec::new(),
            completed,
        })
    }

    /// As [`Root::lock`], for a folder that need not exist yet.
    pub fn create(path: &Path, waiting: impl FnOnce()) -> Result<Self> {
        let missing: Vec<_> = path
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
            .map(Path::to_owned)
            .collect();
        std::fs::create_dir_all(path).with_context(|| format!("cannot make the folder `{}`", path.display()))?;
        let mut root = Self::lock(path, waiting)?;
        root.made = missing.into_iter().rev().collect();
        Ok(root)
    }

    /// A folder as a dry run sees it: it may be missing, and it is not locked unless it is there.
    pub fn look(path: &Path, waiting: impl FnOnce()) -> Result<Self> {
        match path.exists() {
            true => Self::lock(path, waiting),
            false => Ok(Self {
                path: path.to_owned(),
                disk: Box::new(RealDisk),
                _lock: None,
                made: Vec::new(),
                completed: false,
            }),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether taking the lock completed an interrupted command.
    pub fn completed_another(&self) -> bool {
        self.completed
    }

    /// The bytes of a file; `None` if there is none.
    pub fn read(&self, path: &RelPath) -> Result<Option<Vec<u8>>> {
        match std::fs::read(path.under(&self.path)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error)
                if [
                    io::ErrorKind::NotFound,
                    io::ErrorKind::NotADirectory,
                    io::ErrorKind::IsADirectory,
                ]
                .contains(&error.kind()) =>
            {
                Ok(None)
            }
            Err(error) => Err(error).with_context(|| format!("cannot read `{path}`")),
        }
    }

    /// Makes all changes, or none.
    pub fn commit(mut self, changes: &[Change]) -> Result<()> {
        Writer::new(&self.path, self.disk.as_ref()).commit(changes)?;
        self.made.clear();
        Ok(())
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        for folder in self.made.iter().rev() {
            // Not empty: someone else has found a use for it.
            if std::fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}
