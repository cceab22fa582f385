//! The operations that change a project, as a trait, so that tests can simulate a crash or a full disk at each of them.

use super::beneath::Beneath;
use super::record::Records;
use crate::plan::RelPath;
use std::io::{self, Write};

/// Operations that can fail or be interrupted while a project is written.
pub trait Disk {
    /// Creates a new file. With `durable` it returns only once the file would survive a power failure.
    fn create(&self, tree: &Beneath, path: &RelPath, file: &NewFile<'_>) -> io::Result<()>;
    /// Moves a file, and replaces an existing one.
    fn rename(&self, tree: &Beneath, from: &RelPath, to: &RelPath) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, tree: &Beneath, path: &RelPath) -> io::Result<()>;
    /// Creates a folder.
    fn create_dir(&self, tree: &Beneath, path: &RelPath) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_dir(&self, tree: &Beneath, path: &RelPath) -> io::Result<()>;
    /// Records, outside of the project, that a command of this user wrote the journal with this hash.
    fn record(&self, journal: &str) -> io::Result<()>;
    /// Whether there is such a record.
    fn is_recorded(&self, journal: &str) -> bool;
    /// Removes that record.
    fn forget(&self, journal: &str) -> io::Result<()>;
}

/// A file to create.
#[derive(Clone, Copy, Debug)]
pub struct NewFile<'a> {
    /// Its contents.
    pub bytes: &'a [u8],
    /// Whether it is executable.
    pub executable: bool,
    /// The file that it replaces, whose mode and owner it gets.
    pub replaced: Option<&'a RelPath>,
    /// Whether it has to survive a power failure.
    pub durable: bool,
}

/// The file system.
#[derive(Clone, Debug)]
pub struct RealDisk {
    records: Records,
}

impl RealDisk {
    /// A disk with the records of this user.
    pub fn new(records: Records) -> Self {
        Self { records }
    }
}

impl Disk for RealDisk {
    fn create(&self, tree: &Beneath, path: &RelPath, new: &NewFile<'_>) -> io::Result<()> {
        let mut file = match new.replaced {
            Some(replaced) => tree.create_like(path, replaced, new.executable)?,
            None => tree.create(path, new.executable)?,
        };
        file.write_all(new.bytes)?;
        if new.durable {
            file.sync_all()?;
        }
        Ok(())
    }

    fn rename(&self, tree: &Beneath, from: &RelPath, to: &RelPath) -> io::Result<()> {
        tree.rename(from, to)
    }

    fn remove_file(&self, tree: &Beneath, path: &RelPath) -> io::Result<()> {
        tree.remove_file(path)
    }

    fn create_dir(&self, tree: &Beneath, path: &RelPath) -> io::Result<()> {
        tree.create_dir(path)
    }

    fn remove_dir(&self, tree: &Beneath, path: &RelPath) -> io::Result<()> {
        tree.remove_dir(path)
    }

    fn record(&self, journal: &str) -> io::Result<()> {
        self.records.add(journal)
    }

    fn is_recorded(&self, journal: &str) -> bool {
        self.records.has(journal)
    }

    fn forget(&self, journal: &str) -> io::Result<()> {
        self.records.remove(journal)
    }
}
