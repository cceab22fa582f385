//! The operations that change a project, behind a trait so that tests can let the machine die, or the disk fill up, at each of them.

use super::beneath::Beneath;
use super::record::Records;
use crate::plan::RelPath;
use std::io::{self, Write};

/// Whatever can fail or be interrupted while a project is written.
pub trait Disk {
    /// Makes a file that is not there yet. With `durable` it returns only when a power failure would keep it.
    fn create(&self, tree: &Beneath, path: &RelPath, file: &NewFile<'_>) -> io::Result<()>;
    /// Moves a file, in place of what is there.
    fn rename(&self, tree: &Beneath, from: &RelPath, to: &RelPath) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, tree: &Beneath, path: &RelPath) -> io::Result<()>;
    /// Makes a folder.
    fn create_dir(&self, tree: &Beneath, path: &RelPath) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_dir(&self, tree: &Beneath, path: &RelPath) -> io::Result<()>;
    /// Records outside of the project that this user's command wrote the journal of this hash.
    fn record(&self, journal: &str) -> io::Result<()>;
    /// Whether that is recorded.
    fn is_recorded(&self, journal: &str) -> bool;
    /// Removes that record.
    fn forget(&self, journal: &str) -> io::Result<()>;
}

/// A file to be made.
#[derive(Clone, Copy, Debug)]
pub struct NewFile<'a> {
    /// Its contents.
    pub bytes: &'a [u8],
    /// Whether it is a program.
    pub executable: bool,
    /// Whether a power failure must not lose it.
    pub durable: bool,
}

/// The file system.
#[derive(Clone, Debug)]
pub struct RealDisk {
    records: Records,
}

impl RealDisk {
    /// With the records of this user.
    pub fn new(records: Records) -> Self {
        Self { records }
    }
}

impl Disk for RealDisk {
    fn create(&self, tree: &Beneath, path: &RelPath, new: &NewFile<'_>) -> io::Result<()> {
        let mut file = tree.create(path, new.executable)?;
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
