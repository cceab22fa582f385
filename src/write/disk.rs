//! The file operations that change a project, behind a trait so that tests can let the machine die, or the disk fill up, at each of them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Whatever can fail or be interrupted while a project is written.
pub trait Disk {
    /// Writes a file, in place of what is there. With `durable` it returns only when a power failure would keep it.
    fn write(&self, path: &Path, bytes: &[u8], executable: bool, durable: bool) -> io::Result<()>;
    /// Moves a file, in place of what is there.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Makes a folder.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
}

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn write(&self, path: &Path, bytes: &[u8], executable: bool, durable: bool) -> io::Result<()> {
        let mut file = open(path, executable)?;
        file.write_all(bytes)?;
        if durable {
            file.sync_all()?;
        }
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }
}

#[cfg(unix)]
fn open(path: &Path, executable: bool) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mode = if executable { 0o777 } else { 0o666 };
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(mode)
        .open(path)
}

#[cfg(not(unix))]
fn open(path: &Path, _executable: bool) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).open(path)
}
